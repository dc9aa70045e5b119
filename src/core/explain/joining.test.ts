// The ranking of causes on handwritten evidence: console output of the real programs, maps with
// common mistakes. test/sequences/nodegroups-faults.test.ts covers the same on a whole cluster.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import { settings } from '../bootstrap/rules/samples.ts';
import { joinCauses } from './joining.ts';
import type { JoinEvidence, JoiningInstance } from './joining-evidence.ts';

const role = 'arn:aws:iam::111122223333:role/team/node';
const mapped = (arn: string, username = 'system:node:{{EC2PrivateDNSName}}'): string =>
  `- rolearn: ${arn}\n  username: ${username}\n  groups: [system:bootstrappers, system:nodes]\n`;
const good = mapped('arn:aws:iam::111122223333:role/node');
const now = epochMs(Date.parse('2026-01-01T01:00:00Z'));

const anInstance = (more: Partial<JoiningInstance> = {}): JoiningInstance => ({
  instanceId: 'i-1',
  state: 'running',
  launchTime: '2026-01-01T00:40:00Z',
  console: '',
  node: undefined,
  ...more,
});
const evidence = (more: Partial<JoinEvidence> = {}): JoinEvidence => ({
  now,
  cluster: 'c',
  roleArn: role,
  isWindows: false,
  roles: { kind: 'map', data: { mapRoles: good } },
  userData: undefined,
  failedLaunches: [],
  instances: [anInstance()],
  ...more,
});
const roles = (mapRoles: string) => ({ kind: 'map', data: { mapRoles } }) as const;
const first = (more: Partial<JoinEvidence>) => joinCauses(evidence(more))[0];

describe('certificate requests without an answer', () => {
  const since = '2026-01-01T00:41:00Z';
  const request = { name: 'csr-1', kind: 'client', isDenied: false, since } as const;

  it.each([
    [
      false,
      'CertificatePending',
      /pending: the kubelet registers no node$/,
      /approve-certificates/,
    ],
    [
      true,
      'CertificateDenied',
      /denied: the kubelet registers no node$/,
      /^\$ kubectl delete csr csr-1/,
    ],
  ])('keep an instance out (denied: %s)', (isDenied, code, what, remedy) => {
    const cause = first({ instances: [anInstance({ requests: [{ ...request, isDenied }] })] });
    expect(cause).toMatchObject({ code, certainty: 'shown', instances: ['i-1'] });
    expect(cause?.what).toMatch(what);
    expect(cause?.evidence[0]).toContain(`csr-1 of i-1: ${isDenied ? 'denied' : 'pending'} since`);
    expect(cause?.remedy.join('\n')).toMatch(remedy);
  });

  it('of an instance before it, which had its name, are no evidence', () => {
    const of = (at: string) => [{ ...request, isDenied: true, since: at }];
    const code = (at: string) => first({ instances: [anInstance({ requests: of(at) })] })?.code;
    expect(code('2026-01-01T00:00:00Z')).not.toMatch(/^Cert/);
    expect(code('2026-01-01T00:40:00Z')).toBe('CertificateDenied');
  });

  it('for serving are reported beside a node that is not Ready, and keep no one out', () => {
    const node = { name: 'n', notReady: 'NetworkPluginNotReady: cni', hasGroupLabel: true };
    const serving = [{ ...request, kind: 'serving' as const }];
    const causes = joinCauses(evidence({ instances: [anInstance({ node, requests: serving })] }));
    expect(causes.map(({ code, certainty }) => [code, certainty])).toEqual([
      ['NodeNotReady', 'shown'],
      ['CertificatePending', 'possible'],
    ]);
    expect(first({ instances: [anInstance({ requests: serving })] })?.code).not.toMatch(/^Cert/);
  });
});

describe('what a console says', () => {
  it.each([
    ['Post "https://x/api/v1/nodes": dial tcp 10.0.0.1:443: i/o timeout', 'NoRouteToEndpoint'],
    ['tls: x509: certificate signed by unknown authority', 'WrongCertificateAuthority'],
    ['dial tcp: lookup x: no such host', 'WrongEndpoint'],
    ['NoCredentialProviders: no valid providers in chain', 'NoCredentials'],
    ['No cluster found for name: d.', 'ClusterNotFound'],
    ['{"level":"fatal","caller":"nodeadm/main.go:36","error":"CIDR is missing"}', 'UserData'],
  ])('%s', (line, code) => {
    const console = `[ 1.0] booting\n[ 2.0] ${line}\n[ 3.0] login:\n`;
    const cause = first({ instances: [anInstance({ console })] });
    expect(cause).toMatchObject({ code, certainty: 'shown', instances: ['i-1'] });
    expect(cause?.evidence[0]).toContain('console of i-1');
  });

  it.each([
    ['FAM001: this is user data for AL2', '$ drover userdata lint --family FAMILY FILE'],
    ['TN001: the taint a has no effect', '$ drover userdata lint FILE'],
  ])('of user data that was not read, with what the linter must be told: %s', (said, remedy) => {
    const instances = [anInstance({ console: `bootstrap: user data: ${said}` })];
    expect(first({ instances })?.remedy).toEqual([remedy]);
  });

  it.each([
    ['bottlerocket', true, '$ drover userdata lint --own-image --family bottlerocket FILE'],
    ['bottlerocket', false, '$ drover userdata lint --family bottlerocket FILE'],
    [undefined, true, '$ drover userdata lint --own-image --family FAMILY FILE'],
  ] as const)(
    'of an image of one’s own, or of a known family: %s %s',
    (family, hasOwnImage, remedy) => {
      const console = 'bootstrap: user data: FAM001: this is user data for another';
      // Without a fault: the console output is from an older one.
      const userData = {
        base64: btoa(settings()),
        template: 'lt-1 version 1',
        family,
        hasOwnImage,
        kubernetesVersion: undefined,
        instanceType: undefined,
      };
      const cause = first({ userData, instances: [anInstance({ console })] });
      expect(cause?.remedy).toContain(remedy);
    },
  );

  it('the newest complaint counts: an older one was got over', () => {
    const console = 'dial tcp: lookup x: no such host\nerr="Unauthorized"\n';
    const cause = first({ roles: roles('[]'), instances: [anInstance({ console })] });
    expect(cause?.code).toBe('RoleNotMapped');
  });

  it('an instance that is refused although its role is mapped stays refused: nothing is made up', () => {
    const cause = first({ instances: [anInstance({ console: 'err="Unauthorized"' })] });
    expect(cause).toMatchObject({ code: 'NotAuthorized', certainty: 'shown' });
    expect(cause?.what).toMatch(/although kube-system\/aws-auth has the node role$/);
    expect(cause?.remedy.join(' ')).not.toContain('aws-auth');
  });

  it('an instance that is refused where no aws-auth is read is not sent to aws-auth', () => {
    const instances = [anInstance({ console: 'err="Unauthorized"' })];
    const cause = first({ roles: { kind: 'unused' }, instances });
    expect(cause?.remedy.join(' ')).toContain('kubeadm token create');
    expect(cause?.remedy.join(' ')).not.toContain('aws-auth');
  });

  it('names a cause once for all instances that say it, before what one says', () => {
    const says = (instanceId: string, console: string) => anInstance({ instanceId, console });
    const causes = joinCauses(
      evidence({
        instances: [
          says('i-1', 'no such host'),
          says('i-2', 'i/o timeout'),
          says('i-3', 'i/o timeout'),
        ],
      }),
    );
    expect(causes.map(({ code, instances }) => [code, instances])).toEqual([
      ['NoRouteToEndpoint', ['i-2', 'i-3']],
      ['WrongEndpoint', ['i-1']],
    ]);
  });
});

describe('what the map of roles says of instances that say nothing', () => {
  it.each([
    ['no ConfigMap', { kind: 'absent' } as const, 'RoleNotMapped', /no ConfigMap/],
    ['no entry', roles('[]'), 'RoleNotMapped', /none of the 0 entries/],
    ['no YAML', roles('a: ['), 'RoleNotMapped', /no YAML list/],
    [
      'an instance profile',
      roles(mapped('arn:aws:iam::111122223333:instance-profile/node')),
      'RoleNotMapped',
      /AUTH005/,
    ],
    [
      'another account',
      roles(mapped('arn:aws:iam::999999999999:role/node')),
      'RoleNotMapped',
      /of another account/,
    ],
    [
      'a user that is no node',
      roles(mapped('arn:aws:iam::111122223333:role/node', 'bob')),
      'RoleMappedWrongly',
      /its user is bob/,
    ],
  ])('%s', (_, map, code, why) => {
    const cause = first({ roles: map });
    expect(cause).toMatchObject({ code, certainty: 'likely', instances: [] });
    expect(cause?.evidence.join()).toMatch(why);
  });

  it('a Windows group without the group of kube-proxy may be it', () => {
    expect(first({ isWindows: true })).toMatchObject({
      code: 'RoleMappedWrongly',
      certainty: 'possible',
      what: expect.stringContaining('AUTH004'),
    });
  });

  it('access entries alone, or a map that may not be read, name no cause', () => {
    for (const map of [{ kind: 'unused' }, { kind: 'unknown', why: 'x' }] as const) {
      expect(first({ roles: map })?.code).toBe('Unknown');
    }
  });
});

describe('what the nodes and EC2 say', () => {
  const node = { name: 'n1', notReady: undefined, hasGroupLabel: true };
  it.each([
    [
      'a node that is not Ready',
      { node: { ...node, notReady: 'KubeletNotReady: cni' } },
      'NodeNotReady',
    ],
    ['a node without labels', { node: { ...node, hasGroupLabel: false } }, 'NodeWithoutLabels'],
    ['an instance that stopped', { state: 'stopped' }, 'InstanceStopped'],
  ])('%s', (_, more, code) => {
    expect(first({ instances: [anInstance(more)] })).toMatchObject({ code, certainty: 'shown' });
  });

  it('launches that fail come first, in EC2’s words', () => {
    const failedLaunches = [{ code: 'InsufficientFreeAddresses', message: 'no addresses' }];
    const cause = first({ failedLaunches, instances: [] });
    expect(cause).toMatchObject({ code: 'LaunchFailed', certainty: 'shown' });
    expect(cause?.evidence).toEqual(['scaling activity: no addresses']);
  });
});

describe('where nothing is wrong', () => {
  it('a group without waiting instances has no cause, whatever its role', () => {
    expect(joinCauses(evidence({ instances: [], roles: roles('[]') }))).toEqual([]);
  });
  it('an instance that boots has none; one that takes long is reported with where to look', () => {
    const young = anInstance({ launchTime: '2026-01-01T00:59:00Z' });
    expect(joinCauses(evidence({ instances: [young] }))).toEqual([]);
    expect(first({})).toMatchObject({ code: 'Unknown', certainty: 'possible', instances: ['i-1'] });
  });
});
