// The targets that a command's words name, as in kubectl: `NAME`, `node NAME`, `node/NAME`,
// `nodegroup NAME`, `update/NAME`. Looks nothing up.

export type TargetKind = 'node' | 'nodegroup' | 'update' | 'disruption';

export interface Target {
  /** Undefined where the words name no kind: a name alone may be a node or an instance. */
  readonly kind: TargetKind | undefined;
  readonly name: string;
}

const kinds: Readonly<Record<string, TargetKind>> = {
  node: 'node',
  nodes: 'node',
  no: 'node',
  nodegroup: 'nodegroup',
  nodegroups: 'nodegroup',
  ng: 'nodegroup',
  update: 'update',
  updates: 'update',
  nodegroupupdate: 'update',
  nodegroupupdates: 'update',
  ngu: 'update',
  disruption: 'disruption',
  disruptions: 'disruption',
  nodedisruption: 'disruption',
  nodedisruptions: 'disruption',
  nd: 'disruption',
};

const kindOf = (word: string): TargetKind | undefined =>
  Object.hasOwn(kinds, word) ? kinds[word] : undefined;

/** `node/NAME` or `NAME`. A name with a slash but an unknown kind stays unchanged. */
export const targetOf = (word: string): Target => {
  const slash = word.indexOf('/');
  const kind = slash < 0 ? undefined : kindOf(word.slice(0, slash));
  return kind === undefined ? { kind, name: word } : { kind, name: word.slice(slash + 1) };
};

/** Every target; a kind as the first word applies to all names after it. */
export const targetsOf = (words: readonly string[]): readonly Target[] => {
  const [first = '', ...names] = words;
  const kind = names.length === 0 ? undefined : kindOf(first);
  return kind === undefined ? words.map(targetOf) : names.map((name) => ({ kind, name }));
};
