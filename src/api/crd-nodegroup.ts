// The schemas of NodeGroup and NodeGroupUpdate: exactly the types of nodegroup.ts and
// nodegroup-update.ts, and the rules by which the API server refuses people's mistakes.
import { nodeRepairPolicy } from './crd-repair.ts';
import {
  boolean,
  conditions,
  count,
  generation,
  listOf,
  longText,
  mapOf,
  nodeLabels,
  object,
  oneOf,
  positive,
  type Schema,
  taint,
  text,
  time,
} from './crd-schema.ts';
import { stopTimesOf } from './crd-stop-times.ts';
import { hookFields, hookStatus } from './crd-update-hooks.ts';
import { newNodesStatus } from './crd-update-nodes.ts';
import { pacingFields, pacingStatus, timeZoneRule } from './crd-update-pacing.ts';
import { ownStrategyRules, updatePolicyFields, updatePolicyRules } from './crd-update-policy.ts';
import { maxDiskGiB } from './nodegroup.ts';
import { updatePhases, updateStrategies } from './nodegroup-update.ts';
import { stopTimesOfUpdate } from './stop-times.ts';

/** What cannot be changed on a living group: EKS makes another group for it. */
const immutable = (what: string, schema: Schema): Schema => ({
  ...schema,
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${what} of a node group cannot be changed` },
  ],
});

/** The rules of a field hold while it is there; these hold when it comes or goes. */
const settled = (field: string, message: string) => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message,
});

const scaling: Schema = {
  ...object({ minSize: count, maxSize: count, desired: count }),
  // EKS' rules by the names that fields have here, without numbers: CEL that formats them is dear.
  'x-kubernetes-validations': [
    {
      rule: '!has(self.minSize) || !has(self.maxSize) || self.minSize <= self.maxSize',
      message: "minSize can't be greater than maxSize",
    },
    {
      rule: '!has(self.desired) || !has(self.minSize) || self.minSize <= self.desired',
      message: "minSize can't be greater than desired",
    },
    {
      rule: '!has(self.desired) || !has(self.maxSize) || self.desired <= self.maxSize',
      message: "desired can't be greater than maxSize",
    },
  ],
};

const taints = listOf(taint, 50);

export const launchTemplateRef = object({ id: text(63), name: text(128), version: text(63) }, [
  'id',
  'version',
]);
const launchTemplate: Schema = {
  ...launchTemplateRef,
  'x-kubernetes-validations': [
    {
      rule: 'self.id == oldSelf.id',
      message: 'id of the launch template of a node group cannot be changed',
    },
  ],
};

/** Count and percentage of one threshold exclude each other, as in EKS. */
const oneThreshold = (threshold: string): Schema => ({
  rule: `!(has(self.${threshold}Count) && has(self.${threshold}Percentage))`,
  message: `only one of ${threshold}Count and ${threshold}Percentage may be set`,
});

const nodeRepairConfig: Schema = {
  'x-kubernetes-validations': [
    oneThreshold('maxUnhealthyNodeThreshold'),
    oneThreshold('maxParallelNodesRepaired'),
  ],
  ...object({
    enabled: boolean,
    maxUnhealthyNodeThresholdCount: positive,
    maxUnhealthyNodeThresholdPercentage: { ...positive, maximum: 100 },
    maxParallelNodesRepairedCount: positive,
    maxParallelNodesRepairedPercentage: { ...positive, maximum: 100 },
    nodeRepairConfigOverrides: listOf(
      object(
        {
          nodeMonitoringCondition: text(63),
          nodeUnhealthyReason: text(128),
          minRepairWaitTimeMins: positive,
          repairAction: oneOf(['Replace', 'Reboot', 'NoAction']),
        },
        ['nodeMonitoringCondition', 'nodeUnhealthyReason', 'minRepairWaitTimeMins', 'repairAction'],
      ),
      50,
    ),
  }),
};

const updateConfigRules: readonly Schema[] = [
  {
    rule: '!(has(self.maxUnavailable) && has(self.maxUnavailablePercentage))',
    message:
      'only one of maxUnavailable and maxUnavailablePercentage may be set: whoever sets one takes the other away (null in a merge patch)',
  },
  ...updatePolicyRules,
  ...ownStrategyRules,
];

const updateConfig: Schema = {
  ...object({
    maxUnavailable: { ...positive, maximum: 100 },
    maxUnavailablePercentage: { ...positive, maximum: 100 },
    updateStrategy: oneOf(updateStrategies),
    ...updatePolicyFields,
    ...pacingFields,
    ...hookFields,
  }),
  'x-kubernetes-validations': updateConfigRules,
};

/** What a change of one carries stood in a group already, whose rule it is. */
const updateConfigOfGroup: Schema = {
  ...updateConfig,
  'x-kubernetes-validations': [timeZoneRule, ...updateConfigRules],
};

const nodeGroupSpecFields: Schema = object({
  clusterName: immutable('clusterName', text(100)),
  autoScalingGroupName: immutable('autoScalingGroupName', text(255)),
  amiType: immutable('amiType', text(63)),
  capacityType: immutable('capacityType', oneOf(['ON_DEMAND', 'SPOT'])),
  // A launch template may name the type instead; that both do is seen when the group is made.
  instanceTypes: immutable('instanceTypes', { ...listOf(text(63), 20), default: [] }),
  version: text(63),
  releaseVersion: text(63),
  nodeRole: immutable('nodeRole', longText),
  subnets: immutable('subnets', listOf(text(63), 100)),
  scaling,
  labels: nodeLabels,
  taints,
  launchTemplate,
  remoteAccess: immutable(
    'remoteAccess',
    object({ ec2SshKey: text(255), sourceSecurityGroups: listOf(text(63), 16) }),
  ),
  diskSizeGiB: immutable('diskSizeGiB', { ...positive, maximum: maxDiskGiB }),
  tags: mapOf(text(256), 50),
  updateConfig: updateConfigOfGroup,
  nodeRepairConfig,
  nodeRepair: nodeRepairPolicy,
  lifecycleHooks: oneOf(['Manage', 'Leave']),
  deletionPolicy: oneOf(['Delete', 'Retain']),
  drain: object({
    timeoutSeconds: {
      ...count,
      maximum: 172_800,
    },
    onDeadline: oneOf(['force', 'fail']),
  }),
});

/** AWS tells them of a group that is adopted, and knows nothing of one that is to be created. */
const neededToCreate = [
  'clusterName',
  'amiType',
  'capacityType',
  'version',
  'nodeRole',
  'subnets',
  'scaling.minSize',
  'scaling.maxSize',
];
const createRules: readonly Schema[] = neededToCreate.map((field) => ({
  rule: `has(self.autoScalingGroupName) || ${field.startsWith('scaling.') ? 'has(self.scaling) && ' : ''}has(self.${field})`,
  message: `${field} is required, unless autoScalingGroupName names an Auto Scaling group to adopt`,
}));

/** Adopted or made by us, and of what: that is settled with the object. */
export const nodeGroupSpec: Schema = {
  ...nodeGroupSpecFields,
  'x-kubernetes-validations': [
    ...['autoScalingGroupName', 'remoteAccess', 'diskSizeGiB'].map((field) =>
      settled(field, `${field} of a node group cannot be changed`),
    ),
    {
      rule: 'has(self.autoScalingGroupName) || has(self.launchTemplate) == has(oldSelf.launchTemplate)',
      message: 'a node group that was made without a launch template cannot get one, nor lose it',
    },
    ...createRules,
  ],
};

/**
 * `kubectl scale` shows the server no deletionTimestamp; the state that the controller tells is
 * there.
 */
export const sizesOfLeaving = {
  rule: "!(has(oldSelf.status) && has(oldSelf.status.state) && oldSelf.status.state in ['DELETING', 'DELETE_FAILED']) || (has(self.spec.scaling) == has(oldSelf.spec.scaling) && (!has(self.spec.scaling) || self.spec.scaling == oldSelf.spec.scaling))",
  message:
    'Nodegroup cannot be updated as it is currently not in Active State: it is being deleted, and its nodes go whatever its sizes say',
};

const issue = {
  code: text(63),
  message: longText,
  resourceIds: listOf(text(), 20),
};
const issueFields = ['code', 'message', 'resourceIds'];

const sizes = { minSize: count, maxSize: count, desired: count };

const revision: Schema = object(
  {
    version: text(63),
    releaseVersion: text(63),
    imageId: text(63),
    templateVersion: text(63),
    launchTemplate: launchTemplateRef,
  },
  ['version', 'imageId', 'templateVersion'],
);

export const nodeGroupStatus: Schema = object(
  {
    observedGeneration: generation,
    state: text(63),
    ...sizes,
    instances: count,
    ready: count,
    perZone: mapOf(count, 50),
    perTemplateVersion: mapOf(count, 50),
    autoScalingGroupName: text(255),
    releaseVersion: text(63),
    imageId: text(63),
    createdAt: time,
    requested: object(sizes, ['minSize', 'maxSize']),
    scaleIn: object({ id: text(1024), target: count, since: time }, ['id', 'target', 'since']),
    failure: object({ ...issue, generation, at: time }, [...issueFields, 'generation', 'at']),
    failedUpdate: text(),
    nodeLabels: listOf(text(317), 100),
    nodeTaints: listOf(object({ key: text(317), effect: text(63) }, ['key', 'effect']), 100),
    nodeMarks: object({ applied: text(63), since: time, owed: listOf(text(63), 50) }, [
      'applied',
      'since',
    ]),
    templateGeneration: generation,
    surge: object(
      {
        desired: count,
        maxSize: count,
        base: count,
        retiring: count,
        carried: count,
        left: count,
        takenUntil: time,
        next: object({ desired: count, maxSize: count, carried: count }, [
          'desired',
          'maxSize',
          'carried',
        ]),
      },
      ['desired', 'maxSize'],
    ),
    sizeCalls: listOf(
      object({ ...sizes, epoch: generation, at: time, instead: object(sizes, []) }, [
        'epoch',
        'at',
      ]),
      5,
    ),
    updating: object(
      {
        name: text(),
        turn: text(1024),
        strategy: oneOf(updateStrategies),
        from: revision,
        target: revision,
        original: object(sizes, ['minSize', 'maxSize', 'desired']),
        nodes: count,
        surge: count,
        maxUnavailable: count,
        suspends: listOf(text(63), 10),
        suspendedIn: generation,
        skippedTypes: listOf(text(63), 20),
        restored: text(63),
      },
      ['name', 'strategy', 'from', 'target', 'original', 'nodes', 'surge', 'maxUnavailable'],
    ),
    requestedRevision: object(
      { version: text(63), releaseVersion: text(63), launchTemplate: launchTemplateRef },
      ['version'],
    ),
    capacityType: oneOf(['ON_DEMAND', 'SPOT']),
    version: text(63),
    launchTemplate: launchTemplateRef,
    adopted: object(
      {
        clusterName: text(100),
        capacityType: oneOf(['ON_DEMAND', 'SPOT']),
        instanceTypes: listOf(text(63), 40),
        subnets: listOf(text(63), 100),
        nodeRole: longText,
        launchTemplate: launchTemplateRef,
        version: text(63),
        imageId: text(63),
        minSize: count,
        maxSize: count,
      },
      ['clusterName', 'capacityType', 'instanceTypes', 'subnets', 'minSize', 'maxSize'],
    ),
    health: listOf(object(issue, issueFields), 20),
    conditions,
  },
  ['state', 'desired', 'minSize', 'maxSize', 'instances', 'ready'],
);

export const nodeGroupUpdateSpec: Schema = {
  ...object(
    {
      nodeGroup: text(),
      type: oneOf(['ConfigUpdate', 'VersionUpdate']),
      params: listOf(object({ type: text(63), value: text(16_384) }, ['type', 'value']), 40),
      change: object({
        scaling: object(sizes),
        addLabels: nodeLabels,
        removeLabels: listOf(text(317), 50),
        addTaints: taints,
        removeTaints: taints,
        updateConfig,
        nodeRepairConfig,
        version: text(63),
        releaseVersion: text(63),
        launchTemplate: launchTemplateRef,
      }),
      action: oneOf(['Update', 'Rollback']),
      force: boolean,
      replaceEqual: boolean,
      strategy: oneOf(updateStrategies),
      reason: longText,
      policies: { ...object(updatePolicyFields), 'x-kubernetes-validations': updatePolicyRules },
      waivers: listOf(object({ check: text(63), reason: longText, by: text() }, ['check']), 40),
      planHash: text(128),
      predicted: object({ p50Seconds: count, p90Seconds: count }, ['p50Seconds', 'p90Seconds']),
      paused: boolean,
      abort: oneOf(['Stop', 'RollBack']),
    },
    ['nodeGroup', 'type', 'params', 'change'],
  ),
  'x-kubernetes-validations': [
    ...['nodeGroup', 'type', 'params', 'change'].map((field) => ({
      rule: `self.${field} == oldSelf.${field}`,
      message: `${field} of an update never changes`,
    })),
    ...[
      'action',
      'force',
      'replaceEqual',
      'strategy',
      'reason',
      'policies',
      'waivers',
      'planHash',
      'predicted',
    ].map((field) => ({
      rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
      message: `${field} of an update never changes`,
    })),
    {
      rule: '!has(oldSelf.abort) || (has(self.abort) && self.abort == oldSelf.abort)',
      message: 'an update that is aborted stays so',
    },
  ],
};

export const nodeGroupUpdateStatus: Schema = object(
  {
    status: oneOf(['InProgress', 'Successful', 'Failed', 'Cancelled']),
    phase: oneOf(updatePhases),
    generation,
    startedAt: time,
    endedAt: time,
    errors: listOf(object(issue, issueFields), 20),
    message: longText,
    strategy: oneOf(updateStrategies),
    from: revision,
    target: revision,
    original: object(sizes, ['minSize', 'maxSize', 'desired']),
    suspends: listOf(text(63), 10),
    suspendedIn: generation,
    ...pacingStatus,
    ...hookStatus,
    stopTimes: stopTimesOf(stopTimesOfUpdate),
    maxUnavailable: count,
    surge: count,
    progress: object(
      {
        total: count,
        done: count,
        draining: count,
        failed: count,
        emptied: count,
        quarantined: count,
        eta: object({ p50: time, p90: time }, ['p50', 'p90']),
      },
      ['total', 'done', 'draining', 'failed'],
    ),
    pace: listOf(object({ at: time, done: count, paused: boolean }, ['at', 'done']), 20),
    ...newNodesStatus,
    waitingSince: time,
    phases: listOf(object({ phase: oneOf(updatePhases), at: time }, ['phase', 'at']), 40),
    failedNodes: listOf(
      object(
        {
          instanceId: text(63),
          node: text(),
          message: longText,
          outcome: oneOf(['Skipped', 'Quarantined', 'Paused']),
        },
        ['instanceId', 'message'],
      ),
      20,
    ),
    goesBack: longText,
    pausedSince: time,
    leftover: count,
    restored: text(63),
    ending: oneOf(['Failed', 'Cancelled']),
  },
  ['status'],
);
