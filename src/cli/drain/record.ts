// Writes a NodeDisruption's causes despite concurrent writers: read, decide, write with the version
// that was read, and repeat after a conflict. Drains nothing.

import { type EpochMs, epochMs, formatTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import type { DisruptionCause, NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { disruptionNameOf } from '../../core/overview/index.ts';
import {
  type CauseWrite,
  causesInForce,
  causeWrite,
  type DisruptionSubject,
} from '../../core/termination/index.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';

/** A conflict between our read and our write is normal; this many in a row are not. */
const maxRaces = 8;
const groupLabel = 'eks.amazonaws.com/nodegroup';

const lostRace = (error: unknown): boolean =>
  error instanceof KubeError && (error.code === 'Conflict' || error.code === 'AlreadyExists');

/**
 * Undefined when it does not exist. A cluster without our definitions throws an error with the
 * remedy.
 */
export const readDisruption = async (
  kube: KubeApi,
  name: string,
): Promise<NodeDisruption | undefined> => {
  const found = await kube.get<NodeDisruption>(resourceTypes.nodedisruptions, { name });
  return found.kind === 'found' ? found.object : undefined;
};

const notServed = (cause: unknown): CommandError =>
  new CommandError(
    exitCodes.failed,
    'this cluster knows no NodeDisruptions (drover.dev): start `drover controller`, which ' +
      'installs ' +
      'the definition and acts on it, or `kubectl apply -f deploy/crds`',
    { cause },
  );

/** Applies `decide` until nothing is left to write. Resolves with the resulting object. */
export const writeCauses = async (
  kube: KubeApi,
  name: string,
  decide: (existing: NodeDisruption | undefined) => CauseWrite,
): Promise<NodeDisruption | undefined> => {
  const type = resourceTypes.nodedisruptions;
  for (let race = 1; ; race++) {
    const existing = await readDisruption(kube, name);
    const write = decide(existing);
    if (write.kind === 'recorded') return existing;
    try {
      if (write.kind === 'create') return await kube.create<NodeDisruption>(type, write.object);
      const patch = { type: 'merge', body: write.body } as const;
      const patched = await kube.patch<NodeDisruption>(type, { name }, patch);
      if (patched.kind === 'found') return patched.object;
    } catch (error) {
      if (error instanceof KubeError && error.code === 'NotFound') throw notServed(error);
      if (!lostRace(error)) throw error;
    }
    if (race >= maxRaces) {
      throw new CommandError(
        exitCodes.failed,
        `NodeDisruption ${name} was changed by others ${maxRaces} times while it was being ` +
          'written: run the command again',
      );
    }
  }
};

export const subjectOf = (node: Node): DisruptionSubject => {
  const name = disruptionNameOf(node);
  const nodeGroup = node.metadata.labels?.[groupLabel];
  return {
    name,
    nodeName: node.metadata.name,
    ...(name.startsWith('i-') ? { instanceId: name } : {}),
    ...defined({ nodeGroup }),
  };
};

export interface DrainRequest {
  readonly now: EpochMs;
  readonly userName: string;
  readonly timeoutSeconds: number | undefined;
  readonly onDeadline: 'force' | 'fail';
  readonly reason: string | undefined;
}

/** The cause for this request. A drain only empties the node, never more. */
export const manualCause = (request: DrainRequest): DisruptionCause => {
  const { now, userName, timeoutSeconds, onDeadline, reason } = request;
  const receivedAt = formatTime(now);
  return {
    kind: 'Manual',
    id: `manual/${userName}/${receivedAt}`,
    receivedAt,
    ...(timeoutSeconds === undefined
      ? {}
      : { deadline: formatTime(epochMs(now + timeoutSeconds * 1000)) }),
    onDeadline,
    followUp: 'Release',
    requestedBy: userName,
    reason: reason ?? 'drover drain',
  };
};

/** A Manual cause in force that already covers everything in `request`. */
export const sameRequest = (
  existing: NodeDisruption | undefined,
  request: DrainRequest,
): DisruptionCause | undefined => {
  if (existing === undefined || request.timeoutSeconds !== undefined) return undefined;
  return causesInForce(existing).find(({ kind }) => kind === 'Manual');
};

export interface Recorded {
  readonly name: string;
  readonly node: string;
  readonly causeId: string;
  /** False when the node was already being drained manually. */
  readonly isNew: boolean;
}

/** Records one Manual cause on the node's NodeDisruption, and nothing else. */
export const recordDrain = async (
  kube: KubeApi,
  node: Node,
  request: DrainRequest,
): Promise<Recorded> => {
  const subject = subjectOf(node);
  const fresh = manualCause(request);
  let causeId = fresh.id;
  await writeCauses(kube, subject.name, (existing) => {
    const same = sameRequest(existing, request);
    causeId = same?.id ?? fresh.id;
    return same === undefined ? causeWrite(existing, subject, fresh) : { kind: 'recorded' };
  });
  const isNew = causeId === fresh.id;
  return { name: subject.name, node: node.metadata.name, causeId, isNew };
};
