// Mutants about updates: held nodes that lose their pods or instances, time limits that are not
// granted.
import type { Mutant } from '../mutant.ts';

const causes = 'src/core/termination/causes.ts';
const draining = 'src/core/termination/draining.ts';
const terminating = 'src/core/termination/terminating.ts';

const held: readonly Mutant[] = [
  {
    name: 'a-held-node-is-drained-as-any-other',
    oracles: ['held-nodes-keep-their-pods'],
    kind: 'logic',
    edits: [
      {
        file: causes,
        find: 'causes.every(isHolding) ? causes[0] : undefined;',
        replace: "causes.find((cause) => isHolding(cause) && cause.kind === 'Manual');",
      },
    ],
  },
  {
    name: 'evicts-before-it-says-that-the-hold-is-over',
    oracles: ['held-nodes-keep-their-pods'],
    kind: 'timing',
    edits: [
      {
        file: draining,
        find: 'if (wasHeld(observation.disruption)) return letGo(observation, demand);',
        replace: '',
      },
      {
        file: 'src/core/termination/drains.ts',
        find: 'if (demand.heldBy !== undefined || wasHeld(disruption)) return undefined;',
        replace: 'if (demand.heldBy !== undefined) return undefined;',
      },
    ],
  },
  {
    name: 'a-held-node-that-is-gone-takes-its-instance-along',
    oracles: ['held-nodes-keep-their-pods'],
    kind: 'logic',
    story: 'a-held-node-is-deleted',
    edits: [
      {
        file: 'src/core/termination/absence.ts',
        find: 'if (demand.heldBy !== undefined && memory.instance?.gone !== true) {',
        replace: 'if (demand.heldBy !== undefined && memory.instance?.gone === true) {',
      },
    ],
  },
];

const turns = 'src/core/termination/turns.ts';
const waiting: readonly Mutant[] = [
  {
    name: 'the-ledger-has-room-for-all',
    oracles: ['causes-that-may-wait-take-turns'],
    kind: 'logic',
    story: 'two-retirements-at-once',
    edits: [
      {
        file: turns,
        find: 'return ledger.out + (isDated ? ahead.length : 0) < slotsOf(ledger, now);',
        replace: 'return ledger.out + (isDated ? ahead.length : 0) < slotsOf(ledger, now) + 9;',
      },
    ],
  },
  {
    name: 'one-node-more-than-may-be-unavailable',
    oracles: ['causes-that-may-wait-take-turns'],
    kind: 'logic',
    story: 'two-retirements-at-once',
    edits: [
      {
        file: turns,
        find: 'return Math.max(maxUnavailable, ...needed);',
        replace: 'return Math.max(maxUnavailable + 1, ...needed);',
      },
    ],
  },
  {
    name: 'a-node-that-has-begun-counts-once-it-is-empty',
    oracles: ['causes-that-may-wait-take-turns'],
    kind: 'timing',
    story: 'two-retirements-at-once',
    edits: [
      {
        file: turns,
        find: "if (phase === 'Marking' || phase === 'Draining' || phase === 'Completing') return true;",
        replace:
          "if (phase === 'Completing') return true; else if (phase !== 'Ended') return false;",
      },
      {
        file: 'src/controllers/disruption/turns.ts',
        find: 'out: Math.max(out, desired - ready),',
        replace: 'out: Math.max(out, desired - ready) - Math.max(0, desired - ready),',
      },
    ],
  },
];

const times: readonly Mutant[] = [
  {
    name: 'auto-scaling-chooses-which-of-the-surplus-goes',
    oracles: ['groups-shrink-by-drained-nodes', 'updates-keep-their-times'],
    kind: 'logic',
    story: 'a-group-is-updated-as-eks-does',
    edits: [
      {
        file: 'src/core/update/strategies/surplus.ts',
        find: 'const decide = isForced ? decideByForce : decideByDrains;',
        replace: 'const decide = isForced ? decideByDrains : decideByForce;',
      },
    ],
  },
  {
    name: 'a-long-grace-brings-the-force-forward',
    oracles: ['updates-keep-their-times'],
    kind: 'timing',
    story: 'an-update-forces',
    edits: [
      {
        file: 'src/core/drain/force.ts',
        find: 'if (window.forceFrom !== undefined) return window.forceFrom;\n',
        replace: '',
      },
    ],
  },
  {
    name: 'half-of-the-cooldown-is-enough',
    oracles: ['updates-keep-their-times'],
    kind: 'timing',
    edits: [
      {
        file: terminating,
        find: 'return epochMs(drainedAt + cooldownMs);',
        replace: 'return epochMs(drainedAt + cooldownMs / 2);',
      },
    ],
  },
  {
    name: 'nobody-waits-between-empty-and-terminate',
    oracles: ['updates-keep-their-times'],
    kind: 'logic',
    edits: [
      {
        file: terminating,
        find: 'if (until !== undefined && now < until) {',
        replace: 'if (until !== undefined && now < 0) {',
      },
    ],
  },
  {
    name: 'a-drain-that-failed-takes-its-instance',
    oracles: ['updates-keep-their-times'],
    kind: 'logic',
    story: 'an-update-meets-a-closed-budget',
    edits: [
      {
        file: terminating,
        find: "if (outcome === 'Failed' || outcome === 'InstanceGone') return false;",
        replace: "if (outcome === 'InstanceGone') return false;",
      },
    ],
  },
  {
    name: 'a-drain-gives-up-without-a-word',
    oracles: ['updates-keep-their-times'],
    kind: 'logic',
    story: 'an-update-meets-a-closed-budget',
    edits: [
      {
        file: draining,
        find: 'const more = { podsRemaining, ...total, ...lastBlockers(observation, returning) };',
        replace: 'const more = { podsRemaining, ...total };',
      },
    ],
  },
  {
    name: 'a-drain-that-may-not-force-never-gives-up',
    oracles: ['updates-keep-their-times'],
    kind: 'logic',
    story: 'an-update-meets-a-closed-budget',
    edits: [
      {
        file: draining,
        find: 'if (isDue(demand, now)) {',
        replace: "if (isDue(demand, now) && demand.onDeadline === 'force') {",
      },
    ],
  },
];

export const updateMutants: readonly Mutant[] = [...held, ...waiting, ...times];
