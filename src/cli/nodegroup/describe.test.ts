// The text of a node group: where each fact is printed, remedies of its issues, and the next
// command.
import { describe, expect, it } from 'vitest';
import { aGroup, anUpdate, now } from '../../../test/builders/cli-update.ts';
import { timePlus } from '../../../test/builders/core-termination.ts';
import type { NodeGroup, NodeGroupStatus } from '../../api/nodegroup.ts';
import {
  describeGroup,
  type GroupEvent,
  type GroupFacts,
  groupDocument,
  nextStep,
} from './describe.ts';

const status = {
  state: 'ACTIVE',
  desired: 2,
  minSize: 1,
  maxSize: 4,
  instances: 2,
  ready: 1,
  perZone: { 'eu-west-1a': 1, 'eu-west-1b': 1 },
  version: '1.31',
  releaseVersion: '1.31.9-20260905',
} as const satisfies NodeGroupStatus;

const withStatus = (more: Partial<NodeGroupStatus> = {}): NodeGroup => ({
  ...aGroup({ releaseVersion: '1.32.9-20260919' }),
  status: { ...status, ...more },
});

const facts = (more: Partial<GroupFacts> = {}): GroupFacts => ({
  group: withStatus(),
  update: undefined,
  events: [],
  ...more,
});

const lost = {
  code: 'NodeCreationFailure',
  message: 'Instances failed to join the kubernetes cluster.',
  resourceIds: ['i-1'],
};

const event: GroupEvent = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'e', uid: 'e', resourceVersion: '1', creationTimestamp: timePlus(0) },
  type: 'Warning',
  reason: 'Degraded',
  message: 'one issue',
  count: 3,
  lastTimestamp: timePlus(690),
};

describe('a node group in print', () => {
  it('says what was asked beside what is there', () => {
    const lines = describeGroup(facts(), now);
    expect(lines).toContain('Version:            1.31, asked for 1.32');
    expect(lines).toContain('Release:            1.31.9-20260905, asked for 1.32.9-20260919');
    expect(lines).toContain('Instances:          2, 1 of them Ready nodes');
    expect(lines).toContain('Per zone:           eu-west-1a=1, eu-west-1b=1');
    expect(lines).toContain('Taints:             <none>');
  });

  it('puts a remedy below each issue', () => {
    const unknown = { code: 'SomethingNew', message: 'who knows', resourceIds: [] };
    const lines = describeGroup(facts({ group: withStatus({ health: [lost, unknown] }) }), now);
    const at = lines.indexOf('Health issues:');
    expect(lines.slice(at + 1, at + 5)).toEqual([
      '  NodeCreationFailure: Instances failed to join the kubernetes cluster. [i-1]',
      '    remedy: `drover explain nodegroup ng` says what keeps its instances out',
      '  SomethingNew: who knows',
      '    remedy: `drover explain nodegroup ng` looks at what can be looked at',
    ]);
  });

  it('reports the newest update and events', () => {
    const lines = describeGroup(facts({ update: anUpdate(), events: [event] }), now);
    expect(lines).toContain('  u1 (VersionUpdate) InProgress, Rolling, 2 of 5 nodes');
    expect(lines).toContain('  1m ago (x3)  Warning  Degraded  one issue');
  });

  it('is a document with the same remedies and next step', () => {
    const document = groupDocument(facts({ group: withStatus({ health: [lost] }) }));
    expect(document.issues[0]?.remedy).toMatch(/drover explain nodegroup ng/);
    expect(document.next).toBe('drover explain nodegroup ng');
    expect(document.update).toBeNull();
  });

  it('is reported before any controller has seen it', () => {
    const { status: _, ...group } = aGroup();
    expect(describeGroup(facts({ group }), now)).toContain(
      'State:              <not taken note of yet>',
    );
  });
});

describe('the next step', () => {
  const over = anUpdate({ status: { status: 'Successful' } });
  const scaleIn = { id: 's', target: 1, since: timePlus(0) };
  it.each<readonly [string, Partial<GroupFacts>, RegExp]>([
    ['at rest', { update: over }, /^drover plan update ng$/],
    ['while it is updated', { update: anUpdate() }, /^drover get update u1 --watch$/],
    ['while it is created', { group: withStatus({ state: 'CREATING' }) }, /^drover explain nod/],
    ['when nodes do not join', { group: withStatus({ health: [lost] }) }, /^drover explain nod/],
    ['while nodes go', { group: withStatus({ scaleIn }) }, /`drover explain NODE`/],
    ['while it goes', { group: withStatus({ state: 'DELETING' }) }, /`drover explain NODE`/],
    [
      'when it could not go',
      { group: withStatus({ state: 'DELETE_FAILED' }) },
      /^drover delete nod/,
    ],
    [
      'after a failed update',
      { group: withStatus({ failedUpdate: 'u0' }) },
      /^drover describe update u0$/,
    ],
  ])('%s', (_, more, step) => {
    expect(nextStep(facts(more))).toMatch(step);
  });
});
