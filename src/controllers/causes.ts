// Writes causes into NodeDisruptions, and retries after a conflict with another writer.
// core/termination decides what a cause contains; nothing is drained here.

import { formatTime } from '../api/brand.ts';
import type { DisruptionCause, NodeDisruption } from '../api/disruption.ts';
import { resourceTypes } from '../api/kube.ts';
import {
  causeWrite,
  type DisruptionSubject,
  replaceCausesWrite,
  withdrawCauseWrite,
} from '../core/termination/index.ts';
import { type Clock, type KubeApi, KubeError } from '../ports/index.ts';
import type { Informer } from '../runtime/index.ts';

/** A conflict between our read and our write is normal; this many in a row are not. */
const maxRaces = 6;

/**
 * Records `cause` and resolves once it is persisted. Idempotent: repeats, lost answers and
 * concurrent writers result in one cause. `refused`: not written, because the object is full of
 * causes in force. Throws KubeError.
 */
export const recordCause = async (
  deps: { readonly kube: KubeApi; readonly disruptions: Informer<NodeDisruption> },
  what: {
    readonly subject: DisruptionSubject;
    readonly cause: DisruptionCause;
    /**
     * Resolves once our own watch has shown the write: a caller that counts its requests must not
     * miss one.
     */
    readonly untilSeen?: boolean;
  },
  signal: AbortSignal,
): Promise<'created' | 'patched' | 'recorded' | 'refused'> => {
  const { kube, disruptions } = deps;
  const { subject, cause } = what;
  const type = resourceTypes.nodedisruptions;
  const { name } = subject;
  const seen = async (resourceVersion: string): Promise<void> => {
    if (what.untilSeen === true) await disruptions.observedAtLeast(resourceVersion, signal);
  };
  let existing = disruptions.get(name);
  for (let race = 1; ; race++) {
    const write = causeWrite(existing, subject, cause);
    if (write.kind === 'recorded') return write.refused === true ? 'refused' : 'recorded';
    try {
      if (write.kind === 'create') {
        const made = await kube.create(type, write.object, { signal });
        await seen(made.metadata.resourceVersion);
        return 'created';
      }
      const patch = { type: 'merge', body: write.body } as const;
      const patched = await kube.patch(type, { name }, patch, { signal });
      if (patched.kind === 'found') {
        await seen(patched.object.metadata.resourceVersion);
        return 'patched';
      }
      existing = undefined;
    } catch (error) {
      if (!lostRace(error) || race >= maxRaces) throw error;
      const found = await kube.get<NodeDisruption>(type, { name }, { signal });
      existing = found.kind === 'found' ? found.object : undefined;
    }
  }
};

/**
 * Writes the cloud's answers into causes; returns true when it wrote something. Throws KubeError.
 */
export const replaceCauses = async (
  { kube }: { readonly kube: KubeApi },
  what: { readonly disruption: NodeDisruption; readonly causes: readonly DisruptionCause[] },
  signal: AbortSignal,
): Promise<boolean> => {
  const { disruption, causes } = what;
  const write = replaceCausesWrite(disruption, causes);
  if (write.kind !== 'patch') return false;
  const { name } = disruption.metadata;
  const patch = { type: 'merge', body: write.body } as const;
  const patched = await kube.patch(resourceTypes.nodedisruptions, { name }, patch, { signal });
  return patched.kind === 'found';
};

/** Withdraws one cause; resolves once persisted. No-op if absent. Throws KubeError. */
export const withdrawCause = async (
  deps: { readonly kube: KubeApi; readonly clock: Clock },
  what: { readonly name: string; readonly causeId: string },
  signal: AbortSignal,
): Promise<void> => {
  const type = resourceTypes.nodedisruptions;
  const { name, causeId } = what;
  for (let race = 1; ; race++) {
    const found = await deps.kube.get<NodeDisruption>(type, { name }, { signal });
    if (found.kind === 'gone') return;
    const at = formatTime(deps.clock.now());
    const write = withdrawCauseWrite(found.object, causeId, at);
    if (write.kind !== 'patch') return;
    try {
      await deps.kube.patch(type, { name }, { type: 'merge', body: write.body }, { signal });
      return;
    } catch (error) {
      if (!lostRace(error) || race >= maxRaces) throw error;
    }
  }
};

const lostRace = (error: unknown): boolean =>
  error instanceof KubeError && (error.code === 'Conflict' || error.code === 'AlreadyExists');
