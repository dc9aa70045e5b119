// ClusterConfigs from the articles, eksctl's defaults, and refused fields with their places.
import { describe, expect, it } from 'vitest';
import { faultLine } from './check.ts';
import { parseClusterConfig } from './config.ts';
import { sizeFault, sizesOf } from './groups.ts';

const parsed = (text: string) => {
  const result = parseClusterConfig(text);
  if (result.kind === 'ok') return result.config;
  throw new Error(result.faults.map((fault) => faultLine('f', fault)).join('\n'));
};
const faultsOf = (text: string): readonly string[] => {
  const result = parseClusterConfig(text);
  return result.kind === 'ok' ? [] : result.faults.map((fault) => faultLine('f', fault));
};

// Article 003.
const bottlerocket = `
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig

metadata:
  name: bys-dev-eks-sec
  region: ap-northeast-2

vpc:
  id: "vpc-0ca96cd5c37d3bae8"
  subnets:
    private:
      bys-dev-sbn-az1-app:
          id: "subnet-0ea5be4984975e8ed"
      bys-dev-sbn-az2-app:
          id: "subnet-0b4076508ce121c27"

managedNodeGroups:
  - name: ng-bottlerocket
    amiFamily: Bottlerocket
    instanceType: m5.large
    volumeSize: 20
    minSize: 2
    maxSize: 4
    desiredCapacity: 2
    privateNetworking: true
    subnets:
      - bys-dev-sbn-az1-app
      - bys-dev-sbn-az2-app
    ssh:
      allow: true
      publicKeyName: "bys-console"
    tags:
      auto-delete: "no"
`;

// Article 004.
const repair = `
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig

metadata:
  name: test-cluster
  region: ap-northeast-1
  version: "1.31"

iam:
  withOIDC: true

cloudWatch:
  clusterLogging:
    enableTypes:
      - "audit"
      - "authenticator"
      - "controllerManager"
      - "scheduler"

managedNodeGroups:
  - name: ng-1
    nodeRepairConfig:
      enabled: true

autoModeConfig:
  enabled: false
`;

const head = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c1, region: eu-west-1}
`;

describe("the articles' ClusterConfigs", () => {
  it('article 003: a network named by id, sizes, a key', () => {
    const config = parsed(bottlerocket);
    expect(config.vpcId).toBe('vpc-0ca96cd5c37d3bae8');
    expect(config.subnets.map(({ name, id, visibility }) => [name, id, visibility])).toEqual([
      ['bys-dev-sbn-az1-app', 'subnet-0ea5be4984975e8ed', 'private'],
      ['bys-dev-sbn-az2-app', 'subnet-0b4076508ce121c27', 'private'],
    ]);
    expect(config.groups).toHaveLength(1);
    expect(config.groups[0]).toMatchObject({
      name: 'ng-bottlerocket',
      kind: 'managed',
      amiFamily: 'Bottlerocket',
      instanceTypes: ['m5.large'],
      sizes: { min: 2, max: 4, desired: 2 },
      volumeSizeGiB: 20,
      sshKeyName: 'bys-console',
      tags: { 'auto-delete': 'no' },
    });
  });

  it('article 004: log streams, issuer, repair; the rest as eksctl would fill it', () => {
    const config = parsed(repair);
    expect(config).toMatchObject({ version: '1.31', withOidc: true, publicAccess: true });
    expect(config.logTypes).toEqual(['audit', 'authenticator', 'controllerManager', 'scheduler']);
    expect(config.groups[0]).toMatchObject({
      instanceTypes: ['m5.large'],
      volumeSizeGiB: 80,
      volumeType: 'gp3',
      nodeRepair: { enabled: true, rest: {} },
    });
    expect(sizesOf(config.groups[0]?.sizes ?? {})).toMatchObject({ desired: 2, min: 2, max: 2 });
  });
});

const override = (condition: string, action: string): string =>
  `${head}managedNodeGroups:
  - name: ng-1
    nodeRepairConfig:
      enabled: true
      nodeRepairConfigOverrides:
        - nodeMonitoringCondition: ${condition}
          nodeUnhealthyReason: NvidiaXID13Error
          minRepairWaitTimeMins: 10
          repairAction: ${action}
`;

describe("words of eksctl's documentation that EKS' API does not have", () => {
  it.each([
    ['AcceleratedInstanceNotReady', 'Terminate', 'AcceleratedHardwareReady', 'Replace', 2],
    ['NetworkNotReady', 'Restart', 'NetworkingReady', 'Reboot', 2],
    ['NetworkingReady', 'NoAction', 'NetworkingReady', 'NoAction', 0],
  ])('%s %s is read as %s %s, with a note', (condition, action, meant, does, notes) => {
    const [group] = parsed(override(condition, action)).groups;
    expect(group?.nodeRepair?.rest.nodeRepairConfigOverrides).toMatchObject([
      { nodeMonitoringCondition: meant, repairAction: does },
    ]);
    expect(group?.nodeRepair?.notes ?? []).toHaveLength(notes);
  });
});

describe('what is refused', () => {
  it.each([
    [
      'both forms of a repair threshold',
      `${head}managedNodeGroups:
  - name: ng-1
    nodeRepairConfig:
      maxParallelNodesRepairedCount: 1
      maxParallelNodesRepairedPercentage: 5
`,
      /has both nodeRepairConfig\.maxParallelNodesRepairedCount and .*Percentage; choose one/,
    ],
    [
      'Auto Mode',
      `${head}autoModeConfig:\n  enabled: true\n`,
      /^f:5:12: autoModeConfig\.enabled cannot be true: .*Drover runs/,
    ],
    [
      'an unknown field',
      `${head}managedNodeGroups:\n- name: a\n  instancetype: t3.small\n`,
      /^f:6:3: managedNodeGroups\[0\]\.instancetype is no field; did you mean instanceType\?/,
    ],
    [
      'a wrong type',
      `${head}managedNodeGroups:\n- name: a\n  minSize: two\n`,
      /^f:6:12: managedNodeGroups\[0\]\.minSize takes a whole number, not the text "two"/,
    ],
    [
      'a missing name',
      `${head}nodeGroups:\n- minSize: 1\n`,
      /^f:5:3: nodeGroups\[0\]\.name is missing/,
    ],
    [
      'a known field of another day',
      `${head}fargateProfiles: []\n`,
      /^f:4:1: fargateProfiles is not supported: Drover runs no pods/,
    ],
    [
      'another family',
      `${head}managedNodeGroups:\n- name: a\n  amiFamily: Slackware\n`,
      /amiFamily takes one of AmazonLinux2023, /,
    ],
    [
      'sizes that cannot be',
      `${head}managedNodeGroups:\n- name: a\n  minSize: 3\n  desiredCapacity: 2\n`,
      /^f:5:3: managedNodeGroups\[0\] asks for a minimum size of 3, which is greater than desired size 2/,
    ],
    [
      'two groups of one name',
      `${head}managedNodeGroups:\n- name: a\nnodeGroups:\n- name: a\n`,
      /^f:7:3: nodeGroups\[0\] is a second group named a/,
    ],
    [
      'an updateConfig that says nothing',
      `${head}managedNodeGroups:\n- name: a\n  updateConfig: {}\n`,
      /managedNodeGroups\[0\] has an empty updateConfig: name maxUnavailable or /,
    ],
    [
      'a subnet that nobody named',
      `${head}managedNodeGroups:\n- name: a\n  subnets: [x]\n`,
      /names the subnet x, which vpc\.subnets does not have/,
    ],
    [
      'another version of the format',
      'apiVersion: eksctl.io/v1alpha4\nkind: ClusterConfig\nmetadata: {name: a, region: eu-west-1}\n',
      /apiVersion takes one of eksctl\.io\/v1alpha5/,
    ],
    ['an empty file', '', /the file is empty/],
    ['text that is no YAML', 'a: [', /^f:\d+:\d+: /],
    ['a key twice', `${head}vpc: {}\nvpc: {}\n`, /^f:5:1: Map keys must be unique/],
    [
      'an object for a list',
      `${head}managedNodeGroups: {name: a}\n`,
      /managedNodeGroups takes a list, not an object/,
    ],
    ['two documents', `${head}---\n${head}`, /a second document/],
  ])('%s', (_, text, expected) => {
    expect(faultsOf(text).join('\n')).toMatch(expected);
  });

  it('tells every fault at once', () => {
    const text = `${head}managedNodeGroups:\n- name: a\n  minSize: x\n  maxSize: y\nkarpenter: {}\n`;
    expect(faultsOf(text)).toHaveLength(3);
  });
});

describe("eksctl's sizes", () => {
  it.each([
    [{}, { desired: 2, min: 2, max: 2 }],
    [{ desired: 1 }, { desired: 1, min: 1, max: 1 }],
    [
      { min: 1, max: 5 },
      { desired: 1, min: 1, max: 5 },
    ],
    [{ max: 5 }, { desired: 2, min: 2, max: 5 }],
    [
      { desired: 3, min: 0 },
      { desired: 3, min: 0, max: 3 },
    ],
  ])('%j become %j', (asked, expected) => {
    expect(sizesOf(asked)).toMatchObject(expected);
    expect(sizeFault(asked)).toBeUndefined();
  });

  it('names the flags that it set', () => {
    expect(sizesOf({ desired: 1 }).automatic).toEqual([
      { flag: '--nodes-min', value: 1 },
      { flag: '--nodes-max', value: 1 },
    ]);
  });

  it.each([
    [{ max: 1 }, /minimum size of 2, which is greater than maximum size 1/],
    [{ desired: 5, max: 3, min: 1 }, /desired size of 5, which is greater than maximum size 3/],
    [{ desired: 0, max: 0, min: 0 }, /maximum size of 0/],
  ])('%j is refused', (asked, expected) => {
    expect(sizeFault(asked)).toMatch(expected);
  });
});
