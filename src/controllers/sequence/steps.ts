// The steps of an update sequence: setting and removing marks, creating, pausing and stopping
// updates, the finalizer. Each is safe to repeat, and checks leadership just before its effect.
// Decides nothing.

import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type ResourceType, resourceTypes } from '../../api/kube.ts';
import { newUpdate } from '../../api/new-update.ts';
import {
  awaitingTaint,
  type NodeGroupUpdateSequence,
  type NodeGroupUpdateSequenceStatus,
  pausedBySequenceAnnotation,
  sequenceAnnotation,
  sequenceFinalizer,
} from '../../api/update-sequence.ts';
import { versionParams } from '../../core/nodegroup/index.ts';
import type { SequenceStep } from '../../core/update/index.ts';
import { KubeError } from '../../ports/index.ts';
import { type Informer, mergePatchBetween } from '../../runtime/index.ts';
import type { SequenceDeps } from './deps.ts';

const { nodegroupupdates, nodegroupupdatesequences: sequenceType } = resourceTypes;

interface Write {
  readonly type: ResourceType;
  readonly informer: Pick<Informer<NodeGroupUpdateSequence>, 'observedAtLeast'>;
  readonly name: string;
  readonly body: JsonObject;
  readonly subresource?: 'status';
  readonly signal: AbortSignal;
}

/**
 * Resolves once the informer shows the write. False: the object changed or is gone; decide again.
 */
const write = async (deps: SequenceDeps, wanted: Write): Promise<boolean> => {
  const { type, informer, name, body, subresource, signal } = wanted;
  const patch = {
    type: 'merge' as const,
    body,
    ...defined({ subresource }),
  };
  try {
    const found = await deps.kube.patch(type, { name }, patch, { signal });
    if (found.kind !== 'found') return false;
    await informer.observedAtLeast(found.object.metadata.resourceVersion, signal);
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.code === 'Conflict') return false;
    throw error;
  }
};

const patchSequence = (
  deps: SequenceDeps,
  sequence: NodeGroupUpdateSequence,
  body: { readonly metadata?: JsonObject; readonly status?: JsonObject },
  signal: AbortSignal,
): Promise<boolean> => {
  const { name, resourceVersion } = sequence.metadata;
  return write(deps, {
    type: sequenceType,
    informer: deps.sequences,
    name,
    body: { ...body, metadata: { ...body.metadata, resourceVersion } },
    ...(body.status === undefined ? {} : { subresource: 'status' }),
    signal,
  });
};

export const hold = (
  deps: SequenceDeps,
  sequence: NodeGroupUpdateSequence,
  signal: AbortSignal,
) => {
  const finalizers = [...(sequence.metadata.finalizers ?? []), sequenceFinalizer];
  return patchSequence(deps, sequence, { metadata: { finalizers } }, signal);
};

const release = (deps: SequenceDeps, sequence: NodeGroupUpdateSequence, signal: AbortSignal) => {
  const all = sequence.metadata.finalizers ?? [];
  const finalizers = all.filter((one) => one !== sequenceFinalizer);
  return patchSequence(deps, sequence, { metadata: { finalizers } }, signal);
};

/** True when the status is written. */
export const writeStatus = async (
  deps: SequenceDeps,
  sequence: NodeGroupUpdateSequence,
  status: NodeGroupUpdateSequenceStatus,
  signal: AbortSignal,
): Promise<boolean> => {
  const difference = mergePatchBetween(sequence.status, status);
  if (difference === undefined) return true;
  const isWritten = await patchSequence(deps, sequence, { status: difference }, signal);
  const { phase } = status;
  if (isWritten && phase !== sequence.status?.phase) {
    const facts = { phase, status: status.status };
    deps.journal.record({ type: 'sequence:phase', subject: sequence.metadata.name, facts });
  }
  return isWritten;
};

const mark = async (
  deps: SequenceDeps,
  owner: string,
  { nodeName, isMarked }: { readonly nodeName: string; readonly isMarked: boolean },
  signal: AbortSignal,
): Promise<void> => {
  const node = deps.nodes.get(nodeName);
  if (node === undefined) return;
  const { uid, resourceVersion } = node.metadata;
  const taint = { key: awaitingTaint, value: owner, effect: 'PreferNoSchedule' };
  const others = (node.spec.taints ?? []).filter(({ key }) => key !== awaitingTaint);
  const taints = (isMarked ? [...others, taint] : others).map((one) => ({ ...one }));
  // A merge patch replaces the whole list; only the resourceVersion makes that safe.
  const body = { metadata: { uid, resourceVersion }, spec: { taints } };
  const { nodes } = deps;
  await write(deps, { type: resourceTypes.nodes, informer: nodes, name: nodeName, body, signal });
};

/** Creates the update once: an existing one of that name counts as created. */
const begin = async (
  deps: SequenceDeps,
  { metadata, spec }: NodeGroupUpdateSequence,
  { group, update }: Extract<SequenceStep, { readonly kind: 'Begin' }>,
  signal: AbortSignal,
): Promise<void> => {
  const owner = deps.nodeGroups.get(group.name);
  if (owner === undefined) return;
  const { force, strategy, policies } = spec;
  const change = group.target ?? spec.target ?? {};
  const object = newUpdate({
    name: update,
    owner: owner.metadata,
    annotations: { [sequenceAnnotation]: metadata.name },
    spec: {
      nodeGroup: group.name,
      type: 'VersionUpdate',
      action: 'Update',
      reason: `sequence ${metadata.name}`,
      params: versionParams(change),
      change,
      ...defined({ force, strategy, policies }),
    },
  });
  try {
    const made = await deps.kube.create(nodegroupupdates, object, { signal });
    await deps.updates.observedAtLeast(made.metadata.resourceVersion, signal);
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
  }
};

const ask = async (
  deps: SequenceDeps,
  { metadata, spec }: NodeGroupUpdateSequence,
  { kind, update }: Extract<SequenceStep, { readonly kind: 'Pause' | 'Resume' | 'Abort' }>,
  signal: AbortSignal,
): Promise<void> => {
  const isPaused = kind === 'Pause';
  const annotations = { [pausedBySequenceAnnotation]: isPaused ? metadata.name : null };
  const body: JsonObject =
    kind === 'Abort'
      ? { spec: { abort: spec.abort ?? 'Stop' } }
      : { metadata: { annotations }, spec: { paused: isPaused } };
  const { updates: informer } = deps;
  await write(deps, { type: nodegroupupdates, informer, name: update, body, signal });
};

const run = async (
  deps: SequenceDeps,
  sequence: NodeGroupUpdateSequence,
  step: SequenceStep,
  signal: AbortSignal,
): Promise<void> => {
  const { name } = sequence.metadata;
  switch (step.kind) {
    case 'Mark':
    case 'Unmark': {
      const { nodeName } = step;
      return mark(deps, name, { nodeName, isMarked: step.kind === 'Mark' }, signal);
    }
    case 'Begin':
      return begin(deps, sequence, step, signal);
    case 'Pause':
    case 'Resume':
    case 'Abort':
      return ask(deps, sequence, step, signal);
    case 'Release':
      await release(deps, sequence, signal);
  }
};

/** Keeps the status small, however long a webhook's message is. */
const maxRefusal = 240;

/**
 * Runs the steps. Returns why the API server refused new updates, if it did; other groups continue.
 */
export const runSteps = async (
  deps: SequenceDeps,
  sequence: NodeGroupUpdateSequence,
  steps: readonly SequenceStep[],
  signal: AbortSignal,
): Promise<string | undefined> => {
  const refused: string[] = [];
  for (const step of steps) {
    try {
      await run(deps, sequence, step, signal);
    } catch (error) {
      const isRefusal = error instanceof KubeError && error.retry === 'never';
      if (step.kind !== 'Begin' || !isRefusal) throw error;
      const why = error.message.slice(0, maxRefusal);
      refused.push(`${step.group.name}: the API server refuses update ${step.update}: ${why}`);
      continue;
    }
    const { kind, ...facts } = step;
    const told = JSON.parse(JSON.stringify(facts)) as JsonObject;
    const type = `sequence:${kind.toLowerCase()}`;
    deps.journal.record({ type, subject: sequence.metadata.name, facts: told });
  }
  return refused.length === 0 ? undefined : refused.join('; ');
};
