// The fields of eksctl's ClusterConfig (eksctl.io/v1alpha5) as data: those that Drover honours or
// records, and those that it refuses with a reason. Never decides the effect of a value.
import { accessEntriesShape } from './access-entries.ts';
import { repairActionWords } from './repair-words.ts';
import { flag, integer, list, map, object, refused, type Shape, text } from './shape.ts';

const resourceId = (prefix: string): Shape =>
  text({
    pattern: {
      regex: new RegExp(`^${prefix}-[0-9a-f]{8,17}$`),
      says: `an id such as ${prefix}-0ea5be4984975e8ed`,
    },
  });

const cidr = text({
  pattern: {
    regex: /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\/)|(?=\/))){4}\/(?:3[0-2]|[12]?\d)$/,
    says: 'a CIDR such as 192.168.0.0/16',
  },
});

/**
 * EKS also allows _, but CloudFormation does not in a stack's name, of which this name is a part.
 * It is also a node label's value, which ends with a letter or digit. For managed groups, which are
 * objects, core/nodegroup has further rules.
 */
const groupName = text({
  pattern: {
    regex: /^[0-9A-Za-z](?:[A-Za-z0-9-]{0,61}[0-9A-Za-z])?$/,
    says: 'up to 63 letters, digits and -, with a letter or digit at both ends',
  },
});
const noIops = 'EC2 wants Iops with it, which cannot be said here; use gp3';
const noBoot = 'EC2 boots from no such volume; use gp3';

const clusterName = text({
  pattern: {
    regex: /^[0-9A-Za-z][A-Za-z0-9-]{0,99}$/,
    says: 'up to 100 letters, digits and -, beginning with a letter or digit',
  },
});

export const amiFamilies = [
  'AmazonLinux2023',
  'AmazonLinux2',
  'Bottlerocket',
  'Ubuntu2004',
  'Ubuntu2204',
  'Ubuntu2404',
  'UbuntuPro2204',
  'UbuntuPro2404',
  'WindowsServer2019CoreContainer',
  'WindowsServer2019FullContainer',
  'WindowsServer2022CoreContainer',
  'WindowsServer2022FullContainer',
  'WindowsServer2025CoreContainer',
  'WindowsServer2025FullContainer',
] as const;

const later = refused('Drover does not do this');
const noPods = refused('Drover runs no pods without nodes');

/**
 * Kubernetes' rules for labels and taints: an optional DNS prefix, then a name of at most 63
 * characters.
 */
const labelKey = {
  regex:
    /^(?=.{1,317}$)(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/,
  says:
    'up to 63 letters, digits, -, _ and ., with a letter or digit at both ends, after an ' +
    'optional DNS prefix/',
};
const labelValue = text({
  pattern: {
    regex: /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/,
    says: 'up to 63 letters, digits, -, _ and ., with a letter or digit at both ends',
  },
});
const roleArn = text({
  pattern: {
    regex: /^arn:aws[a-z-]*:iam::\d{12}:role\/\S+$/,
    says: 'a role such as arn:aws:iam::111122223333:role/NAME',
  },
});
const policyArn = text({
  pattern: {
    regex: /^arn:aws[a-z-]*:iam::(?:aws|\d{12}):policy\/\S+$/,
    says: 'a policy such as arn:aws:iam::aws:policy/NAME',
  },
});

const subnet = object({ id: resourceId('subnet'), az: text(), cidr });
const taint = object(
  {
    key: text({ pattern: labelKey }),
    value: labelValue,
    effect: text({ oneOf: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] }),
  },
  ['key', 'effect'],
);

const nodeRepairOverride = object(
  {
    nodeMonitoringCondition: text(),
    nodeUnhealthyReason: text(),
    minRepairWaitTimeMins: integer({ min: 1 }),
    repairAction: text({ oneOf: repairActionWords }),
  },
  ['nodeMonitoringCondition', 'nodeUnhealthyReason', 'minRepairWaitTimeMins', 'repairAction'],
);

/** Fields of both kinds of node group. */
const groupFields: Readonly<Record<string, Shape>> = {
  name: groupName,
  amiFamily: text({ oneOf: amiFamilies }),
  ami: resourceId('ami'),
  instanceType: text(),
  desiredCapacity: integer({ min: 0 }),
  minSize: integer({ min: 0 }),
  maxSize: integer({ min: 0 }),
  volumeSize: integer({ min: 1, max: 16_384 }),
  volumeType: text({
    oneOf: ['gp2', 'gp3'],
    refused: { io1: noIops, io2: noIops, sc1: noBoot, st1: noBoot },
  }),
  volumeEncrypted: flag(),
  privateNetworking: flag(),
  availabilityZones: list(text()),
  subnets: list(text()),
  labels: map(labelValue, labelKey),
  tags: map(text()),
  ssh: object({
    allow: flag(),
    publicKeyName: text(),
    publicKey: refused('import the key to EC2 and name it in publicKeyName'),
    publicKeyPath: refused('import the key to EC2 and name it in publicKeyName'),
    enableSsm: refused('every family of today carries the SSM agent'),
    sourceSecurityGroupIds: list(resourceId('sg')),
  }),
  iam: object({
    instanceRoleARN: roleArn,
    instanceProfileARN: refused('name the role in instanceRoleARN; its profile is made'),
    instanceRoleName: refused('CloudFormation names the role; bring one with instanceRoleARN'),
    attachPolicyARNs: list(policyArn),
    withAddonPolicies: refused('name the policies in attachPolicyARNs'),
    attachPolicy: later,
  }),
  maxPodsPerNode: integer({ min: 1, max: 737 }),
  preBootstrapCommands: list(text()),
  overrideBootstrapCommand: text(),
  disableIMDSv1: flag(),
  disablePodIMDS: flag(),
  propagateASGTags: flag({
    value: false,
    why: 'labels and taints are not written as tags of the Auto Scaling group',
  }),
  securityGroups: later,
  additionalVolumes: later,
  efaEnabled: later,
  gpu: later,
  placement: later,
  outpostARN: later,
  capacityReservation: later,
  instanceSelector: refused('name the instance types'),
};

export const managedGroup = object(
  {
    ...groupFields,
    instanceTypes: list(text()),
    spot: flag(),
    releaseVersion: text(),
    taints: list(taint),
    updateConfig: object({
      maxUnavailable: integer({ min: 1, max: 100 }),
      maxUnavailablePercentage: integer({ min: 1, max: 100 }),
      updateStrategy: text({ oneOf: ['DEFAULT', 'MINIMAL'] }),
    }),
    nodeRepairConfig: object({
      enabled: flag(),
      maxUnhealthyNodeThresholdCount: integer({ min: 1 }),
      maxUnhealthyNodeThresholdPercentage: integer({ min: 1, max: 100 }),
      maxParallelNodesRepairedCount: integer({ min: 1 }),
      maxParallelNodesRepairedPercentage: integer({ min: 1, max: 100 }),
      nodeRepairConfigOverrides: list(nodeRepairOverride),
    }),
    launchTemplate: object({ id: resourceId('lt'), version: text() }, ['id']),
  },
  ['name'],
);

export const selfManagedGroup = object(
  {
    ...groupFields,
    taints: list(taint),
    // Accepted only to report faults that say what to use instead.
    instanceTypes: list(text()),
    spot: flag(),
    clusterDNS: refused('nodes ask the DNS of their cluster'),
    kubeletExtraConfig: later,
    instancesDistribution: later,
    asgMetricsCollection: later,
    asgSuspendProcesses: refused('suspend them with `aws autoscaling suspend-processes`'),
    classicLoadBalancerNames: later,
    targetGroupARNs: refused('attach it with `aws autoscaling attach-traffic-sources`'),
    maxInstanceLifetime: later,
    cpuCredits: later,
    containerRuntime: text({ oneOf: ['containerd'] }),
  },
  ['name'],
);

const natGateway = text({
  oneOf: ['Disable', 'Single'],
  refused: { HighlyAvailable: 'one gateway serves every zone; write Single' },
});

const logTypes = ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler', 'all', '*'];

export const clusterConfigShape = object(
  {
    apiVersion: text({ oneOf: ['eksctl.io/v1alpha5'] }),
    kind: text({ oneOf: ['ClusterConfig'] }),
    metadata: object(
      {
        name: clusterName,
        region: text({
          pattern: { regex: /^[a-z]{2}(-[a-z]+)+-\d$/, says: 'a region such as eu-west-1' },
        }),
        version: text({ pattern: { regex: /^1\.\d{1,2}$/, says: 'a version such as "1.32"' } }),
        tags: map(text()),
        annotations: map(text()),
      },
      ['name', 'region'],
    ),
    kubernetesNetworkConfig: object({
      ipFamily: text({ oneOf: ['IPv4', 'ipv4'] }),
      serviceIPv4CIDR: cidr,
    }),
    iam: object({
      withOIDC: flag(),
      serviceRoleARN: roleArn,
      serviceRolePermissionsBoundary: policyArn,
      serviceAccounts: refused('create the ServiceAccount and its role yourself'),
      podIdentityAssociations: later,
    }),
    vpc: object({
      id: resourceId('vpc'),
      cidr,
      securityGroup: resourceId('sg'),
      subnets: object({ public: map(subnet), private: map(subnet) }),
      nat: object({ gateway: natGateway }),
      clusterEndpoints: object({ publicAccess: flag(), privateAccess: flag() }),
      publicAccessCIDRs: list(cidr),
      autoAllocateIPv6: later,
    }),
    availabilityZones: list(text()),
    cloudWatch: object({
      clusterLogging: object({
        enableTypes: list(text({ oneOf: logTypes })),
        logRetentionInDays: refused('set it with `aws logs put-retention-policy`'),
      }),
    }),
    autoModeConfig: object({
      enabled: flag({
        value: false,
        why: 'Auto Mode nodes are run by EKS itself; Drover runs node groups',
      }),
      nodeRoleARN: later,
      nodePools: later,
    }),
    accessConfig: object({
      authenticationMode: text({ oneOf: ['CONFIG_MAP', 'API_AND_CONFIG_MAP', 'API'] }),
      bootstrapClusterCreatorAdminPermissions: flag({
        value: true,
        why: 'the creator of the cluster has to authorize its nodes',
      }),
      accessEntries: accessEntriesShape,
    }),
    addons: list(
      object(
        {
          name: text(),
          version: text(),
          resolveConflicts: refused('`drover create addon --force` takes over existing components'),
          configurationValues: text(),
          serviceAccountRoleARN: refused('set it with `aws eks update-addon`'),
          tags: refused('set them with `aws eks tag-resource`'),
        },
        ['name'],
      ),
    ),
    addonsConfig: object({ disableDefaultAddons: flag() }),
    managedNodeGroups: list(managedGroup),
    nodeGroups: list(selfManagedGroup),
    fargateProfiles: noPods,
    identityProviders: later,
    secretsEncryption: later,
    privateCluster: later,
    karpenter: refused('install Karpenter beside Drover'),
    gitops: refused('install Flux beside Drover'),
    outpost: later,
    remoteNetworkConfig: later,
    zonalShiftConfig: later,
    iamIdentityMappings: refused('edit the ConfigMap kube-system/aws-auth'),
  },
  ['apiVersion', 'kind', 'metadata'],
);
