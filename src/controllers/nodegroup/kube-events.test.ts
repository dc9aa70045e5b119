// Which changes of a node group's status become events.
import { describe, expect, it } from 'vitest';
import type { NodeGroupStatus } from '../../api/nodegroup.ts';
import { eventTextsOf } from './kube-events.ts';

const status = (more: Partial<NodeGroupStatus> = {}): NodeGroupStatus => ({
  state: 'ACTIVE',
  desired: 2,
  minSize: 0,
  maxSize: 3,
  instances: 2,
  ready: 2,
  autoScalingGroupName: 'asg',
  health: [],
  ...more,
});
const issue = { code: 'NodeCreationFailure', message: 'm', resourceIds: ['i-1'] };
const failed = (name: string) => ({
  code: 'X',
  message: `Update ${name} failed: m`,
  resourceIds: [],
});
const failure = { ...issue, code: 'PodEvictionFailure', generation: 1, at: 't' };
const scaleIn = { id: 's', target: 1, since: 't' };

describe('what is told of a node group', () => {
  it.each([
    ['that it is being made', undefined, { state: 'CREATING' }, ['Creating']],
    ['that it is looked after', undefined, {}, ['Adopted']],
    ['that it is whole', { state: 'CREATING' }, {}, ['Active']],
    ['that it goes', {}, { state: 'DELETING' }, ['Deleting']],
    ['a scale-in, once', {}, { scaleIn }, ['ScalingIn']],
    ['not its progress', { scaleIn }, { scaleIn, ready: 1 }, []],
    ['another size', {}, { desired: 3 }, ['DesiredChanged']],
    ['a health issue', {}, { state: 'DEGRADED', health: [issue] }, ['NodeCreationFailure']],
    [
      'not its other words',
      { state: 'DEGRADED', health: [issue] },
      { state: 'DEGRADED', health: [{ ...issue, message: 'n' }] },
      [],
    ],
    ['an update that failed', {}, { failedUpdate: 'u1', health: [failed('u1')] }, ['X']],
    [
      'another that failed alike',
      { failedUpdate: 'u1', health: [failed('u1')] },
      { failedUpdate: 'u2', health: [failed('u2')] },
      ['X'],
    ],
    [
      'not the same one again',
      { failedUpdate: 'u1', health: [failed('u1')] },
      { failedUpdate: 'u1', health: [failed('u1')], ready: 1 },
      [],
    ],
    ['a scale-in that was given up', { scaleIn }, { failure }, ['PodEvictionFailure']],
    [
      'a delete that failed, once',
      { state: 'DELETING' },
      { state: 'DELETE_FAILED', failure, health: [failure] },
      ['PodEvictionFailure'],
    ],
    ['not how many nodes are Ready', {}, { ready: 1 }, []],
  ] as const)('%s', (_, before, after, reasons) => {
    const told = eventTextsOf(before && status(before), status(after));
    expect(told.map(({ reason }) => reason)).toEqual(reasons);
  });
});
