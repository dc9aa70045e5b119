// The order of a sequence's groups: which group must be done before which, and errors in the
// request. Depends on the spec only. Pure.
import {
  maxSequenceName,
  type NodeGroupUpdateSequence,
  type SequenceGroup,
} from '../../../api/update-sequence.ts';

/** Without `after`, a group follows the previous one in the list. */
export const beforeOf = (
  groups: readonly SequenceGroup[],
): ReadonlyMap<string, readonly string[]> =>
  new Map(
    groups.map(({ name, after }, i) => {
      const previous = groups[i - 1]?.name;
      return [name, after ?? (previous === undefined ? [] : [previous])] as const;
    }),
  );

/** Groups whose `after` form a cycle; empty if there is none. */
const circleOf = (before: ReadonlyMap<string, readonly string[]>): readonly string[] => {
  const left = new Map(before);
  for (let found = true; found; ) {
    const free = [...left].filter(([, after]) => !after.some((name) => left.has(name)));
    found = free.length > 0;
    for (const [name] of free) left.delete(name);
  }
  return [...left.keys()];
};

/** Why the sequence cannot begin as requested, with the remedy; undefined: it can. */
export const sequenceComplaint = (
  { metadata, spec }: Pick<NodeGroupUpdateSequence, 'metadata' | 'spec'>,
  known: ReadonlySet<string>,
): string | undefined => {
  const { groups } = spec;
  if (metadata.name.length > maxSequenceName) {
    return (
      `the name of a sequence has at most ${maxSequenceName} characters, since it marks ` +
      'nodes: make one of a shorter name'
    );
  }
  const members = new Set(groups.map(({ name }) => name));
  for (const { name, after = [] } of groups) {
    const stranger = after.find((one) => !members.has(one));
    if (stranger !== undefined) {
      return (
        `groups[${name}].after names ${stranger}, which is no group of this sequence: make ` +
        'one that has it, or leave it out'
      );
    }
  }
  const circle = circleOf(beforeOf(groups));
  if (circle.length > 0) {
    return (
      `${circle.join(', ')} cannot begin, since each waits for another of them ` +
      '(groups[].after): make a sequence without that circle'
    );
  }
  const unknown = groups.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (unknown.length === 0) return undefined;
  return (
    `there is no node group ${unknown.join(', ')} (kubectl get ng): create it and resume, or ` +
    'make a sequence without it'
  );
};
