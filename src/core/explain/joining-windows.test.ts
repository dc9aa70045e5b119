// What a Windows group lacks in its cluster, with the evidence, whether or not its nodes have
// joined.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import { type JoinEvidence, joinCauses, vpcAgentOf, type WindowsEvidence } from './index.ts';

const role = 'arn:aws:iam::111122223333:role/node';
const mapped = (...groups: string[]) =>
  `- rolearn: ${role}\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [${groups}]\n`;
const all = ['system:bootstrappers', 'system:nodes', 'eks:kube-proxy-windows'];
const whole: WindowsEvidence = {
  vpcCni: { 'enable-windows-ipam': 'true' },
  vpcAgent: {},
  otherNodes: 1,
  serviceCidr: '10.100.0.0/16',
  refused: [],
};
const pod = {
  pod: 'default/iis',
  message: 'execution error: pod iis does not have label vpc.amazonaws.com/PrivateIPv4Address',
};
/** All of its instances are Ready nodes. */
const causes = (windows: Partial<WindowsEvidence>, more: Partial<JoinEvidence> = {}) =>
  joinCauses({
    now: epochMs(0),
    cluster: 'c',
    roleArn: role,
    isWindows: true,
    windows: { ...whole, ...windows },
    roles: { kind: 'map', data: { mapRoles: mapped(...all) } },
    userData: undefined,
    failedLaunches: [],
    instances: [],
    ...more,
  });

describe('a Windows group', () => {
  it('that has all it needs has no cause, nor has one whose cluster was not looked at', () => {
    expect(causes({})).toEqual([]);
    expect(causes({ vpcCni: undefined, otherNodes: undefined, serviceCidr: undefined })).toEqual(
      [],
    );
    expect(causes({ vpcCni: 'absent', otherNodes: 0 }, { isWindows: false })).toEqual([]);
  });

  it.each([
    ['absent', /there is no ConfigMap/, /create configmap amazon-vpc-cni/],
    [{}, /has no enable-windows-ipam/, /patch configmap amazon-vpc-cni/],
    [{ 'enable-windows-ipam': 'false' }, /has enable-windows-ipam: "false"/, /patch configmap/],
  ] as const)('whose pods get no address, by the ConfigMap %j', (vpcCni, evidence, remedy) => {
    const [cause] = causes({ vpcCni });
    expect(cause).toMatchObject({ code: 'WindowsAddresses', certainty: 'likely' });
    expect(cause?.evidence.join()).toMatch(evidence);
    expect(cause?.remedy[0]).toMatch(remedy);
    const [shown] = causes({ vpcCni, refused: [pod] });
    expect(shown).toMatchObject({ code: 'WindowsAddresses', certainty: 'shown' });
    expect(shown?.evidence.join()).toContain('pod default/iis does not have label');
  });

  it.each([
    ['WindowsNeedsLinux', { otherNodes: 0 }],
    ['WindowsNeedsIPv4', { serviceCidr: 'fd00::/108' }],
  ] as const)('in a cluster that cannot have it: %s', (code, windows) => {
    expect(causes(windows)).toMatchObject([{ code, certainty: 'likely' }]);
  });

  it('whose role lacks the group of kube-proxy is told of it though its nodes have joined', () => {
    const roles = { kind: 'map', data: { mapRoles: mapped('system:nodes') } } as const;
    expect(causes({}, { roles })).toMatchObject([
      { code: 'RoleMappedWrongly', certainty: 'possible' },
    ]);
  });

  it.each([
    [
      'AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG',
      'WindowsCustomNetworking',
      /their addresses are of the node/,
    ],
    ['ENABLE_POD_ENI', 'WindowsPodSecurityGroups', /those of the node are theirs/],
  ])('that cannot have %s is told of it, as something possible', (name, code, what) => {
    const container = {
      name: 'aws-node',
      env: [
        { name, value: 'true' },
        { name: 'other', value: 'x' },
      ],
    };
    const daemonSet = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'aws-node' },
      spec: { template: { spec: { containers: [container] } } },
    };
    const [cause] = causes({ vpcAgent: vpcAgentOf(daemonSet) });
    expect(cause).toMatchObject({ code, certainty: 'possible' });
    expect(cause?.what).toMatch(what);
    // No change of subnet or rule affects the setting: only the agent's own does, for Linux nodes
    // too.
    expect(cause?.remedy[0]).toContain(
      `only ${name}=false in DaemonSet kube-system/aws-node ends it, for Linux nodes too`,
    );
    expect(causes({ vpcAgent: { [name]: 'false' } })).toEqual([]);
  });
});
