// Mutants about pods: evictions against budgets, force before its time, pods that must stay.
import type { Mutant } from '../mutant.ts';

const force = 'src/core/drain/force.ts';
const classify = 'src/core/drain/classify.ts';
const account = 'src/core/drain/account.ts';
const allocate = 'src/core/drain/allocate.ts';
/** The API server enforces budgets on evictions, so only a mutant there can violate them. */
const eviction = 'world/kube/server/eviction.ts';

const ledger = 'src/core/drain/ledger.ts';
const sentOnce: readonly Mutant[] = [
  {
    name: 'an-eviction-that-succeeded-is-forgotten-at-once',
    oracles: ['evictions-sent-once'],
    kind: 'logic',
    edits: [
      {
        file: ledger,
        find: "    this.#update(uid, { state: 'answered', at, ...budgets });",
        replace: '    if (budgets !== undefined) this.#forget(uid);',
      },
    ],
  },
  {
    name: 'a-pod-that-still-looks-alive-is-evicted-again-too-soon',
    oracles: ['evictions-sent-once'],
    kind: 'timing',
    edits: [
      {
        file: ledger,
        find: 'const unseenPodMs = 30_000;',
        replace: 'const unseenPodMs = 1;',
      },
    ],
  },
  {
    name: 'each-eviction-is-tried-without-effect-first',
    oracles: ['evictions-sent-once'],
    kind: 'logic',
    edits: [
      {
        file: 'src/controllers/disruption/evictions.ts',
        find: '      reusesName(pod) &&\n      watches.mayBeStale(grant.node, deps.clock.now());',
        replace: '      (reusesName(pod) || watches.version(grant.node) !== undefined);',
      },
    ],
  },
];

const withinBudgets: readonly Mutant[] = [
  {
    name: 'eviction-ignores-an-empty-budget',
    oracles: ['evictions-within-budgets'],
    kind: 'logic',
    story: 'somebody-else-takes-the-last-token',
    edits: [
      {
        file: eviction,
        find: 'if (allowed === 0) throw exhausted(budget);',
        replace: '',
      },
    ],
  },
  {
    name: 'token-not-taken-until-the-status-is-recomputed',
    oracles: ['evictions-within-budgets'],
    kind: 'timing',
    edits: [
      {
        file: eviction,
        find: 'disruptionsAllowed: allowed - 1,',
        replace: 'disruptionsAllowed: allowed,',
      },
    ],
  },
  {
    name: 'budget-controller-one-too-generous',
    oracles: ['evictions-within-budgets'],
    kind: 'logic',
    edits: [
      {
        file: 'world/kube/controllers/budget-status.ts',
        find: 'Math.max(0, healthy - desired);',
        replace: 'Math.max(0, healthy + 1 - desired);',
      },
    ],
  },
  {
    name: 'two-budgets-emulated-without-their-tokens',
    oracles: ['evictions-within-budgets'],
    kind: 'logic',
    edits: [
      { file: account, find: "multiBudget: 'block',", replace: "multiBudget: 'emulate'," },
      {
        file: allocate,
        find: 'this.#account.left(budget) >= 1 && this.#account.isQuiet(budget),',
        replace: 'this.#account.left(budget) >= 0 && this.#account.isQuiet(budget),',
      },
    ],
  },
  {
    name: 'an-emulated-eviction-takes-no-token-until-it-is-seen',
    oracles: ['evictions-within-budgets'],
    kind: 'timing',
    edits: [
      { file: account, find: "multiBudget: 'block',", replace: "multiBudget: 'emulate'," },
      {
        file: allocate,
        find: "this.#account.grant(keys, more.why === 'emulate');",
        replace: "this.#account.grant(more.why === 'emulate' ? [] : keys, false);",
      },
    ],
  },
  {
    name: 'deletes-the-last-pod-that-a-budget-holds',
    oracles: ['evictions-within-budgets'],
    kind: 'logic',
    edits: [
      {
        file: allocate,
        find: 'if (this.#account.left(budget) <= 0) this.#blockOn(candidate, budget);',
        replace:
          "if (this.#account.left(budget) <= 0 && drain.pods.length === 1)\n      this.#delete(drain, pod, [], { why: 'deadline' });\n    else if (this.#account.left(budget) <= 0) this.#blockOn(candidate, budget);",
      },
    ],
  },
];

const forcedEarly: readonly Mutant[] = [
  {
    name: 'forces-20-s-too-early',
    oracles: ['nothing-forced-early'],
    kind: 'timing',
    edits: [
      {
        file: force,
        find: 'export const safetyMs = 10_000;',
        replace: 'export const safetyMs = 30_000;',
      },
    ],
  },
  {
    name: 'grace-may-take-the-whole-window',
    oracles: ['nothing-forced-early'],
    kind: 'timing',
    edits: [
      {
        file: force,
        find: 'const half = Math.max(0, (window.deadline - window.startedAt) / 2);',
        replace: 'const half = Math.max(0, window.deadline - window.startedAt);',
      },
    ],
  },
  {
    name: 'forced-with-grace-0',
    oracles: ['nothing-forced-early'],
    kind: 'logic',
    edits: [
      {
        file: force,
        find: 'Math.max(1, Math.floor((window.deadline - window.safetyMs - now) / 1000));',
        replace: 'Math.max(0, Math.min(0, window.deadline - now));',
      },
    ],
  },
  {
    name: 'forced-grace-halved',
    oracles: ['nothing-forced-early'],
    kind: 'logic',
    edits: [
      {
        file: force,
        find: 'Math.max(1, Math.floor((window.deadline - window.safetyMs - now) / 1000));',
        replace: 'Math.max(1, Math.floor((window.deadline - window.safetyMs - now) / 2000));',
      },
    ],
  },
  {
    name: 'deletes-where-an-eviction-is-blocked',
    oracles: ['nothing-forced-early'],
    kind: 'logic',
    edits: [
      {
        file: allocate,
        find: 'if (this.#account.left(budget) <= 0) this.#blockOn(candidate, budget);',
        replace:
          "if (this.#account.left(budget) <= 0) this.#delete(drain, pod, [], { why: 'deadline' });",
      },
    ],
  },
  {
    name: 'two-budgets-emulated-by-deletion',
    oracles: ['nothing-forced-early'],
    kind: 'logic',
    edits: [{ file: account, find: "multiBudget: 'block',", replace: "multiBudget: 'emulate'," }],
  },
  {
    name: 'forces-a-drain-that-should-fail',
    oracles: ['nothing-forced-early'],
    kind: 'logic',
    edits: [
      {
        file: force,
        find: "if (window === undefined || window.onDeadline !== 'force') return undefined;",
        replace: 'if (window === undefined) return undefined;',
      },
    ],
  },
  {
    name: 'a-groups-own-drain-timeout-of-today-counts',
    oracles: ['nothing-forced-early'],
    kind: 'timing',
    story: 'a-group-gives-its-drains-less-time',
    edits: [
      {
        file: 'src/core/termination/causes.ts',
        find: 'if (own !== undefined) return',
        replace: 'if (own !== undefined && cause.hook === undefined) return',
      },
    ],
  },
];

const drainable: readonly Mutant[] = [
  {
    name: 'daemonset-pods-evicted',
    oracles: ['only-drainable-pods'],
    kind: 'logic',
    edits: [
      {
        file: classify,
        find: "if (!gone) return { skip: 'daemonSet' };",
        replace: '',
      },
    ],
  },
  {
    name: 'daemonsets-gone-until-they-are-listed',
    oracles: ['only-drainable-pods'],
    kind: 'timing',
    edits: [
      {
        file: 'src/controllers/disruption/controller.ts',
        find: "this.#daemonSets.hasSynced() && this.#daemonSets.index('uid', uid).length === 0,",
        replace: "this.#daemonSets.index('uid', uid).length === 0,",
      },
    ],
  },
  {
    name: 'finished-pods-evicted',
    oracles: ['only-drainable-pods'],
    kind: 'logic',
    edits: [
      { file: classify, find: "if (isFinished(pod)) return { skip: 'finished' };", replace: '' },
    ],
  },
  {
    name: 'mirror-pods-evicted',
    oracles: ['only-drainable-pods'],
    kind: 'logic',
    edits: [{ file: classify, find: "if (isMirror(pod)) return { skip: 'mirror' };", replace: '' }],
  },
];

export const podMutants: readonly Mutant[] = [
  ...sentOnce,
  ...withinBudgets,
  ...forcedEarly,
  ...drainable,
];
