// Scenarios of rolling updates that other projects test, and which of them Drover tests too, as a
// list for docs/conformance.md. A scenario counts as tested only if tests have its id; otherwise it
// states why it does not apply.

interface Scenario {
  readonly id: string;
  /** The project whose test it is. */
  readonly of: string;
  readonly what: string;
  /** The part that does not apply to Drover, or why nothing of it does. */
  readonly not?: string;
}

const scenarios: readonly Scenario[] = [
  {
    id: 'H1',
    of: 'kOps',
    what: 'seven old nodes, two at a time: the first alone until a new one stands; none is left',
  },
  { id: 'H3', of: 'kOps', what: 'the surge is never more than what is old' },
  { id: 'H5', of: 'kOps', what: 'begun again with surge nodes made: they count' },
  {
    id: 'H7',
    of: 'kOps',
    what: 'a validation that flaps: no second node goes meanwhile',
    not: 'a number of successes in a row: probes have thresholds of their own',
  },
  {
    id: 'H9',
    of: 'kOps',
    what: 'warm instances of the old revision go first and are never drained',
    not: 'warm pools: Drover does not support them',
  },
  {
    id: 'H11',
    of: 'Cluster API',
    what: 'a node that still leaves uses up what may be unavailable',
  },
  {
    id: 'H13',
    of: 'Cluster API',
    what: 'old nodes that serve nobody go first; none that serves while new ones are missing',
  },
  { id: 'H15', of: 'Karpenter', what: '30 % of ten are three at once; those under way count' },
  { id: 'H17', of: 'Karpenter', what: 'a node whose pods cannot go does not hold up the others' },
  {
    id: 'H19',
    of: 'Karpenter',
    what: 'several budgets, and one that never allows, are told; pods that are no matter are not',
  },
  {
    id: 'H21',
    of: 'Karpenter',
    what: 'budgets by schedule: time zones, the least of those that are active',
    not: 'schedules of maxUnavailable: windows and freezes say when nodes are replaced',
  },
  {
    id: 'H23',
    of: 'machine-controller-manager',
    what: 'a budget that is misconfigured, and one that is only used up',
    not: 'deletion where evictions are unsupported: every supported API server has evictions',
  },
  {
    id: 'H25',
    of: 'upgrade-manager',
    what: 'a cap on the nodes of the whole cluster',
    not: 'a cap on the nodes of a cluster: the account’s quota is the bound',
  },
  { id: 'H27', of: 'upgrade-manager', what: 'only what the update itself cordoned is given back' },
  {
    id: 'H29',
    of: 'eksctl',
    what: 'refused evictions are tried again; what never may ends in time; no second update meanwhile',
  },
  {
    id: 'H31',
    of: 'ours',
    what: 'killed after any write, and in the minute between empty and terminate: the same end',
  },
  {
    id: 'H33',
    of: 'GKE',
    what: 'blue/green: all new nodes first, old ones emptied in batches and kept; back to them in each phase',
    not: 'the soak cut short by a command: a shorter `soakSeconds` of the group does it',
  },
];

const idOf = (name: string): string | undefined => /^(H\d+)\b/.exec(name)?.[1];

/** Throws where a test has the id of no row, or a row has neither test nor reason. */
export const updatesList = (names: readonly string[]): string => {
  for (const { id, not } of scenarios) {
    if (not === undefined && !names.some((name) => idOf(name) === id)) {
      throw new Error(`no test has the id ${id}`);
    }
  }
  const counted = [...Map.groupBy(scenarios, (one) => one.of)].map(([of, own]) => {
    const tests = names.filter((name) => own.some(({ id }) => id === idOf(name))).length;
    return `${of} ${own.length} (${tests})`;
  });
  const not = scenarios.filter((one) => one.not !== undefined).length;
  const known = new Set(scenarios.map(({ id }) => id));
  const stray = names.find((name) => !known.has(idOf(name) ?? ''));
  if (stray !== undefined) throw new Error(`no scenario belongs to the test "${stray}"`);
  return (
    `Scenarios (tests) by project: ${counted.join(', ')}. ${not} do not apply, in whole or in part; ` +
    'the reasons are in `scripts/conformance-updates.ts`.'
  );
};
