// Inputs of a decision about a version update, built with overrides. Decides nothing.
import { epochMs, formatTime } from '../../src/api/brand.ts';
import type { NodeDisruption } from '../../src/api/disruption.ts';
import type { NodeGroupUpdateStatus } from '../../src/api/nodegroup-update.ts';
import type { decideUpdate, UpdateInstance } from '../../src/core/update/index.ts';

type Observation = Parameters<typeof decideUpdate>[0];

export const now = epochMs(Date.parse('2026-01-01T12:00:00Z'));
const metadata = { uid: 'u', resourceVersion: '1', creationTimestamp: formatTime(now) };
const target = { version: '1.32', imageId: 'ami-2', templateVersion: '2' };

/** A Ready node in zone a, with all labels, taints and annotations of an update in progress. */
export const aMember = (name: string, more: Partial<UpdateInstance> = {}): UpdateInstance => ({
  instanceId: `i-${name}`,
  nodeName: name,
  zone: 'a',
  isCounted: true,
  isTarget: false,
  isReady: true,
  isLabelled: true,
  scaleDownDisabled: 'ours',
  hasOutdatedTaint: true,
  ...more,
});

export const members = (
  count: number,
  prefix: string,
  more: Partial<UpdateInstance> = {},
): readonly UpdateInstance[] =>
  Array.from({ length: count }, (_, i) => aMember(`${prefix}${i + 1}`, more));

/**
 * The update's cause for the node; with `hold` the node is cordoned and waits, else it is drained.
 */
const asked = (hold: boolean): NodeDisruption => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name: 'i', ...metadata },
  spec: {
    causes: [
      {
        kind: 'Update',
        id: 'update/up',
        receivedAt: formatTime(now),
        onDeadline: 'fail',
        followUp: 'Replace',
        ...(hold ? { hold } : {}),
      },
    ],
  },
  status: { episode: 1, phase: 'Draining' },
});
export const held = { disruption: asked(true) } as const;
export const draining = { disruption: asked(false) } as const;
export const fresh = { isTarget: true } as const;

export const observe = (
  status: Partial<NodeGroupUpdateStatus>,
  instances: readonly UpdateInstance[],
  more: Partial<Observation> = {},
): Observation => ({
  update: {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdate',
    metadata: { name: 'up', ...metadata },
    spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {} },
  },
  status: {
    status: 'InProgress',
    target,
    maxUnavailable: 1,
    phases: status.phase === undefined ? [] : [{ phase: status.phase, at: formatTime(now) }],
    ...status,
  },
  target,
  groupName: 'ng',
  desired: instances.length,
  surge: { desired: 0, maxSize: 0 },
  actualDesired: instances.length,
  suspended: [],
  usesTarget: true,
  instances,
  issues: [],
  drainTimeoutMs: 900_000,
  now,
  ...more,
});
