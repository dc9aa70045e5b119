// Mutants about hooks, messages and sizes: hooks that run out or are answered too early, hooks of
// others, messages that are lost, sizes that nobody may ask for.
import type { Mutant } from '../mutant.ts';

const hooks = 'src/core/termination/hooks.ts';
const completing = 'src/core/termination/completing.ts';
const draining = 'src/core/termination/draining.ts';
const absence = 'src/core/termination/absence.ts';
const hookCalls = 'src/controllers/disruption/hooks.ts';
const lifecycle = 'src/controllers/lifecycle/decide.ts';
const intake = 'src/controllers/intake/controller.ts';
const nodegroup = 'src/controllers/nodegroup/decide.ts';

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
        find: 'classified.evict.length === 0\n',
        replace: 'classified.evict.length <= 1\n',
      },
      {
        file: draining,
        find: 'if (classifyPods(listed.pods, options).evict.length > 0) {',
        replace: 'if (classifyPods(listed.pods, options).evict.length > 1) {',
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
        find: 'if (listed === undefined || listed.at < settled) return ask;',
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
      { file: absence, find: 'if (open.length > 0) {', replace: 'if (open.length > 9) {' },
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
];

const foreign: readonly Mutant[] = [
  {
    name: 'every-hook-is-ours',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'logic',
    edits: [
      {
        file: 'src/controllers/causes.ts',
        find: 'return (name) => owned.has(name);',
        replace: 'return (name) => owned.has(name) || name.length > 0;',
      },
    ],
  },
  {
    name: 'the-backstop-answers-hooks-of-others',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'logic',
    edits: [
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'const hooks = all.filter((hook) => this.#ownsHook(hook.name));',
        replace:
          "const hooks = all.filter((hook) => hook.name !== '' || this.#ownsHook(hook.name));",
      },
    ],
  },
  {
    name: 'a-hook-is-taken-before-its-owner-is-known',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'timing',
    edits: [
      {
        file: intake,
        find: "if (notice.kind !== 'terminate' || !this.#ownsHook(notice.hookName)) return facts;",
        replace: "if (notice.kind !== 'terminate') return facts;",
      },
    ],
  },
];

const durable: readonly Mutant[] = [
  {
    name: 'message-deleted-before-the-write',
    oracles: ['messages-are-durable'],
    kind: 'timing',
    edits: [
      {
        file: intake,
        find: 'const written = await recordCause(this.#deps, decision, signal);',
        replace:
          'await this.#delete(received(message), signal);\n    const written = await recordCause(this.#deps, decision, signal);',
      },
      {
        file: intake,
        find: 'class Intake {',
        replace:
          'const received = (message: QueueMessage): QueueMessage => message;\n\nclass Intake {',
      },
    ],
  },
  {
    name: 'a-failed-write-loses-the-message',
    oracles: ['messages-are-durable'],
    kind: 'logic',
    edits: [
      {
        file: intake,
        find: 'const written = await recordCause(this.#deps, decision, signal);',
        replace:
          'const written = await recordCause(this.#deps, decision, signal).catch(() => undefined);',
      },
    ],
  },
  {
    name: 'spot-warnings-are-nobodys-business',
    oracles: ['messages-are-durable'],
    kind: 'logic',
    edits: [
      {
        file: 'src/controllers/intake/decide.ts',
        find: "if (facts.group === undefined) return drop('foreignGroup', instanceId);",
        replace: "if (notice.kind !== 'rebalance') return drop('foreignGroup', instanceId);",
      },
      {
        file: 'src/controllers/intake/decide.ts',
        find: 'subject: subjectOf(instanceId, facts.group, facts),',
        replace: 'subject: { name: instanceId, instanceId },',
      },
    ],
  },
  {
    name: 'backstop-asleep',
    oracles: ['messages-are-durable'],
    kind: 'timing',
    edits: [
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'const pollEveryMs = 30_000;',
        replace: 'const pollEveryMs = 3_000_000;',
      },
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'if (becameReady(change)) soon();',
        replace: "if (becameReady(change) && change.object.metadata.name === '') soon();",
      },
    ],
  },
];

const sized: readonly Mutant[] = [
  {
    name: 'desired-told-one-too-high',
    oracles: ['desired-within-bounds'],
    kind: 'logic',
    edits: [
      { file: nodegroup, find: '      desired: wanted,', replace: '      desired: wanted + 1,' },
    ],
  },
  {
    name: 'maximum-told-as-minimum',
    oracles: ['desired-within-bounds'],
    kind: 'logic',
    edits: [
      {
        file: nodegroup,
        find: '      maxSize: scaling.maxSize,\n      instances',
        replace: '      maxSize: scaling.minSize,\n      instances',
      },
    ],
  },
  {
    name: 'desired-counted-while-instances-still-leave',
    oracles: ['desired-within-bounds'],
    kind: 'timing',
    edits: [
      {
        file: nodegroup,
        find: '      desired: wanted,',
        replace: '      desired: Math.max(wanted, instances.length),',
      },
    ],
  },
  {
    name: 'the-groups-size-is-told-once-and-never-again',
    oracles: ['desired-within-bounds'],
    kind: 'timing',
    story: 'a-group-is-made-smaller',
    edits: [
      {
        file: nodegroup,
        find: '      desired: wanted,',
        replace: '      desired: facts.group.status?.desired ?? wanted,',
      },
    ],
  },
];

export const hookMutants: readonly Mutant[] = [
  ...kept,
  ...completed,
  ...foreign,
  ...durable,
  ...sized,
];
