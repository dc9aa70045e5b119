// Mutants about Drover's lifecycle hooks: hooks that time out or are completed too early.
import type { Mutant } from '../mutant.ts';

const hooks = 'src/core/termination/hooks.ts';
const completing = 'src/core/termination/completing.ts';
const draining = 'src/core/termination/draining.ts';
const absence = 'src/core/termination/absence.ts';
const hookCalls = 'src/controllers/disruption/hooks.ts';
const lifecycle = 'src/core/termination/notices/waiting.ts';

const kept: readonly Mutant[] = [
  {
    name: 'never-heartbeats',
    oracles: ['hooks-never-run-out'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/decide.ts',
        find: 'Draining: (_observation, { hooks }) => hooks,',
        replace: 'Draining: () => [],',
      },
    ],
  },
  {
    name: 'heartbeats-a-third-too-late',
    oracles: ['hooks-never-run-out'],
    kind: 'timing',
    edits: [
      {
        file: hooks,
        find: 'const third = (hook.heartbeatTimeoutSeconds * 1000) / 3;\n  return durationMs(Math.min(longestIntervalMs, Math.max(shortestIntervalMs, third)));',
        replace:
          'const third = (hook.heartbeatTimeoutSeconds * 4000) / 3;\n  return durationMs(Math.max(shortestIntervalMs, third));',
      },
    ],
  },
  {
    name: 'ends-without-completing-the-hook',
    oracles: ['hooks-never-run-out'],
    kind: 'logic',
    edits: [
      {
        file: completing,
        find: 'if (open.length > 0 && instanceId !== undefined) {',
        replace: 'if (open.length > 9 && instanceId !== undefined) {',
      },
    ],
  },
  {
    name: 'one-refusal-and-the-hook-is-forgotten',
    oracles: ['hooks-never-run-out'],
    kind: 'logic',
    edits: [
      {
        file: hookCalls,
        find: "if (error.code === 'NoActiveLifecycleAction') {",
        replace: "if (error.code !== 'Unsupported') {",
      },
    ],
  },
  {
    name: 'launch-hook-left-to-its-timeout',
    oracles: ['hooks-never-run-out'],
    kind: 'logic',
    edits: [
      {
        file: lifecycle,
        find: 'if (node === undefined || !isReady(node) || node.metadata.deletionTimestamp !== undefined) {',
        replace: "if (node === undefined || instance.lifecycleState !== '') {",
      },
    ],
  },
  {
    name: 'no-room-is-kept-before-the-hooks-end',
    oracles: ['hooks-never-run-out'],
    kind: 'timing',
    edits: [
      {
        file: hooks,
        find: 'epochMs(hookEnd(hook) - Math.min(longestMarginMs, totalWaitMs(hook) / 10));',
        replace: 'epochMs(hookEnd(hook) + 0 * longestMarginMs);',
      },
    ],
  },
  {
    name: 'a-hook-counts-as-over-ten-minutes-early',
    oracles: ['hooks-never-run-out'],
    kind: 'timing',
    edits: [
      {
        file: hooks,
        find: "const expired = now >= hookEnd(ref) ? 'Expired' : 'Open';",
        replace: "const expired = now >= hookEnd(ref) - 600_000 ? 'Expired' : 'Open';",
      },
    ],
  },
  {
    name: 'a-cause-that-came-meanwhile-counts-as-handled',
    oracles: ['hooks-never-run-out'],
    kind: 'timing',
    story: 'a-cause-comes-while-completing',
    edits: [
      {
        file: completing,
        find: 'handledCauses: handledIds(disruption, demand.causes),',
        replace: 'handledCauses: handledIds(disruption, disruption.spec.causes),',
      },
    ],
  },
];

const completed: readonly Mutant[] = [
  {
    name: 'completes-with-one-pod-left',
    oracles: ['hooks-complete-when-empty'],
    kind: 'logic',
    edits: [
      {
        file: draining,
        find: 'inTheWay(classified, demand) === 0\n',
        replace: 'inTheWay(classified, demand) <= 1\n',
      },
      {
        file: draining,
        find: 'if (inTheWay(classifyPods(listed.pods, options), demand) > 0) {',
        replace: 'if (inTheWay(classifyPods(listed.pods, options), demand) > 1) {',
      },
    ],
  },
  {
    name: 'completes-before-the-confirming-list',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    story: 'a-pod-the-watch-has-not-shown',
    edits: [
      {
        file: draining,
        find: 'if (listed === undefined) return ask;',
        replace: 'if (listed === undefined) return completeNow(observation, demand);',
      },
      {
        file: draining,
        find: 'interface Full extends Marked {',
        replace:
          "const completeNow = (observation: Observation, demand: Demand): Decision =>\n  complete(observation, demand, { outcome: 'Drained', message: 'empty' });\n\ninterface Full extends Marked {",
      },
    ],
  },
  {
    name: 'believes-a-watch-of-any-age',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    story: 'a-pod-the-watch-has-not-shown',
    edits: [
      {
        file: draining,
        find: 'podsCompleteAt === undefined || podsCompleteAt < instant',
        replace: 'podsCompleteAt === undefined',
      },
    ],
  },
  {
    name: 'a-stopping-pod-counts-as-gone',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    edits: [
      {
        file: 'src/core/drain/classify.ts',
        find: "if (isFinished(pod)) return { skip: 'finished' };",
        replace:
          "if (isFinished(pod) || pod.metadata.deletionTimestamp !== undefined)\n    return { skip: 'finished' };",
      },
    ],
  },
  {
    name: 'believes-its-cache-that-there-is-no-node',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    story: 'a-node-the-watch-has-not-shown',
    edits: [
      { file: absence, find: 'if (open.length > 0 && ', replace: 'if (open.length > 9 && ' },
      {
        file: absence,
        find: 'if (memory.nodeListed?.found === true) {',
        replace: 'if (memory.nodeListed?.at === 0) {',
      },
    ],
  },
  {
    name: 'lets-an-instance-in-before-its-node-is-ready',
    oracles: ['hooks-complete-when-empty'],
    kind: 'logic',
    edits: [
      {
        file: lifecycle,
        find: 'if (node === undefined || !isReady(node) || node.metadata.deletionTimestamp !== undefined) {',
        replace: 'if (node !== undefined && isReady(node) && instance.instanceId.length < 2) {',
      },
    ],
  },
  {
    name: 'deadline-a-minute-early',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    edits: [
      {
        file: draining,
        find: '  if (isDue(demand, now)) {',
        replace: '  if (isDue(demand, epochMs(now + 60_000))) {',
      },
    ],
  },
  {
    name: 'never-forces',
    oracles: ['hooks-complete-when-empty'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/drains.ts',
        find: 'forcing: intended && status.forcingSince !== undefined,',
        replace: 'forcing: intended && status.forcingSince === status.endedAt,',
      },
    ],
  },
  {
    name: 'what-was-forced-is-told-as-drained',
    oracles: ['hooks-complete-when-empty'],
    kind: 'logic',
    story: 'a-kubelet-stops-before-its-drain',
    edits: [
      {
        file: draining,
        find: "const outcome = demand.onDeadline === 'force' ? ('Forced' as const) : ('Failed' as const);",
        replace:
          "const outcome = demand.onDeadline === 'fail' ? ('Failed' as const) : ('Drained' as const);",
      },
    ],
  },
  {
    name: 'a-drain-without-a-hook-ends-with-its-last-eviction',
    oracles: ['hooks-complete-when-empty'],
    kind: 'timing',
    story: 'a-pod-of-nobody-is-evicted',
    edits: [
      {
        file: draining,
        find: 'inTheWay(classified, demand) === 0\n',
        replace:
          'demand.hooks.length === 0 &&\n      classified.evict.every(({ pod }) => pod.metadata.deletionTimestamp !== undefined)\n',
      },
      {
        file: draining,
        find: 'if (inTheWay(classifyPods(listed.pods, options), demand) > 0) {',
        replace:
          'if (demand.hooks.length > 0 && inTheWay(classifyPods(listed.pods, options), demand) > 0) {',
      },
    ],
  },
];

export const hookMutants: readonly Mutant[] = [...kept, ...completed];
