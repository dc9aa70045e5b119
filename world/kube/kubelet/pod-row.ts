// What the kubelets store about a running pod: one row per uid, so that a restarted world resumes.
// Contains no behaviour.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Micros } from '../../kernel/index.ts';
import { keyOf, type PodView } from '../actors/index.ts';
import { type DebugContainer, ended } from './debug-containers.ts';
import type { Host } from './hosts.ts';
import type { Pull } from './pod-images.ts';
import type { PodStage } from './pod-status.ts';

export interface PodRow extends JsonObject {
  readonly key: string;
  readonly instanceId: string;
  readonly stage: PodStage | 'stopped';
  readonly seenAt: Micros;
  readonly ready: boolean;
  readonly restarts: number;
  readonly address?: string;
  /** The pod was created without the webhook's mark, so it gets no address on a Windows node. */
  readonly lacksAddress?: boolean;
  readonly pull?: Pull;
  readonly startedAt?: string;
  readonly exitCode?: number;
  /** Why the kubelet ended the pod. */
  readonly failure?: { readonly reason: string; readonly message: string };
  readonly containerIds: readonly string[];
  /** Ephemeral containers that the kubelet has started, in order. */
  readonly debug?: readonly DebugContainer[];
  /** When a pod that is being stopped will have stopped. */
  readonly stopAt?: Micros;
}

/** The row of a pod that the kubelet has just observed. */
export const newRow = (
  host: Host,
  pod: PodView,
  now: Micros,
  { lacksAddress = false }: { readonly lacksAddress?: boolean } = {},
): PodRow => ({
  key: keyOf(pod),
  instanceId: host.machine.instanceId,
  stage: 'creating',
  seenAt: now,
  ready: false,
  restarts: 0,
  containerIds: [],
  ...(lacksAddress ? { lacksAddress } : {}),
});

/** The containers restart with another address. */
export const rebooted = (row: PodRow, time: string): PodRow => {
  const { address: _address, startedAt: _startedAt, ...rest } = row;
  return {
    ...rest,
    stage: 'creating',
    ready: false,
    restarts: row.restarts + 1,
    ...(row.debug === undefined ? {} : { debug: ended(row.debug, time) }),
  };
};
