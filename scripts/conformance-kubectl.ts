// What kubectl sends, command by command, and how far the embedded world answers it. A row that
// works must name steps of end-to-end tests that run the real kubectl; a name without a step is an
// error.
interface KubectlRow {
  readonly command: string;
  readonly state: 'works' | 'typed error' | 'part';
  /** Names of steps, or their beginnings. */
  readonly shownBy: readonly string[];
}

const reading = {
  columns: 'get shows the columns of each kind',
  select: 'get selects by label, by field and by name',
  print: 'get prints yaml, json, jsonpath',
  sort: 'get sorts, pages and gathers kinds',
  watch: 'get -w prints each change',
  node: 'describe node shows labels',
  pod: 'describe pod tells its events',
  others: 'describe shows deployments',
  events: 'events are listed, filtered and sorted',
  explain: 'explain, api-resources, version, cluster-info and readyz answer',
  auth: 'auth tells who one is and what one may do',
  logs: 'logs tell that there is none',
  refused: 'what a simulated container cannot do is refused in words',
} as const;

const kubectlRows: readonly KubectlRow[] = [
  {
    command: 'version, cluster-info, get --raw /readyz',
    state: 'works',
    shownBy: [reading.explain],
  },
  {
    command: 'get, get -o wide, get all',
    state: 'works',
    shownBy: [reading.columns, reading.sort],
  },
  { command: 'get -o yaml, json, jsonpath', state: 'works', shownBy: [reading.print] },
  { command: 'get --field-selector, -l', state: 'works', shownBy: [reading.select] },
  { command: 'get -w', state: 'works', shownBy: [reading.watch] },
  { command: 'describe node', state: 'works', shownBy: [reading.node] },
  { command: 'describe pod, deployment', state: 'works', shownBy: [reading.pod, reading.others] },
  { command: 'get events, events', state: 'works', shownBy: [reading.events] },
  { command: 'explain, api-resources', state: 'works', shownBy: [reading.explain] },
  {
    command: 'apply, diff (client side)',
    state: 'works',
    shownBy: ['apply says created, unchanged, configured', 'apply refuses unknown fields'],
  },
  {
    command: 'apply --server-side, diff --server-side',
    state: 'works',
    shownBy: [
      'creates, says who manages what',
      'shows in a diff what an apply would do',
      'refuses to change what another manager applied',
      'takes over what client-side apply made',
    ],
  },
  {
    command: 'create, replace, delete',
    state: 'works',
    shownBy: ['create, replace and their conflicts', 'delete waits, hurries, forces'],
  },
  { command: 'label, annotate', state: 'works', shownBy: ['label and annotate change'] },
  { command: 'patch (strategic, merge, json)', state: 'works', shownBy: ['patch takes its three'] },
  {
    command: 'taint, cordon, uncordon',
    state: 'works',
    shownBy: ['nodes are labelled, annotated and tainted', 'cordon and uncordon show'],
  },
  { command: 'set image, rollout', state: 'works', shownBy: ['rollouts are watched, listed'] },
  {
    command: 'drain',
    state: 'works',
    shownBy: ['a drain stops at pods of DaemonSets', 'a drain that a budget blocks retries'],
  },
  {
    command: 'drain --disable-eviction',
    state: 'works',
    shownBy: ['a drain that a budget blocks retries until its timeout, or goes around'],
  },
  {
    command: 'scale, wait',
    state: 'works',
    shownBy: ['scale checks the size', 'leaves replicas to'],
  },
  {
    command: 'logs',
    state: 'part',
    shownBy: [reading.logs],
  },
  { command: 'auth can-i, whoami', state: 'works', shownBy: [reading.auth] },
  {
    command: 'certificate approve, deny; get csr',
    state: 'works',
    shownBy: [
      'a certificate is asked for, approved, signed',
      'a request is denied, or failed by the rules',
      'a kubelet gets its serving certificate by itself',
    ],
  },
  {
    command: 'exec, attach, port-forward, cp',
    state: 'typed error',
    shownBy: [reading.refused],
  },
  {
    command: 'top',
    state: 'typed error',
    shownBy: [reading.refused],
  },
  {
    command: 'debug',
    state: 'part',
    shownBy: ['debug adds a container to a pod'],
  },
  {
    command: 'create token',
    state: 'works',
    shownBy: ['a token lets its account in', 'a token ends with its time'],
  },
];

const checkSteps = ({ command, shownBy }: KubectlRow, steps: readonly string[]): void => {
  const missing = shownBy.find((start) => !steps.some((step) => step.startsWith(start)));
  if (missing !== undefined) throw new Error(`${command}: no test has a step "${missing}"`);
  if (shownBy.length === 0) throw new Error(`${command}: shown by nothing`);
};

/** One sentence per state. `steps`: all steps of end-to-end tests. */
export const kubectlTable = (steps: readonly string[]): string => {
  for (const row of kubectlRows) checkSteps(row, steps);
  const namesOf = (state: KubectlRow['state']): string =>
    kubectlRows
      .filter((row) => row.state === state)
      .map(({ command }) => `\`${command}\``)
      .join('; ');
  return [
    `Steps with the real kubectl show that these work as on a cluster: ${namesOf('works')}.`,
    '',
    `Work in part: ${namesOf('part')}. Refused: ${namesOf('typed error')}.`,
  ].join('\n');
};
