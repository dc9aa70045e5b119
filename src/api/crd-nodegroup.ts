// The schema of NodeGroup: exactly the types of nodegroup.ts, and the rules by which the API server
// refuses mistakes. Fields shared with NodeGroupUpdate are defined here.
import { drainPolicy } from './crd-drain-policy.ts';
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
import { hookFields } from './crd-update-hooks.ts';
import { pacingFields, timeZoneRule } from './crd-update-pacing.ts';
import { ownStrategyRules, updatePolicyFields, updatePolicyRules } from './crd-update-policy.ts';
import { maxDiskGiB } from './nodegroup.ts';
import { updateStrategies } from './nodegroup-update.ts';

/** A field that cannot be changed on an existing group: EKS requires a new group for that. */
const immutable = (what: string, schema: Schema): Schema => ({
  ...schema,
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: `${what} of a node group cannot be changed` },
  ],
});

/** Forbids adding or removing the field. The field's own rules apply only while it exists. */
const settled = (field: string, message: string) => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message,
});

const scaling: Schema = {
  ...object({ minSize: count, maxSize: count, desired: count }),
  // EKS' rules with Drover's field names. Messages omit the values: formatting numbers is expensive
  // in CEL.
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

export const taints = listOf(taint, 50);

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

export const nodeRepairConfig: Schema = {
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
      'only one of maxUnavailable and maxUnavailablePercentage may be set: whoever sets one ' +
      'takes the other away (null in a merge patch)',
  },
  ...updatePolicyRules,
  ...ownStrategyRules,
];

export const updateConfig: Schema = {
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

/**
 * updateConfig of a NodeGroup, with the rule for time zones. An update copies a value that its
 * group already has, so its own schema omits that rule.
 */
const updateConfigOfGroup: Schema = {
  ...updateConfig,
  'x-kubernetes-validations': [timeZoneRule, ...updateConfigRules],
};

const nodeGroupSpecFields: Schema = object({
  clusterName: immutable('clusterName', text(100)),
  autoScalingGroupName: immutable('autoScalingGroupName', text(255)),
  amiType: immutable('amiType', text(63)),
  capacityType: immutable('capacityType', oneOf(['ON_DEMAND', 'SPOT'])),
  // A launch template may name the type instead; a conflict is detected when the group is created.
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
  drain: drainPolicy,
});

/** AWS reports these for an adopted group; a group that is to be created must state them. */
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
  rule:
    'has(self.autoScalingGroupName) || ' +
    `${field.startsWith('scaling.') ? 'has(self.scaling) && ' : ''}has(self.${field})`,
  message: `${field} is required, unless autoScalingGroupName names an Auto Scaling group to adopt`,
}));

/**
 * An existing object cannot change whether its group is adopted or created, or which Auto Scaling
 * group it adopts.
 */
export const nodeGroupSpec: Schema = {
  ...nodeGroupSpecFields,
  'x-kubernetes-validations': [
    ...['autoScalingGroupName', 'remoteAccess', 'diskSizeGiB'].map((field) =>
      settled(field, `${field} of a node group cannot be changed`),
    ),
    {
      rule:
        'has(self.autoScalingGroupName) || has(self.launchTemplate) == ' +
        'has(oldSelf.launchTemplate)',
      message: 'a node group that was made without a launch template cannot get one, nor lose it',
    },
    ...createRules,
  ],
};

/**
 * A `kubectl scale` request does not contain the deletionTimestamp, so the rule uses the state that
 * the controller reports.
 */
export const sizesOfLeaving = {
  rule:
    '!(has(oldSelf.status) && has(oldSelf.status.state) && oldSelf.status.state in ' +
    "['DELETING', 'DELETE_FAILED']) || (has(self.spec.scaling) == has(oldSelf.spec.scaling) " +
    '&& (!has(self.spec.scaling) || self.spec.scaling == oldSelf.spec.scaling))',
  message:
    'Nodegroup cannot be updated as it is currently not in Active State: it is being ' +
    'deleted, and its nodes go whatever its sizes say',
};

export const issue = {
  code: text(63),
  message: longText,
  resourceIds: listOf(text(), 20),
};
export const issueFields = ['code', 'message', 'resourceIds'];

export const sizes = { minSize: count, maxSize: count, desired: count };

export const revision: Schema = object(
  {
    version: text(63),
    releaseVersion: text(63),
    imageId: text(63),
    templateVersion: text(63),
    replaceEqual: boolean,
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
