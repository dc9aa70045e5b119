// The history of one node from its steps: the time between them, and steps that are missing or out
// of order. The reference is EKS' own drain: excluded from load balancers, cordoned, pods evicted,
// deleted.
import type { NodeRecord, Step, StepKind } from './read.ts';

/** The time between two steps. */
export interface Passage {
  readonly name: string;
  readonly seconds: number;
}

export interface Finding {
  readonly kind: 'order' | 'gap';
  readonly rule:
    | 'evicted-before-cordon'
    | 'evicted-before-exclusion'
    | 'never-cordoned'
    | 'never-excluded'
    | 'placed-while-cordoned'
    | 'deleted-before-pods'
    | 'pods-not-seen-gone'
    | 'not-seen-deleted'
    | 'log-begins-later'
    | 'silence';
  readonly message: string;
}

export interface NodeStory {
  readonly node: string;
  readonly group: string | undefined;
  readonly steps: readonly Step[];
  readonly passages: readonly Passage[];
  readonly findings: readonly Finding[];
}

/** A gap of this length while a node is being drained is reported. */
const silenceMs = 5 * 60_000;
const namedPods = 3;

export const tellStory = ({ name, group, steps }: NodeRecord): NodeStory => ({
  node: name,
  group,
  steps,
  passages: passagesOf(steps),
  findings: findingsOf(steps),
});

const first = (steps: readonly Step[], ...kinds: readonly StepKind[]): Step | undefined =>
  steps.find(({ kind }) => kinds.includes(kind));
const last = (steps: readonly Step[], ...kinds: readonly StepKind[]): Step | undefined =>
  steps.findLast(({ kind }) => kinds.includes(kind));

const passagesOf = (steps: readonly Step[]): readonly Passage[] => {
  const removals = removalsOf(steps);
  const pairs: readonly (readonly [string, Step | undefined, Step | undefined])[] = [
    ['joined to Ready', first(steps, 'joined'), first(steps, 'ready')],
    ['excluded to cordoned', first(steps, 'excluded'), first(steps, 'cordoned')],
    ['cordoned to first eviction', first(steps, 'cordoned'), first(steps, 'evicted', 'refused')],
    ['first to last eviction', first(steps, 'evicted', 'refused'), last(steps, 'evicted')],
    ['held by budgets', first(steps, 'refused'), after(steps, last(steps, 'refused'), 'evicted')],
    ['last eviction to last pod gone', last(steps, 'evicted'), removals.at(-1)],
    ['last pod gone to deleted', removals.at(-1), last(steps, 'deleted')],
    ['first mark to deleted', first(steps, 'excluded', 'cordoned'), last(steps, 'deleted')],
  ];
  return pairs.flatMap(([name, from, to]) =>
    from === undefined || to === undefined || to.at < from.at
      ? []
      : [{ name, seconds: (to.at - from.at) / 1000 }],
  );
};

const after = (steps: readonly Step[], step: Step | undefined, kind: StepKind): Step | undefined =>
  step === undefined ? undefined : steps.find((one) => one.kind === kind && one.at >= step.at);

/** Deletions of pods that were evicted first. */
const removalsOf = (steps: readonly Step[]): readonly Step[] => {
  const evicted = new Set<string | undefined>();
  return steps.filter(({ kind, pod }) => {
    if (kind === 'evicted') evicted.add(pod);
    return kind === 'podDeleted' && evicted.has(pod);
  });
};

const listed = (pods: readonly string[]): string => {
  const shown = pods.slice(0, namedPods).join(', ');
  return pods.length > namedPods ? `${shown} and ${pods.length - namedPods} more` : shown;
};

const findingsOf = (steps: readonly Step[]): readonly Finding[] => {
  const found: Finding[] = [];
  const say = (kind: Finding['kind'], rule: Finding['rule'], message: string): void => {
    found.push({ kind, rule, message });
  };
  if (first(steps, 'joined') === undefined) {
    say('gap', 'log-begins-later', 'the log does not tell how the node joined: it begins later');
  }
  const eviction = first(steps, 'evicted');
  const cordon = first(steps, 'cordoned');
  const exclusion = first(steps, 'excluded');
  if (eviction !== undefined) tellMarks({ eviction, cordon, exclusion }, say);
  tellPlaced(steps, say);
  if (cordon !== undefined || eviction !== undefined) tellEnd(steps, say);
  return found;
};

type Tell = (kind: Finding['kind'], rule: Finding['rule'], message: string) => void;

const tellMarks = (
  {
    eviction,
    cordon,
    exclusion,
  }: Readonly<Record<'cordon' | 'exclusion', Step | undefined>> & {
    readonly eviction: Step;
  },
  say: Tell,
): void => {
  const by = `(${eviction.user}, ${eviction.agent})`;
  if (cordon === undefined) {
    say('gap', 'never-cordoned', `${eviction.pod} was evicted ${by}, and the node never cordoned`);
  } else if (eviction.at < cordon.at) {
    const early = ((cordon.at - eviction.at) / 1000).toFixed(1);
    say(
      'order',
      'evicted-before-cordon',
      `${eviction.pod} was evicted ${early} s before the node was cordoned ${by}`,
    );
  }
  if (exclusion === undefined) {
    say(
      'gap',
      'never-excluded',
      'pods were evicted, and the node was never taken out of load balancers by its label',
    );
  } else if (eviction.at < exclusion.at) {
    say(
      'order',
      'evicted-before-exclusion',
      `${eviction.pod} was evicted before the node left the load balancers ${by}`,
    );
  }
};

const tellPlaced = (steps: readonly Step[], say: Tell): void => {
  let cordoned = false;
  const placed: string[] = [];
  for (const { kind, pod } of steps) {
    if (kind === 'cordoned' || kind === 'uncordoned') cordoned = kind === 'cordoned';
    else if (kind === 'placed' && cordoned && pod !== undefined) placed.push(pod);
  }
  if (placed.length === 0) return;
  say(
    'order',
    'placed-while-cordoned',
    `${listed(placed)} came to the node while it was cordoned (DaemonSets may)`,
  );
};

const tellEnd = (steps: readonly Step[], say: Tell): void => {
  const gone = new Set(removalsOf(steps).map(({ pod }) => pod));
  const evicted = [
    ...new Set(steps.filter(({ kind }) => kind === 'evicted').map(({ pod }) => pod ?? '')),
  ];
  const left = evicted.filter((pod) => !gone.has(pod));
  const deletion = last(steps, 'deleted');
  if (left.length > 0) {
    say(
      'gap',
      'pods-not-seen-gone',
      `${listed(left)}: evicted, and the log does not tell that they went`,
    );
  }
  const late = removalsOf(steps).filter(({ at }) => deletion !== undefined && at > deletion.at);
  if (late.length > 0) {
    say(
      'order',
      'deleted-before-pods',
      `the node was deleted before ${listed(late.map(({ pod }) => pod ?? ''))} had gone`,
    );
  }
  const isBack = (last(steps, 'uncordoned')?.at ?? 0) > (last(steps, 'cordoned')?.at ?? 0);
  if (deletion === undefined && !isBack) {
    say('gap', 'not-seen-deleted', 'the log does not tell that the node was deleted');
  }
  const begin = first(steps, 'excluded', 'cordoned', 'evicted')?.at ?? 0;
  const during = steps.filter(({ at }) => at >= begin);
  for (const [index, step] of during.entries()) {
    const next = during[index + 1];
    if (next === undefined || next.at - step.at < silenceMs) continue;
    const minutes = ((next.at - step.at) / 60_000).toFixed(1);
    say(
      'gap',
      'silence',
      `nothing for ${minutes} minutes after ${step.kind} at ${new Date(step.at).toISOString()}`,
    );
  }
};
