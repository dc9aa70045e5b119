// Who is let in as a node, for which reason not.
import { describe, expect, it } from 'vitest';
import type { NodeAccess } from './aws/platform/node-access.ts';
import type { WorldKube } from './contracts.ts';
import { createJoinGate } from './join-gate.ts';

const roleArn = 'arn:aws:iam::111122223333:role/team/nodes';
const entry = (groups: readonly string[], username = 'system:node:{{EC2PrivateDNSName}}') =>
  `- rolearn: arn:aws:iam::111122223333:role/nodes\n  username: ${username}\n  groups: [${groups.join()}]\n`;
const nodes = entry(['system:bootstrappers', 'system:nodes']);

const access: NodeAccess = {
  privateDnsName: 'ip-10-0-0-1.ec2.internal',
  clusterName: 'c',
  endpoint: 'https://E.eks.amazonaws.com/',
  roleArn,
  entry: undefined,
  cluster: { name: 'c', authenticationMode: 'CONFIG_MAP' },
  clusterEndpoint: 'https://e.eks.amazonaws.com',
  formerEndpoints: ['https://f.eks.amazonaws.com'],
  isReached: true,
};

const inMode = (authenticationMode: string) => ({ name: 'c', authenticationMode });
const both = inMode('API_AND_CONFIG_MAP');
const nodeEntry = { username: 'system:node:{{EC2PrivateDNSName}}', groups: ['system:nodes'] };

const judge = (mapRoles: string | undefined, more: Partial<NodeAccess> = {}) => {
  const map = { metadata: { resourceVersion: '1' }, data: { mapRoles } };
  const kube = { read: () => (mapRoles === undefined ? undefined : map) };
  const nodeAccess = () => ({ ...access, ...more });
  return createJoinGate(kube as unknown as WorldKube, { nodeAccess })('i-1');
};

describe('the cluster', () => {
  it.each([
    ['whom aws-auth maps to its node name', nodes, {}],
    ['a role that may do everything', entry(['system:masters'], 'admin'), {}],
    ['whoever names no endpoint', nodes, { endpoint: undefined }],
    ['whoever names the endpoint of before', nodes, { endpoint: 'https://F.eks.amazonaws.com/' }],
    ['whom an access entry names', undefined, { cluster: inMode('API'), entry: nodeEntry }],
    ['whom an entry names, before aws-auth', '[]', { cluster: both, entry: nodeEntry }],
    ['whom no entry names, but aws-auth does', nodes, { cluster: both }],
  ] as const)('lets in %s', (_, mapRoles, more) => {
    expect(judge(mapRoles, more)).toBeUndefined();
  });

  it.each([
    ['aws-auth alone in mode API', nodes, { cluster: inMode('API') }, { kind: 'unauthorized' }],
    ['an entry in a mode without entries', '[]', { entry: nodeEntry }, { kind: 'unauthorized' }],
    [
      'an entry of somebody who is no node, whatever aws-auth says',
      nodes,
      { cluster: both, entry: { username: 'arn:{{SessionName}}', groups: [] } },
      { kind: 'forbidden', user: 'arn:i-0' },
    ],
    ['a role without entry', '[]', {}, { kind: 'unauthorized' }],
    ['everybody without aws-auth', undefined, {}, { kind: 'unauthorized' }],
    ['a user that is no node', entry(['a'], 'bob'), {}, { kind: 'forbidden', user: 'bob' }],
    [
      'a node without the group of nodes',
      entry(['system:bootstrappers']),
      {},
      { kind: 'forbidden', user: 'system:node:ip-10-0-0-1.ec2.internal' },
    ],
    [
      'a node that names the instance',
      entry(['system:nodes'], 'system:node:{{SessionName}}'),
      {},
      { kind: 'forbidden', user: 'system:node:i-0' },
    ],
    ['a machine without a role', nodes, { roleArn: undefined }, { kind: 'noCredentials' }],
    [
      'a machine whose packets get nowhere',
      nodes,
      { isReached: false },
      { kind: 'unreachable', endpoint: 'https://e.eks.amazonaws.com' },
    ],
    [
      'another endpoint',
      nodes,
      { endpoint: 'https://d.eks.amazonaws.com' },
      { kind: 'endpoint', endpoint: 'https://d.eks.amazonaws.com' },
    ],
    [
      'an unknown cluster',
      nodes,
      { clusterName: 'd', cluster: undefined, endpoint: undefined },
      { kind: 'unknownCluster', cluster: 'd' },
    ],
    [
      'the token of another cluster',
      nodes,
      { clusterName: 'd', cluster: undefined },
      { kind: 'unauthorized' },
    ],
  ] as const)('refuses %s', (_, mapRoles, more, refusal) => {
    expect(judge(mapRoles, more)).toEqual(refusal);
  });
});
