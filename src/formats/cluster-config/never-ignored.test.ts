// Every accepted field has an effect; a field without effect is refused with a reason.
import { describe, expect, it } from 'vitest';
import { faultLine } from './check.ts';
import { parseClusterConfig } from './config.ts';

const head = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c1, region: eu-west-1}
`;
const faultsOf = (text: string): readonly string[] => {
  const result = parseClusterConfig(`${head}${text}`);
  return result.kind === 'ok' ? [] : result.faults.map((fault) => faultLine('f', fault));
};
const managed = (fields: string) => `managedNodeGroups: [{name: a, ${fields}}]`;
const own = (fields: string) => `nodeGroups: [{name: a, ${fields}}]`;
const network = 'id: vpc-01234567, subnets: {private: {x: {id: subnet-01234567}}}';
const ami = 'ami: ami-0123456789abcdef0';
const template = 'launchTemplate: {id: lt-01234567}';
const role = 'arn:aws:iam::111122223333:role/r';
const view = 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy';

describe('refused', () => {
  it.each([
    ['vpc: {nat: {gateway: HighlyAvailable}}', /vpc\.nat\.gateway cannot be HighlyAvailable: one/],
    ['cloudWatch: {clusterLogging: {logRetentionInDays: 7}}', /logRetentionInDays is not support/],
    [`addons: [{name: a, serviceAccountRoleARN: '${role}'}]`, /serviceAccountRoleARN is not supp/],
    ['addons: [{name: a, tags: {b: c}}]', /addons\[0\]\.tags is not supported/],
    ['addons: [{name: a, resolveConflicts: overwrite}]', /resolveConflicts is not supported/],
    [
      'accessConfig: {bootstrapClusterCreatorAdminPermissions: false}',
      /bootstrapClusterCreatorAdminPermissions cannot be false/,
    ],
    [
      `accessConfig: {authenticationMode: CONFIG_MAP, accessEntries: [{principalARN: '${role}'}]}`,
      /accessEntries with authenticationMode CONFIG_MAP/,
    ],
    [
      `accessConfig: {accessEntries: [{principalARN: '${role}', type: EC2_LINUX, kubernetesGroups: [a]}]}`,
      /accessEntries\[0\] is of type EC2_LINUX/,
    ],
    [
      `accessConfig: {accessEntries: [{principalARN: '${role}', type: EC2_LINUX, accessPolicies: [{policyARN: '${view}', accessScope: {type: cluster}}]}]}`,
      /accessEntries\[0\] is of type EC2_LINUX, which has no policies.*only STANDARD and EC2/,
    ],
    [
      `accessConfig: {accessEntries: [{principalARN: '${role}'}, {principalARN: '${role}'}]}`,
      /accessEntries\[1\] is a second entry of arn:/,
    ],
    [
      `accessConfig: {accessEntries: [{principalARN: '${role}', accessPolicies: [{policyARN: '${view}', accessScope: {type: namespace}}]}]}`,
      /accessEntries\[0\] has a policy for namespaces and names none/,
    ],
    [`accessConfig: {accessEntries: [{principalARN: me}]}`, /principalARN .*IAM role or user/],
    [`accessConfig: {accessEntries: [{principalARN: '${role}', tags: {a: b}}]}`, /tags/],
    ['vpc: {subnets: {public: {x: {az: eu-west-1a}}}}', /vpc\.subnets without vpc\.id/],
    ['vpc: {securityGroup: sg-01234567}', /vpc\.securityGroup without vpc\.id/],
    [`vpc: {${network}, nat: {gateway: Disable}}`, /vpc\.nat with vpc\.id/],
    [`vpc: {${network}}\navailabilityZones: [eu-west-1a]`, /availabilityZones with vpc\.id/],
    [
      `iam: {serviceRoleARN: '${role}', serviceRolePermissionsBoundary: 'arn:aws:iam::aws:policy/p'}`,
      /serviceRolePermissionsBoundary with iam\.serviceRoleARN/,
    ],
    [managed('iam: {withAddonPolicies: {ebs: true}}'), /withAddonPolicies is not supported/],
    [managed('volumeType: io1'), /volumeType cannot be io1: EC2 wants Iops with it/],
    [managed('volumeType: st1'), /volumeType cannot be st1: EC2 boots from no such volume/],
    [managed('iam: {instanceProfileARN: x}'), /instanceProfileARN is not supported/],
    [managed('iam: {instanceRoleName: x}'), /instanceRoleName is not supported/],
    [managed('propagateASGTags: true'), /propagateASGTags cannot be true/],
    [own('clusterDNS: 10.0.0.1'), /clusterDNS is not supported/],
    [own('asgSuspendProcesses: [AZRebalance]'), /asgSuspendProcesses is not supported/],
    [own('targetGroupARNs: [x]'), /targetGroupARNs is not supported/],
    [
      managed('preBootstrapCommands: [ls]'),
      /\[0\]\.preBootstrapCommands is not supported here: EKS/,
    ],
    [managed('maxPodsPerNode: 20'), /\[0\]\.maxPodsPerNode is not supported here: EKS writes/],
    [managed('overrideBootstrapCommand: x'), /\.overrideBootstrapCommand is not supported here: E/],
    [
      managed(
        `${ami}, overrideBootstrapCommand: x, maxPodsPerNode: 20, preBootstrapCommands: [ls]`,
      ),
      /preBootstrapCommands is not supported here: override[\s\S]*maxPodsPerNode is not supp/,
    ],
    [managed(`${ami}, amiFamily: Ubuntu2204`), /amiFamily is not supported here: no bootstrap of/],
    [
      managed(`${ami}, amiFamily: Bottlerocket, preBootstrapCommands: [ls]`),
      /preBootstrapCommands is not supported here: Bottlerocket has no shell/,
    ],
    [own('amiFamily: Bottlerocket, preBootstrapCommands: [ls]'), /Bottlerocket has no shell/],
    ...['AmazonLinux2023', 'Bottlerocket', 'WindowsServer2022CoreContainer'].map(
      (family) =>
        [
          own(`amiFamily: ${family}, overrideBootstrapCommand: x`),
          /overrideBootstrapCommand is not supported here: only AmazonLinux2 has one/,
        ] as const,
    ),
    [own('overrideBootstrapCommand: x'), /only AmazonLinux2 has one; write amiFamily/],
    [own('spot: true'), /nodeGroups\[0\]\.spot is not supported here: a self-managed group/],
    [own('instanceTypes: [m5.large, m6i.large]'), /\.instanceTypes is not supported here: a self/],
    [own(`${ami}, amiFamily: Ubuntu2204`), /amiFamily is not supported here: no bootstrap of Ubun/],
    [managed('instanceType: m5.large, instanceTypes: [m6i.large]'), /\.instanceType is not supp/],
    [managed('subnets: [subnet-01234567], availabilityZones: [a]'), /availabilityZones is not/],
    [managed(`${template}, volumeSize: 30`), /\.volumeSize is not supported here: launchTemplate/],
    [
      managed(`${template}, disablePodIMDS: true`),
      /\.disablePodIMDS is not supported here: launch/,
    ],
    [managed('ssh: {sourceSecurityGroupIds: [sg-01234567]}'), /Ids without ssh\.allow: true/],
    [
      managed(`iam: {instanceRoleARN: '${role}', attachPolicyARNs: ['arn:aws:iam::aws:policy/p']}`),
      /attachPolicyARNs with iam\.instanceRoleARN/,
    ],
    [
      own('labels: {node-role.kubernetes.io/a: b, node.kubernetes.io/c: d, e: f}'),
      /labels of a self-managed group .* 'k8s\.io' labels were specified: \[node-role\.kubernetes\.io\/a\]$/,
    ],
    [
      'managedNodeGroups: [{name: a_b}]',
      /\.name takes up to 63 letters, digits and -, with a letter or digit at both ends/,
    ],
    ['nodeGroups: [{name: own-}]', /\.name takes up to 63 letters, digits and -, with a letter/],
    [managed('ami: mine'), /\.ami takes an id such as ami-/],
    [managed('labels: {a b: c}'), /labels\.a b is named wrongly: a name is up to 63 letters/],
    [managed('labels: {UPPER/a: c}'), /labels\.UPPER\/a is named wrongly/],
    [managed(`labels: {a: "x'; reboot; '"}`), /labels\.a takes up to 63 letters/],
    [managed('taints: [{key: a b, effect: NoSchedule}]'), /taints\[0\]\.key takes up to 63/],
    [managed('taints: [{key: a, value: b c, effect: NoSchedule}]'), /taints\[0\]\.value takes/],
  ] as const)('%s', (text, expected) => {
    expect(faultsOf(text).join('\n')).toMatch(expected);
  });

  it('names the place of the field, not of its group', () => {
    expect(faultsOf('nodeGroups:\n- name: a\n  spot: true')[0]).toMatch(/^f:6:9: nodeGroups/);
  });
});

describe('taken', () => {
  it.each([
    managed('labels: {node.example.com/a_b: "", plain: "true"}'),
    managed(`${ami}, overrideBootstrapCommand: x`),
    managed(`${ami}, maxPodsPerNode: 20, preBootstrapCommands: [ls]`),
    own('labels: {node.kubernetes.io/a: b, topology.kubernetes.io/zone: c}'),
    managed('labels: {node-role.kubernetes.io/a: b}'),
    own('amiFamily: AmazonLinux2, overrideBootstrapCommand: x'),
    own('spot: false, instanceTypes: [m5.large]'),
    'accessConfig: {bootstrapClusterCreatorAdminPermissions: true}',
    `accessConfig: {accessEntries: [{principalARN: '${role}', type: EC2, accessPolicies: [{policyARN: '${view}', accessScope: {type: cluster}}]}]}`,
  ])('%s', (text) => {
    expect(faultsOf(text)).toEqual([]);
  });
});
