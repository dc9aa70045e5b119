// The steps of a release in their order, what each undoes, and what the release waits for.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { ownerTag } from '../../api/nodegroup.ts';
import { standardHooks } from '../nodegroup/index.ts';
import { decideRelease, type ReleaseObservation } from './release.ts';

const cause = { id: 'scale-in/ng/1', kind: 'ScaleIn' };
const aRecord = (more: object = {}) => ({
  metadata: { name: 'i-1' },
  spec: { nodeGroup: 'ng', instanceId: 'i-1', causes: [cause] },
  status: { phase: 'Draining' },
  ...more,
});
const anInstance = (lifecycleState: string) => ({ instanceId: 'i-1', lifecycleState });

const hooks = standardHooks(undefined).map((hook) => ({
  ...hook,
  metadata: 'drover.dev/nodegroup-uid=u1',
}));

interface Facts {
  readonly status?: object;
  readonly scaling?: object;
  readonly disruptions?: readonly object[];
  readonly repairs?: readonly object[];
  readonly nodes?: readonly object[];
  readonly hooks?: readonly object[] | undefined;
  readonly derived?: object;
}

const observed = ({ status = {}, scaling = {}, ...more }: Facts = {}): ReleaseObservation =>
  ({
    group: {
      metadata: { name: 'ng', uid: 'u1' },
      spec: aGroupSpec({ scaling: { minSize: 1, maxSize: 3 } }),
      status,
    },
    scaling: {
      name: 'asg-1',
      minSize: 1,
      maxSize: 3,
      desiredCapacity: 2,
      instances: [anInstance('InService')],
      tags: { [ownerTag]: 'u1' },
      ...scaling,
    },
    disruptions: [],
    repairs: [],
    nodes: [],
    hooks: [],
    ...more,
  }) as unknown as ReleaseObservation;

const plan = (facts: Facts = {}) => decideRelease(observed(facts));
const kinds = (facts: Facts = {}) => plan(facts).steps.map(({ kind }) => kind);
const end = ['UntagGroup', 'DisownRole', 'EndRelease'];

describe('a release', () => {
  it('records what it waits for first, and lets the object go last', () => {
    expect(kinds({ hooks })).toEqual(['WriteGroupStatus', 'RemoveHook', 'RemoveHook', ...end]);
    expect(plan().steps[0]).toMatchObject({ record: { target: 2, releasing: [] } });
  });

  it('cancels a drain, and waits until it is undone', () => {
    const { steps, waitingOn } = plan({ disruptions: [aRecord()] });
    expect(steps.slice(1)).toEqual([
      { kind: 'WithdrawCauses', disruption: 'i-1', causeIds: [cause.id] },
    ]);
    expect(waitingOn).toEqual([{ kind: 'undoing', drains: 1 }]);
  });

  it('waits for a drain that was requested and has not begun', () => {
    const { steps, waitingOn } = plan({ disruptions: [aRecord({ status: undefined })], hooks });
    expect(steps.map(({ kind }) => kind)).toEqual(['WriteGroupStatus', 'WithdrawCauses']);
    expect(waitingOn).toEqual([{ kind: 'undoing', drains: 1 }]);
  });

  it.each([
    [
      'an operator’s own drain',
      aRecord({ spec: { nodeGroup: 'ng', causes: [{ id: 'op', kind: 'Manual' }] } }),
    ],
    [
      'the drain of another group',
      aRecord({ spec: { nodeGroup: 'b', causes: [{ id: 'scale-in/b/1', kind: 'ScaleIn' }] } }),
    ],
    [
      'a drain that has ended',
      aRecord({ spec: { nodeGroup: 'ng', causes: [] }, status: { phase: 'Ended' } }),
    ],
  ])('does not wait for %s', (_, record) => {
    expect(kinds({ disruptions: [record] })).toEqual(['WriteGroupStatus', ...end]);
  });

  it('leaves the causes of an instance that is terminating, and waits in its hook', () => {
    const scaling = { instances: [anInstance('Terminating:Wait')] };
    const { steps, waitingOn } = plan({ disruptions: [aRecord()], scaling, hooks });
    expect(steps.slice(1)).toMatchObject([
      { kind: 'RemoveHook', hook: { name: 'Launch-LC-Hook' } },
    ]);
    expect(waitingOn).toEqual([{ kind: 'hooks', hooks: ['Terminate-LC-Hook'] }]);
  });

  it('waits for node repairs, which would be deleted with the object', () => {
    const repair = {
      metadata: { name: 'r1' },
      spec: { nodeGroup: 'ng' },
      status: { phase: 'Repairing' },
    };
    expect(plan({ repairs: [repair] }).waitingOn).toEqual([{ kind: 'repairs', repairs: 1 }]);
  });

  it('restores what an update suspended and enlarged', () => {
    const status = { updating: { name: 'u', suspends: ['AZRebalance', 'Launch'] } };
    const scaling = { maxSize: 5, suspendedProcesses: ['AZRebalance'] };
    expect(plan({ status, scaling }).steps.slice(1, 3)).toMatchObject([
      { kind: 'ResumeProcesses', processes: ['AZRebalance'] },
      { kind: 'SetSizes', change: { minSize: 1, maxSize: 3 } },
    ]);
    expect(kinds({ scaling })).toEqual(['WriteGroupStatus', ...end]);
  });

  it('removes an update’s taint and keeps those of others', () => {
    const taints = [
      { key: 'drover.dev/outdated', effect: 'PreferNoSchedule' },
      { key: 'theirs', effect: 'NoSchedule' },
    ];
    const node = { metadata: { name: 'n1', uid: 'nu', resourceVersion: '7' }, spec: { taints } };
    expect(plan({ nodes: [node] }).steps[1]).toMatchObject({
      kind: 'PatchNode',
      body: { metadata: { resourceVersion: '7' }, spec: { taints: [taints[1]] } },
    });
  });

  it('deletes Drover’s template and profile that the group does not use', () => {
    const tags = { [ownerTag]: 'u1' };
    const derived = {
      template: { id: 'lt-1', name: 'eks-u1', version: '1', tags, data: {} },
      profile: { name: 'eks-u1', roles: [], tags },
    };
    expect(kinds({ derived })).toEqual([
      'WriteGroupStatus',
      'UntagGroup',
      'DeleteTemplate',
      'DeleteProfile',
      'DisownRole',
      'EndRelease',
    ]);
  });

  it('removes no tag of another owner', () => {
    expect(kinds({ scaling: { tags: { [ownerTag]: 'u2' } } })).toEqual([
      'WriteGroupStatus',
      'DisownRole',
      'EndRelease',
    ]);
  });
});
