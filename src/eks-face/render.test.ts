import { describe, expect, it } from 'vitest';
import { defined } from '../api/defined.ts';
import type { NodeGroupUpdate, NodeGroupUpdateStatus } from '../api/nodegroup-update.ts';
import { toEksUpdate } from './render.ts';

const anUpdate = (status?: NodeGroupUpdateStatus): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: {
    name: 'u1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: {
    nodeGroup: 'g1',
    type: 'VersionUpdate',
    params: [{ type: 'Version', value: '1.32' }],
    change: { version: '1.32' },
  },
  ...defined({ status }),
});

const errorsOf = (...codes: readonly string[]) => {
  const errors = codes.map((code) => ({ code, message: 'm', resourceIds: ['r1'] }));
  return toEksUpdate(anUpdate({ status: 'Failed', errors })).errors;
};

describe('an update as EKS shows it', () => {
  it.each([
    'NodeCreationFailure',
    'PodEvictionFailure',
    'IpNotAvailable',
    'InsufficientFreeAddresses',
    'OperationNotPermitted',
    'AccessDenied',
  ])('tells an error %s by the code that EKS has for it', (code) => {
    expect(errorsOf(code)).toEqual([{ errorCode: code, errorMessage: 'm', resourceIds: ['r1'] }]);
  });

  it.each(['AsgInstanceLaunchFailures', 'InsufficientCapacity', 'HealthProbeFailed'])(
    'tells an error %s, which EKS has no code of an update for, in words',
    (code) => {
      expect(errorsOf('PodEvictionFailure', code)).toEqual([
        { errorCode: 'PodEvictionFailure', errorMessage: 'm', resourceIds: ['r1'] },
        { errorCode: 'Unknown', errorMessage: `${code}: m`, resourceIds: ['r1'] },
      ]);
    },
  );

  it('is InProgress, without errors, before anybody has looked at it', () => {
    expect(toEksUpdate(anUpdate())).toEqual({
      id: 'u1',
      status: 'InProgress',
      type: 'VersionUpdate',
      params: [{ type: 'Version', value: '1.32' }],
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      errors: [],
    });
  });
});
