// Mutants about the journal and its timing: needless writes, drains that never end, blockers that
// are not reported, loops.
import type { Mutant } from '../mutant.ts';

const allocate = 'src/core/drain/allocate.ts';
const ledger = 'src/core/drain/ledger.ts';
const status = 'src/core/termination/status.ts';
const hooks = 'src/core/termination/hooks.ts';
const draining = 'src/core/termination/draining.ts';
const ended = 'src/core/termination/ended.ts';
const apply = 'src/controllers/disruption/apply.ts';
const controller = 'src/controllers/disruption/controller.ts';
const lifecycle = 'src/controllers/lifecycle/controller.ts';

const quiet: readonly Mutant[] = [
  {
    name: 'acts-before-it-has-seen-its-own-writes',
    oracles: ['fixed-state-writes-nothing'],
    kind: 'timing',
    edits: [
      {
        file: controller,
        find: 'return seen && (nodeVersion === undefined || nodes.hasObserved(nodeVersion));',
        replace: 'return seen || nodeVersion !== undefined || nodes !== undefined;',
      },
    ],
  },
  {
    name: 'sets-marks-that-are-there',
    oracles: ['fixed-state-writes-nothing'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/marks.ts',
        find: "...(present.unschedulable ? [] : [patch(node, cordon, 'cordon it')]),",
        replace: "...[patch(node, cordon, 'cordon it')],",
      },
    ],
  },
  {
    name: 'writes-its-progress-whether-it-moved-or-not',
    oracles: ['fixed-state-writes-nothing', 'journal-economics'],
    kind: 'logic',
    edits: [
      {
        file: draining,
        find: 'const moved = blockers !== undefined && progressChanged(status, waitingOn);',
        replace: 'const moved = blockers !== undefined || progressChanged(status, waitingOn);',
      },
      {
        file: status,
        find: 'return epochMs(began + Math.min(elapsed * progressFactor, elapsed + longestProgressMs));',
        replace: 'return epochMs(began + elapsed + 10_000);',
      },
    ],
  },
  {
    name: 'empty-patches-are-sent-too',
    oracles: ['fixed-state-writes-nothing'],
    kind: 'logic',
    edits: [
      {
        file: apply,
        find: "if (status === undefined) return 'done';",
        replace: '',
      },
      {
        file: apply,
        find: 'const body = { metadata: { resourceVersion: step.resourceVersion }, status };',
        replace:
          'const body = { metadata: { resourceVersion: step.resourceVersion }, status: status ?? {} };',
      },
      {
        file: draining,
        find: 'if (Object.keys(change).length === 0 && !demandMoved(status, demand)) {',
        replace: 'if (Object.keys(change).length === 99 && !demandMoved(status, demand)) {',
      },
    ],
  },
];

const ends: readonly Mutant[] = [
  {
    name: 'a-failed-eviction-is-tried-again-next-week',
    oracles: ['everything-ends'],
    kind: 'timing',
    edits: [
      {
        file: ledger,
        find: 'return epochMs(Math.ceil(failure.at + wait));',
        replace: 'return epochMs(Math.ceil(failure.at + wait * 600_000));',
      },
    ],
  },
  {
    name: 'a-withdrawn-drain-never-finishes-undoing',
    oracles: ['everything-ends'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/undoing.ts',
        find: 'return decision({ steps: [writeStatus({ disruption, change, now })] });',
        replace: 'return decision({ steps: [writeStatus({ disruption, change, now })].slice(1) });',
      },
    ],
  },
  {
    name: 'a-finished-drain-is-never-closed',
    oracles: ['everything-ends'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/completing.ts',
        find: 'if (!isTakenBack(observation, demand)) return end(observation, demand);',
        replace:
          'if (!isTakenBack(observation, demand)) return demand.hooks.length === 0 ? decision({}) : end(observation, demand);',
      },
    ],
  },
  {
    name: 'never-wakes-to-look-again',
    oracles: ['everything-ends'],
    kind: 'timing',
    edits: [
      {
        file: controller,
        find: 'if (plan.nextCheckAt !== undefined) this.#queue.addAfter(name, epochMs(plan.nextCheckAt));',
        replace: 'if (plan.nextCheckAt === epochMs(0)) this.#queue.add(name);',
      },
    ],
  },
  {
    name: 'an-ended-disruption-takes-no-new-cause',
    oracles: ['hooks-never-run-out', 'everything-ends'],
    kind: 'logic',
    edits: [
      {
        file: ended,
        find: 'if (demand.causes.length > 0) return decision({ steps: [nextEpisode(disruption)] });',
        replace:
          'if (demand.causes.length > 9) return decision({ steps: [nextEpisode(disruption)] });',
      },
    ],
  },
  {
    name: 'waits-for-the-latest-deadline',
    oracles: ['everything-ends'],
    kind: 'timing',
    story: 'a-drain-is-given-less-time',
    edits: [
      {
        file: 'src/core/termination/causes.ts',
        find: 'term.deadline < first.deadline) first = term;',
        replace: 'term.deadline > first.deadline) first = term;',
      },
    ],
  },
  {
    // Pods are deleted by force before the deadline, so it ends only drains of pods that do not
    // stop, and a missed deadline shows first as a hook that runs out.
    name: 'the-deadline-passes-unnoticed',
    oracles: ['hooks-never-run-out', 'everything-ends'],
    kind: 'timing',
    edits: [
      {
        file: draining,
        find: '  if (isDue(demand, now)) {',
        replace: '  if (isDue(demand, epochMs(now - 3_600_000))) {',
      },
    ],
  },
];

const named: readonly Mutant[] = [
  {
    name: 'progress-is-never-written',
    oracles: ['blockers-are-named'],
    kind: 'logic',
    edits: [
      {
        file: draining,
        find: 'const due = (moved && dueAt !== undefined && dueAt <= now) || isOther;',
        replace: 'const due = false;',
      },
    ],
  },
  {
    name: 'late-blockers-wait-ever-longer',
    oracles: ['blockers-are-named'],
    kind: 'timing',
    story: 'pods-block-late',
    edits: [
      {
        file: status,
        find: 'const longestProgressMs = 5 * 60_000;',
        replace: 'const longestProgressMs = 5 * 60_000_000;',
      },
    ],
  },
  {
    name: 'blockers-without-their-budget',
    oracles: ['blockers-are-named'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/drain/blockers.ts',
        find: "    kind: 'pdb',\n    pod: keyOfObject(pod),\n    budgets: [keyOfObject(budget)],",
        replace: "    kind: 'pdb',\n    pod: keyOfObject(pod),\n    budgets: [],",
      },
    ],
  },
  {
    name: 'blockers-are-named-once',
    oracles: ['blockers-are-named'],
    kind: 'timing',
    story: 'pods-block-late',
    edits: [
      {
        file: draining,
        find: 'const due = (moved && dueAt !== undefined && dueAt <= now) || isOther;',
        replace:
          'const due = ((moved && dueAt !== undefined && dueAt <= now) || isOther) && status.progressAt === undefined;',
      },
    ],
  },
];

const calm: readonly Mutant[] = [
  {
    name: 'looks-at-the-groups-all-the-time',
    oracles: ['no-hot-loop'],
    kind: 'timing',
    edits: [
      {
        file: lifecycle,
        find: 'const pollEveryMs = 30_000;',
        replace: 'const pollEveryMs = 100;',
      },
    ],
  },
  {
    name: 'refused-evictions-retried-at-once',
    oracles: ['no-hot-loop'],
    kind: 'timing',
    edits: [
      {
        file: allocate,
        find: 'if (this.#account.left(budget) <= 0) this.#blockOn(candidate, budget);\n    else if',
        replace: 'if',
      },
      {
        file: ledger,
        find: 'return epochMs(Math.ceil(failure.at + wait));',
        replace: 'return epochMs(Math.ceil(failure.at + wait * 0.001));',
      },
    ],
  },
  {
    name: 'heartbeats-every-second',
    oracles: ['no-hot-loop'],
    kind: 'timing',
    edits: [
      {
        file: hooks,
        find: 'return durationMs(Math.min(longestIntervalMs, Math.max(shortestIntervalMs, third)));',
        replace:
          'return durationMs(Math.min(1_000, longestIntervalMs + shortestIntervalMs + third));',
      },
    ],
  },
  {
    name: 'an-unanswered-question-is-asked-again-at-once',
    oracles: ['no-hot-loop'],
    kind: 'timing',
    story: 'the-cloud-is-away',
    edits: [
      {
        file: hooks,
        find: 'failures === 0 ? 0 : Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 5));',
        replace: 'failures === 0 ? 0 : Math.min(10, longestRetryMs + firstRetryMs);',
      },
    ],
  },
];

const frugal: readonly Mutant[] = [
  {
    name: 'progress-every-two-seconds',
    oracles: ['journal-economics'],
    kind: 'timing',
    edits: [
      {
        file: draining,
        find: 'const moved = blockers !== undefined && progressChanged(status, waitingOn);',
        replace: 'const moved = blockers !== undefined || progressChanged(status, waitingOn);',
      },
      {
        file: status,
        find: 'return epochMs(began + Math.min(elapsed * progressFactor, elapsed + longestProgressMs));',
        replace: 'return epochMs(began + elapsed + 2_000);',
      },
    ],
  },
  {
    name: 'forcing-announced-again-and-again',
    oracles: ['journal-economics'],
    kind: 'logic',
    edits: [
      {
        file: draining,
        find: 'const forcing = status.forcingSince === undefined && forces.some((at) => at <= now);',
        replace: 'const forcing = forces.some((at) => at <= now);',
      },
    ],
  },
  {
    name: 'the-start-moves-with-every-progress',
    oracles: ['journal-economics'],
    kind: 'logic',
    edits: [
      {
        file: draining,
        find: '    progressAt: formatTime(now),',
        replace: '    progressAt: formatTime(now),\n    startedAt: formatTime(now),',
      },
      {
        file: draining,
        find: 'const moved = blockers !== undefined && progressChanged(status, waitingOn);',
        replace: 'const moved = blockers !== undefined || progressChanged(status, waitingOn);',
      },
      {
        file: status,
        find: 'return epochMs(began + Math.min(elapsed * progressFactor, elapsed + longestProgressMs));',
        replace: 'return epochMs(began + elapsed + 15_000);',
      },
    ],
  },
];

export const journalMutants: readonly Mutant[] = [...quiet, ...ends, ...named, ...calm, ...frugal];
