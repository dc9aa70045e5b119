// The fields of eksctl's ClusterConfig (eksctl.io/v1alpha5), as facts: those that Drover honours or
// records, and those that it refuses with a reason. Never decides what a value leads to.
import { flag, integer, list, map, object, refused, type Shape, text } from './shape.ts';

const resourceId = (prefix: string): Shape =>
  text({
    pattern: {
      regex: new RegExp(`^${prefix}-[0-9a-f]{8,17}$`),
      says: `an id such as ${prefix}-0ea5be4984975e8ed`,
    },
  });

const cidr = text({
  pattern: { regex: /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/, says: 'a CIDR such as 192.168.0.0/16' },
});

/** EKS' rule for names of node groups. */
const groupName = text({
  pattern: {
    regex: /^[0-9A-Za-z][A-Za-z0-9_-]{0,62}$/,
    says: 'up to 63 letters, digits, - and _, beginning with a letter or digit',
  },
});
/** EKS' rule for names of clusters. */
const clusterName = text({
  pattern: {
    regex: /^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/,
    says: 'up to 100 letters, digits, - and _, beginning with a letter or digit',
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

const subnet = object({ id: resourceId('subnet'), az: text(), cidr });
const taint = object(
  {
    key: text(),
    value: text(),
    effect: text({ oneOf: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] }),
  },
  ['key', 'effect'],
);

const nodeRepairOverride = object(
  {
    nodeMonitoringCondition: text(),
    nodeUnhealthyReason: text(),
    minRepairWaitTimeMins: integer({ min: 1 }),
    repairAction: text({ oneOf: ['Replace', 'Reboot', 'NoAction'] }),
  },
  ['nodeMonitoringCondition', 'nodeUnhealthyReason', 'minRepairWaitTimeMins', 'repairAction'],
);

/** What both kinds of node group take. */
const groupFields: Readonly<Record<string, Shape>> = {
  name: groupName,
  amiFamily: text({ oneOf: amiFamilies }),
  ami: text(),
  instanceType: text(),
  desiredCapacity: integer({ min: 0 }),
  minSize: integer({ min: 0 }),
  maxSize: integer({ min: 0 }),
  volumeSize: integer({ min: 1, max: 16_384 }),
  volumeType: text({ oneOf: ['gp2', 'gp3', 'io1', 'io2', 'sc1', 'st1'] }),
  volumeEncrypted: flag(),
  privateNetworking: flag(),
  availabilityZones: list(text()),
  subnets: list(text()),
  labels: map(text()),
  tags: map(text()),
  ssh: object({
    allow: flag(),
    publicKeyName: text(),
    publicKey: refused('import the key to EC2 and name it in publicKeyName'),
    publicKeyPath: refused('import the key to EC2 and name it in publicKeyName'),
    enableSsm: refused('every family of today carries the SSM agent'),
    sourceSecurityGroupIds: list(text()),
  }),
  iam: object({
    instanceRoleARN: text(),
    instanceProfileARN: text(),
    instanceRoleName: text(),
    attachPolicyARNs: list(text()),
    withAddonPolicies: map(flag()),
    attachPolicy: later,
  }),
  maxPodsPerNode: integer({ min: 1, max: 737 }),
  preBootstrapCommands: list(text()),
  overrideBootstrapCommand: text(),
  disableIMDSv1: flag(),
  disablePodIMDS: flag(),
  propagateASGTags: flag(),
  securityGroups: later,
  additionalVolumes: later,
  efaEnabled: later,
  gpu: later,
  placement: later,
  outpostARN: later,
  capacityReservation: later,
  instanceSelector: refused('name the instance types'),
};

const managedGroup = object(
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

const selfManagedGroup = object(
  {
    ...groupFields,
    taints: list(taint),
    clusterDNS: text(),
    kubeletExtraConfig: later,
    instancesDistribution: later,
    asgMetricsCollection: later,
    asgSuspendProcesses: list(text()),
    classicLoadBalancerNames: later,
    targetGroupARNs: list(text()),
    maxInstanceLifetime: later,
    cpuCredits: later,
    containerRuntime: text({ oneOf: ['containerd'] }),
  },
  ['name'],
);

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
      serviceRoleARN: text(),
      serviceRolePermissionsBoundary: text(),
      serviceAccounts: refused('create the ServiceAccount and its role yourself'),
      podIdentityAssociations: later,
    }),
    vpc: object({
      id: resourceId('vpc'),
      cidr,
      securityGroup: text(),
      subnets: object({ public: map(subnet), private: map(subnet) }),
      nat: object({ gateway: text({ oneOf: ['Disable', 'Single', 'HighlyAvailable'] }) }),
      clusterEndpoints: object({ publicAccess: flag(), privateAccess: flag() }),
      publicAccessCIDRs: list(cidr),
      autoAllocateIPv6: later,
    }),
    availabilityZones: list(text()),
    cloudWatch: object({
      clusterLogging: object({
        enableTypes: list(text({ oneOf: logTypes })),
        logRetentionInDays: integer({ min: 1 }),
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
      bootstrapClusterCreatorAdminPermissions: flag(),
      accessEntries: later,
    }),
    addons: list(
      object(
        {
          name: text(),
          version: text(),
          resolveConflicts: text({ oneOf: ['none', 'overwrite', 'preserve'] }),
          configurationValues: text(),
          serviceAccountRoleARN: text(),
          tags: map(text()),
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
