// The schemas of NodeRepair and of NodeGroup.spec.nodeRepair: exactly the types of node-repair.ts,
// with the texts of `kubectl explain`.
import {
  boolean,
  count,
  listOf,
  longText,
  object,
  oneOf,
  type Schema,
  text,
  time,
} from './crd-schema.ts';
import type { Words } from './crd-words.ts';
import {
  overrulableBlockers,
  repairActions,
  repairBlockers,
  repairPhases,
  requestableActions,
} from './node-repair.ts';

const daySeconds = 86_400;
const seconds: Schema = { ...count, maximum: daySeconds };

export const nodeRepairPolicy: Schema = object({
  mode: oneOf(['Audit', 'Enforce']),
  rules: listOf(
    object(
      {
        condition: text(63),
        reason: text(128),
        waitSeconds: seconds,
        actions: { ...listOf(oneOf(repairActions), 3), minItems: 1 },
      },
      ['condition'],
    ),
    50,
  ),
  drainTimeoutSeconds: seconds,
  startupTimeoutSeconds: seconds,
  healthyDelaySeconds: seconds,
  stormCooldownSeconds: seconds,
  collectBundle: boolean,
  quarantine: object({
    timeLimitSeconds: { ...count, minimum: 60, maximum: 30 * daySeconds },
    maxInstances: { ...count, maximum: 100 },
  }),
});

export const nodeRepairPolicyWords: Words = {
  mode:
    'Audit decides and reports what would be repaired, and changes nothing. Enforce (default) ' +
    'repairs.',
  rules: [
    "Drover's own rules per condition and reason; nodeRepairConfigOverrides go before them.",
    {
      condition: 'Condition of the node, such as Ready or NetworkingReady.',
      reason: 'Its reason, or the beginning of one followed by *; absent = every reason.',
      waitSeconds: 'How long it must last before the node is repaired.',
      actions: 'Replace, Reboot, Quarantine or NoAction, tried in this order; default: Replace.',
    },
  ],
  drainTimeoutSeconds:
    'How long the drain of a node that can still drain may take; default: that of the group.',
  startupTimeoutSeconds:
    'An instance that is not a node after this time is replaced; 0 = never. Default: 900.',
  healthyDelaySeconds: 'A node that is healthy for this long has recovered. Default: 180.',
  stormCooldownSeconds: 'No repair starts for this long after a breaker has closed. Default: 300.',
  collectBundle:
    'Before a Replace or a Reboot, ask the node agent for its logs, and wait for 60 s at most.',
  quarantine: [
    'For the action Quarantine: the instance leaves its group and is kept for inspection.',
    {
      timeLimitSeconds:
        'The instance is terminated this long after it left the group. Default: 86400.',
      maxInstances: 'Beyond this number, nodes are replaced instead. Default: 1.',
    },
  ],
};

export const nodeRepairSpec: Schema = object(
  {
    nodeGroup: text(),
    instanceId: text(63),
    node: object({ name: text(), uid: text(63) }, ['name', 'uid']),
    availabilityZone: text(63),
    unhealthySince: time,
    condition: text(63),
    reason: text(128),
    requested: object(
      {
        action: oneOf(requestableActions),
        at: time,
        by: text(),
        overrule: listOf(oneOf(overrulableBlockers), overrulableBlockers.length),
      },
      ['action', 'at'],
    ),
  },
  ['nodeGroup', 'instanceId', 'unhealthySince', 'condition', 'reason'],
);

export const nodeRepairStatus: Schema = object(
  {
    phase: oneOf(repairPhases),
    message: longText,
    findings: listOf(
      object({ condition: text(63), reason: text(128), since: time, message: longText }, [
        'condition',
        'reason',
        'since',
      ]),
      16,
    ),
    action: oneOf(repairActions),
    eligibleAt: time,
    blockedBy: listOf(
      object({ kind: oneOf(repairBlockers), message: longText, until: time }, ['kind', 'message']),
      repairBlockers.length,
    ),
    cooldownUntil: time,
    attempts: listOf(
      object(
        {
          action: oneOf(repairActions),
          causeId: text(1024),
          startedAt: time,
          bootId: text(63),
          bundle: object(
            {
              requestedAt: time,
              endedAt: time,
              outcome: oneOf(['Collected', 'NotCollected']),
              message: longText,
            },
            ['requestedAt'],
          ),
          endedAt: time,
          outcome: oneOf(['Succeeded', 'Failed']),
          message: longText,
        },
        ['action', 'causeId', 'startedAt'],
      ),
      8,
    ),
    replacement: text(63),
    quarantinedUntil: time,
    endedAt: time,
  },
  ['phase'],
);

/** An episode cannot change its instance or its start, from which the waits are counted. */
export const repairIdentity: Schema = {
  rule:
    'self.spec.instanceId == oldSelf.spec.instanceId && self.spec.unhealthySince == ' +
    'oldSelf.spec.unhealthySince',
  message: 'instanceId and unhealthySince of a NodeRepair cannot be changed',
};

export const nodeRepairObjectWords: Words = {
  spec: [
    'Which instance is ill, and since when.',
    {
      nodeGroup: 'Its NodeGroup.',
      instanceId: 'The EC2 instance.',
      node: ['Its node, where it had one.', { name: 'Its name.', uid: 'Its uid.' }],
      availabilityZone: 'Zone of the instance.',
      unhealthySince: 'When the episode began.',
      condition: 'The condition with which it began; Operator where it began with a request.',
      reason: 'Its reason.',
      requested: [
        'A repair that an operator asks for: it starts without a wait.',
        {
          action: 'Replace, Reboot or Quarantine.',
          at: 'When it was asked for.',
          by: 'Who asked for it.',
          overrule: 'Blockers that do not hold it up, such as groupUnhealthy.',
        },
      ],
    },
  ],
  status: [
    'What is decided and done.',
    {
      phase:
        'Waiting, Blocked, WouldRepair (audit), Repairing, Verifying, Quarantined, Succeeded, ' +
        'Failed or Cancelled.',
      message: 'Why it is where it is, in one line.',
      findings: [
        'Conditions of this episode.',
        {
          condition: 'Name of the condition.',
          reason: 'Its reason.',
          since: 'When it was first seen in this episode; a flap does not move that.',
          message: 'What the agent or the kubelet says.',
        },
      ],
      action: 'What is done next.',
      eligibleAt: 'When its wait is over.',
      blockedBy: [
        'Why it is not repaired although its wait is over.',
        {
          kind: 'What holds it up, in one word.',
          message: 'The same in a sentence.',
          until: 'When that ends by itself.',
        },
      ],
      cooldownUntil: 'A breaker has closed; no repair of the group starts before.',
      attempts: [
        'What was tried, in order.',
        {
          action: 'Replace, Reboot or Quarantine.',
          causeId: 'Id of its cause on the NodeDisruption.',
          startedAt: 'When it was decided.',
          bootId: 'Boot id of the machine at that time.',
          bundle: [
            'The log bundle that the node agent is asked for before the action.',
            {
              requestedAt: 'When it was asked for.',
              endedAt: 'When the agent answered, or the repair went on without an answer.',
              outcome: 'Collected or NotCollected.',
              message: 'Where the bundle is, or why there is none.',
            },
          ],
          endedAt: 'When it ended.',
          outcome: 'Succeeded or Failed.',
          message: 'How it ended.',
        },
      ],
      replacement: 'The instance that took its place.',
      quarantinedUntil: 'When the detached instance is terminated.',
      endedAt: 'When the episode ended.',
    },
  ],
};
