// Canaries of the oracle about aws-auth.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { group, i1, judge, kubectl, Story } from '../../../test/builders/world-check.ts';
import { awsAuth } from './aws-auth/index.ts';

const arn = (name: string): string => `arn:aws:iam::111111111111:role/${name}`;
const entry = (name: string, username = 'system:node:{{EC2PrivateDNSName}}'): string =>
  `- groups:\n  - system:nodes\n  rolearn: ${arn(name)}\n  username: ${username}\n`;
const named = { name: 'aws-auth', namespace: 'kube-system', uid: 'm' };

/** One write of aws-auth; without a version unless given. */
const write = (
  story: Story,
  mapRoles: string,
  how: { readonly by?: string; readonly version?: string; readonly mapUsers?: string } = {},
): Story => {
  const { by, version = '1', mapUsers = '[]\n' } = how;
  return story.object('configmaps', { metadata: named, data: { mapRoles, mapUsers } }).request({
    verb: 'patch',
    resource: 'configmaps',
    namespace: 'kube-system',
    name: 'aws-auth',
    ...defined({ by }),
    body: { metadata: version === '' ? {} : { resourceVersion: version }, data: { mapRoles } },
  });
};
const seeded = (): Story =>
  write(new Story({ settled: true }), entry('boss'), { by: kubectl }).object('nodegroups', node());
const node = (more: object = {}) => ({
  metadata: { name: 'ng', uid: 'ng', finalizers: ['drover.dev/nodegroup'], ...more },
  // aws-auth holds the role without its path.
  spec: { nodeRole: 'arn:aws:iam::111111111111:role/some/path/r' },
  status: { autoScalingGroupName: group },
});
const made = (story: Story): Story =>
  story.at(10).call('CreateAutoScalingGroup', {
    AutoScalingGroupName: group,
    Tags: [{ Key: 'eks:nodegroup-name', Value: 'ng' }],
  });
const leaving = { deletionTimestamp: '2022-09-25T13:00:20Z' };
const gone = (story: Story): Story =>
  story.add({
    kind: 'object',
    at: story.micros,
    type: 'DELETED',
    resource: 'nodegroups',
    object: node(),
  });

describe('aws-auth-loses-no-entry', () => {
  it('accepts a role that comes before the nodes and goes after them', () => {
    const lived = made(write(seeded(), entry('boss') + entry('r')))
      .state(i1, 'InService', { group })
      .at(20)
      .object('nodegroups', node(leaving))
      .state(i1, 'Terminated', { group });
    const ended = gone(write(lived, entry('boss')).at(30));
    expect(judge(awsAuth, ended)).toEqual({ said: [], saw: 3 });
  });

  it('looks at writes alone', () => {
    const read = seeded().request({
      verb: 'get',
      resource: 'configmaps',
      namespace: 'kube-system',
      name: 'aws-auth',
    });
    expect(judge(awsAuth, write(read, entry('boss') + entry('r'))).said).toEqual([]);
  });

  it('reports lost, cut and renamed entries of others, and other keys', () => {
    const said = (mapRoles: string, mapUsers?: string) =>
      judge(awsAuth, write(seeded(), mapRoles, mapUsers === undefined ? {} : { mapUsers })).said;
    expect(said(entry('r'))).toEqual([`aws-auth: lost ${arn('boss')}, which is not ours`]);
    expect(said(entry('boss').replace('system:nodes', 'system:viewers'))).toHaveLength(1);
    expect(said(entry('boss', 'somebody'))).toHaveLength(1);
    expect(said(entry('boss') + entry('r'), '- userarn: x\n')).toEqual([
      'aws-auth: mapUsers was changed',
    ]);
  });

  it('reports a write over what cannot be read, and one that was not made from what stood there', () => {
    const broken = write(new Story(), 'a: [', { by: kubectl });
    expect(judge(awsAuth, write(broken, entry('r'))).said).toEqual([
      'aws-auth: written over what nobody can read',
    ]);
    expect(
      judge(awsAuth, write(seeded(), entry('boss') + entry('r'), { version: '' })).said,
    ).toEqual(['aws-auth: written without the version that was read']);
  });

  it('reports nodes that start a moment before their role is in', () => {
    const early = write(made(seeded()), entry('boss') + entry('r'));
    expect(judge(awsAuth, early).said).toEqual([
      `ng: its nodes start before ${node().spec.nodeRole} is in aws-auth`,
    ]);
  });

  it('reports a role that goes while the group has a node, or another group has it', () => {
    const lived = () =>
      made(write(seeded(), entry('boss') + entry('r')))
        .state(i1, 'InService', { group })
        .at(20)
        .object('nodegroups', node(leaving));
    const early = write(lived(), entry('boss')).state(i1, 'Terminated', { group });
    const took = `aws-auth: took out ${arn('r')}, which node group`;
    expect(judge(awsAuth, early).said).toEqual([`${took} ng has nodes of`]);
    const other = { ...node(), metadata: { name: 'other', uid: 'other' } };
    const shared = lived().state(i1, 'Terminated', { group }).object('nodegroups', other);
    expect(judge(awsAuth, write(shared, entry('boss'))).said).toEqual([
      `${took} other has nodes of`,
    ]);
  });

  it('reports a role of ours that is left when its group is gone', () => {
    const left = gone(made(write(seeded(), entry('boss') + entry('r'))).at(30));
    expect(judge(awsAuth, left).said).toEqual([`aws-auth: ${arn('r')} is left of a deleted group`]);
  });
});
