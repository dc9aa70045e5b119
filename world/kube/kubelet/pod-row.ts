// What the kubelets keep of a pod that they run: one row per uid, so that a restart of the world
// goes on where it was. Holds no behaviour.
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
  /** It was made without what the VPC's controller gives addresses of Windows nodes by. */
  readonly lacksAddress?: boolean;
  readonly pull?: Pull;
  readonly startedAt?: string;
  readonly exitCode?: number;
  /** Why the kubelet ended it. */
  readonly failure?: { readonly reason: string; readonly message: string };
  readonly containerIds: readonly string[];
  /** Ephemeral containers that it has started, in order. */
  readonly debug?: readonly DebugContainer[];
  /** When it will have stopped, once it is told to. */
  readonly stopAt?: Micros;
}

/** Of a pod that the kubelet has just seen. */
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

/** Its containers start anew, with another address. */
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
