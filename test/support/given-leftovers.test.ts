// Which objects are removed from an existing cluster, and which stay.
import { describe, expect, it } from 'vitest';
import { type AwsAuthMap, planAdmission } from '../../src/core/identity/index.ts';
import { awsAuthUndo, isEventOf } from './given-leftovers.ts';

const arn = (name: string): string => `arn:aws:iam::111122223333:role/${name}`;
const mapOf = (mapRoles: string, added: readonly string[] = []): AwsAuthMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'aws-auth',
    namespace: 'kube-system',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { 'drover.dev/added-roles': added.join(' ') },
  },
  data: { mapRoles },
});
const withNode = (map: AwsAuthMap | undefined, name: string): AwsAuthMap => {
  const plan = planAdmission(map, arn(name));
  if (plan.kind !== 'write') throw new Error(plan.kind);
  return mapOf(plan.data.mapRoles ?? '', plan.added);
};
const theirs = `- rolearn: ${arn('admin')}\n  username: admin\n  groups:\n    - system:masters\n`;

describe('aws-auth after a story', () => {
  const before = mapOf(theirs);

  it('keeps an entry that a user added meanwhile, by the version that was read', () => {
    const ours = withNode(before, 'story');
    const now = mapOf(`${ours.data?.mapRoles}- rolearn: ${arn('late')}\n  username: late\n`, [
      arn('story'),
    ]);
    const undo = awsAuthUndo(before, now);
    expect(undo).toMatchObject({
      verb: 'patch',
      body: { metadata: { resourceVersion: '7', annotations: { 'drover.dev/added-roles': null } } },
    });
    const text = JSON.stringify(undo);
    expect(text).toContain(arn('admin'));
    expect(text).toContain(arn('late'));
    expect(text).not.toContain(arn('story'));
  });

  it('keeps a role that was added before the story', () => {
    const had = withNode(before, 'earlier');
    const undo = awsAuthUndo(had, withNode(had, 'story'));
    expect(undo).toMatchObject({
      verb: 'patch',
      body: {
        metadata: { annotations: { 'drover.dev/added-roles': arn('earlier') } },
        data: { mapRoles: had.data?.mapRoles },
      },
    });
  });

  it('leaves it alone where the story added nothing, and deletes its own where no one else wrote', () => {
    const other = mapOf(`${theirs}- rolearn: ${arn('late')}\n  username: late\n`);
    expect(awsAuthUndo(before, other)).toEqual({ verb: 'none' });
    expect(awsAuthUndo(before, undefined)).toEqual({ verb: 'none' });
    expect(awsAuthUndo(undefined, withNode(undefined, 'story'))).toEqual({ verb: 'delete' });
    const shared = withNode(mapOf(theirs), 'story');
    expect(awsAuthUndo(undefined, shared)).toMatchObject({ verb: 'patch' });
  });
});

describe('events of a story', () => {
  const told = {
    made: [
      { kind: 'Deployment', metadata: { name: 'web', namespace: 'demo' } },
      { kind: 'Pod', metadata: { name: 'one' } },
    ],
    nodes: ['n1'],
  };
  it.each([
    ['v1', 'Pod', 'web-1', 'demo', true],
    ['v1', 'Pod', 'web-1', 'shop', false],
    ['v1', 'Pod', 'web', 'shop', false],
    ['v1', 'Pod', 'webs', 'demo', false],
    ['v1', 'Pod', 'one', 'default', true],
    ['v1', 'Pod', 'one', 'demo', false],
    ['v1', 'Node', 'n1', undefined, true],
    ['v1', 'Node', 'n2', undefined, false],
    ['drover.dev/v1alpha1', 'NodeGroup', 'any', undefined, true],
  ] as const)('%s %s %s in %s: %s', (apiVersion, kind, name, namespace, expected) => {
    const involvedObject = { apiVersion, kind, name, ...(namespace ? { namespace } : {}) };
    expect(isEventOf({ involvedObject }, told)).toBe(expected);
  });
});
