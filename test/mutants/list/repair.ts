// Mutants about node repair: waits, circuit breakers, owners' settings, actions that are repeated
// or considered successful too early.
import type { Mutant } from '../mutant.ts';

const classify = 'src/core/health/classify.ts';
const assemble = 'src/core/repair/assemble.ts';
const breakers = 'src/core/repair/breakers.ts';
const decide = 'src/core/repair/decide.ts';
const episode = 'src/core/repair/episode.ts';
const policy = 'src/core/repair/policy.ts';
const quarantine = 'src/core/repair/quarantine.ts';
const running = 'src/core/repair/running.ts';
const waiting = 'src/core/repair/waiting.ts';

const waits: readonly Mutant[] = [
  {
    name: 'a-node-is-repaired-at-half-its-wait',
    oracles: ['repairs-keep-their-wait'],
    kind: 'timing',
    story: 'a-node-stays-ill',
    edits: [
      { file: episode, find: 'epochMs(since + waitMs)', replace: 'epochMs(since + waitMs / 2)' },
    ],
  },
  {
    name: 'the-wait-of-another-condition-counts',
    oracles: ['repairs-keep-their-wait'],
    kind: 'logic',
    story: 'a-condition-has-a-wait-of-its-own',
    edits: [
      {
        file: policy,
        find: 'const rank = rule.condition === condition ? specificity(rule, reason) : undefined;',
        replace: 'const rank = specificity(rule, reason);',
      },
    ],
  },
  {
    name: 'an-episode-begins-when-it-is-opened',
    oracles: ['repairs-keep-their-wait'],
    kind: 'timing',
    story: 'a-node-falls-ill-while-it-is-drained',
    edits: [
      {
        file: decide,
        find: 'unhealthySince: formatTime(epochMs(Math.min(since, now))),',
        replace: 'unhealthySince: formatTime(now),',
      },
    ],
  },
  {
    name: 'a-flap-begins-the-wait-again',
    oracles: ['repairs-keep-their-wait'],
    kind: 'timing',
    story: 'a-node-flaps',
    edits: [
      {
        file: episode,
        find: 'before !== undefined && before.since < found.since ? before.since : found.since',
        replace: 'found.since',
      },
    ],
  },
];

const kept: readonly Mutant[] = [
  {
    name: 'a-quarantine-ends-five-minutes-early',
    oracles: ['quarantined-instances-end-in-time'],
    kind: 'timing',
    story: 'a-node-is-kept-for-inspection',
    edits: [
      {
        file: quarantine,
        find: 'const isOver = now >= until ||',
        replace: 'const isOver = now + 300_000 >= until ||',
      },
    ],
  },
  {
    name: 'a-quarantine-never-ends',
    oracles: ['quarantined-instances-end-in-time'],
    kind: 'logic',
    story: 'a-node-is-kept-for-inspection',
    edits: [
      {
        file: quarantine,
        find: 'const isOver = now >= until ||',
        replace: 'const isOver = now < 0 ||',
      },
    ],
  },
  {
    name: 'replaced-instances-are-detached',
    oracles: ['quarantined-instances-end-in-time'],
    kind: 'logic',
    story: 'two-nodes-are-replaced',
    edits: [{ file: running, find: "Replace: 'Replace',", replace: "Replace: 'Detach'," }],
  },
];

const healthy: readonly Mutant[] = [
  {
    name: 'a-condition-of-another-node-counts',
    oracles: ['healthy-nodes-are-not-repaired'],
    kind: 'logic',
    story: 'a-condition-has-a-wait-of-its-own',
    edits: [
      {
        file: assemble,
        find: 'node: facts.nodeOf(instanceId),\n  ...defined',
        replace:
          "node: facts.nodes.find((one) => one.status.conditions?.some(({ type }) => type === 'NetworkingReady')) ?? facts.nodeOf(instanceId),\n  ...defined",
      },
    ],
  },
  {
    name: 'what-a-dead-agent-reported-counts-for-ever',
    oracles: ['healthy-nodes-are-not-repaired'],
    kind: 'timing',
    story: 'an-agent-dies',
    edits: [
      {
        file: classify,
        find: 'if (!bad || isSilent(condition, now)) return undefined;',
        replace: 'if (!bad) return undefined;',
      },
    ],
  },
  {
    name: 'a-node-that-has-recovered-is-repaired-all-the-same',
    oracles: ['healthy-nodes-are-not-repaired'],
    kind: 'timing',
    story: 'a-node-recovers-while-it-is-drained',
    edits: [
      {
        file: running,
        find: 'if (at !== undefined && now >= at && isDraining(disruption)) {',
        replace: 'if (at !== undefined && now >= at + 3_600_000 && isDraining(disruption)) {',
      },
    ],
  },
];

const atBreakers: readonly Mutant[] = [
  {
    name: 'one-unhealthy-node-more-than-the-threshold-may-be-repaired',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'logic',
    story: 'three-nodes-fall-ill-one-after-the-other',
    edits: [{ file: breakers, find: 'unhealthy <= limit', replace: 'unhealthy <= limit + 1' }],
  },
  {
    name: 'the-percentage-of-the-threshold-is-rounded-up',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'logic',
    story: 'three-nodes-fall-ill-one-after-the-other',
    edits: [
      {
        file: breakers,
        find: 'Math.max(1, Math.floor((size * percentage) / 100))',
        replace: 'Math.max(1, Math.ceil((size * percentage) / 100))',
      },
    ],
  },
  {
    name: 'a-zone-that-is-down-is-not-seen',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'logic',
    story: 'a-zone-goes-down',
    edits: [{ file: breakers, find: 'own.down >= 2 &&', replace: 'own.down >= 20 &&' }],
  },
  {
    name: 'many-nodes-with-one-signal-are-repaired',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'logic',
    story: 'three-nodes-report-the-same',
    edits: [{ file: breakers, find: 'const signalNodes = 3;', replace: 'const signalNodes = 30;' }],
  },
  {
    name: 'a-control-plane-that-is-cut-off-is-not-seen',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'logic',
    story: 'the-control-plane-is-cut-off',
    edits: [
      { file: breakers, find: 'const partitionNodes = 3;', replace: 'const partitionNodes = 30;' },
      { file: breakers, find: 'const signalNodes = 3;', replace: 'const signalNodes = 30;' },
    ],
  },
  {
    name: 'no-cooldown-follows-a-breaker',
    oracles: ['repairs-stop-at-breakers'],
    kind: 'timing',
    story: 'three-nodes-report-the-same',
    edits: [
      {
        file: waiting,
        find: 'storm.length === 0 && now < taken.cooldownUntil',
        replace: 'storm.length === 0 && now < taken.cooldownUntil - 3_600_000',
      },
    ],
  },
];

const atOwners: readonly Mutant[] = [
  {
    name: 'an-audit-repairs',
    oracles: ['repairs-obey-their-owners'],
    kind: 'logic',
    story: 'a-group-is-audited',
    edits: [
      {
        file: waiting,
        find: "if (repairModeOf(group) === 'Audit') {",
        replace: "if (repairModeOf(group) === 'Off') {",
      },
    ],
  },
  {
    name: 'a-hold-on-the-node-is-not-heard',
    oracles: ['repairs-obey-their-owners'],
    kind: 'logic',
    story: 'an-operator-holds-a-node',
    edits: [
      {
        file: waiting,
        find: "...(askedOf(member) === 'hold' ? ['the node'] : []),",
        replace: '',
      },
    ],
  },
  {
    name: 'one-repair-more-than-may-run-is-started',
    oracles: ['repairs-obey-their-owners'],
    kind: 'logic',
    story: 'two-nodes-wait-for-each-other',
    edits: [
      { file: waiting, find: '...(taken.running >= most', replace: '...(taken.running > most' },
    ],
  },
  {
    name: 'a-repair-runs-once-its-drain-is-over',
    oracles: ['repairs-obey-their-owners'],
    kind: 'timing',
    story: 'two-nodes-wait-for-each-other',
    edits: [
      {
        file: decide,
        find: 'running: open.filter(isRunning).length,',
        replace: "running: open.filter(({ status }) => status?.phase === 'Verifying').length,",
      },
    ],
  },
];

const results: readonly Mutant[] = [
  {
    name: 'a-repair-makes-its-group-smaller',
    oracles: ['repairs-replace-what-they-end'],
    kind: 'logic',
    story: 'a-node-stays-ill',
    edits: [
      {
        file: 'src/core/termination/terminating.ts',
        find: "const decrementDesired = demand.followUp === 'Terminate';",
        replace: "const decrementDesired = demand.followUp !== 'Release';",
      },
    ],
  },
  {
    name: 'a-reboot-is-believed-without-another-boot',
    oracles: ['repairs-replace-what-they-end'],
    kind: 'logic',
    story: 'a-node-recovers-before-its-reboot',
    edits: [
      {
        file: running,
        find: 'bootId !== attempt?.bootId && at !== undefined',
        replace: 'at !== undefined',
      },
    ],
  },
  {
    name: 'a-reboot-is-believed-at-once',
    oracles: ['repairs-replace-what-they-end'],
    kind: 'timing',
    story: 'a-node-is-rebooted',
    edits: [{ file: running, find: 'if (isProven && now >= at) {', replace: 'if (isProven) {' }],
  },
  {
    name: 'two-repairs-count-one-replacement',
    oracles: ['repairs-replace-what-they-end'],
    kind: 'logic',
    story: 'two-nodes-are-replaced',
    edits: [{ file: running, find: '      !counted.has(member.instanceId) &&\n', replace: '' }],
  },
];

const once: readonly Mutant[] = [
  {
    name: 'an-episode-counts-until-its-reboot-is-done',
    oracles: ['each-episode-is-repaired-once'],
    kind: 'timing',
    story: 'a-reboot-does-not-help',
    edits: [
      {
        file: decide,
        find: 'isOpenRepair(one) && one.spec.instanceId === instanceId',
        replace:
          "isOpenRepair(one) && one.status?.phase !== 'Verifying' && one.spec.instanceId === instanceId",
      },
    ],
  },
  {
    name: 'a-reboot-that-did-not-help-is-tried-again',
    oracles: ['each-episode-is-repaired-once'],
    kind: 'logic',
    story: 'a-reboot-does-not-help',
    edits: [
      { file: running, find: 'due?.actions[tried] ??', replace: 'due?.actions[tried - 1] ??' },
    ],
  },
  {
    name: 'a-repair-that-failed-is-looked-at-again',
    oracles: ['each-episode-is-repaired-once'],
    kind: 'logic',
    story: 'a-reboot-fails-with-its-group',
    edits: [
      {
        file: decide,
        find: '!endedRepairPhases.includes(status.phase);',
        replace: "status.phase === 'Failed' || !endedRepairPhases.includes(status.phase);",
      },
    ],
  },
];

const ends: readonly Mutant[] = [
  {
    name: 'a-node-that-is-ready-is-never-ill',
    oracles: ['unhealthy-nodes-are-repaired'],
    kind: 'logic',
    story: 'a-node-stays-ill',
    edits: [
      {
        file: decide,
        find: "if (member.health.state !== 'Unhealthy') return undefined;",
        replace: "if (member.health.state !== 'Unhealthy' || member.isInService) return undefined;",
      },
    ],
  },
  {
    name: 'the-wait-is-counted-from-each-look',
    oracles: ['unhealthy-nodes-are-repaired'],
    kind: 'timing',
    story: 'a-node-stays-ill',
    edits: [
      {
        file: waiting,
        find: 'askedAt(repair, due, now) : dueAt(repair, due);',
        replace: 'askedAt(repair, due, now) : epochMs(Math.max(due.at, now + 60_000));',
      },
    ],
  },
  {
    name: 'as-many-unhealthy-nodes-as-may-be-are-a-breaker',
    oracles: ['unhealthy-nodes-are-repaired'],
    kind: 'logic',
    story: 'a-node-stays-ill',
    edits: [{ file: breakers, find: 'unhealthy <= limit', replace: 'unhealthy < limit' }],
  },
];

export const repairMutants: readonly Mutant[] = [
  ...waits,
  ...kept,
  ...healthy,
  ...atBreakers,
  ...atOwners,
  ...results,
  ...once,
  ...ends,
];
