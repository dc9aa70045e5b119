// Update sequences on the command line: finds one, displays it, and watches it until its end. Reads
// only, except `requestSequence`.
import { durationMs } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import { resourceTypes } from '../../api/kube.ts';
import type {
  NodeGroupUpdateSequence,
  NodeGroupUpdateSequenceSpec,
  NodeGroupUpdateSequenceStatus,
} from '../../api/update-sequence.ts';
import { type Clock, type KubeApi, KubeError } from '../../ports/index.ts';
import { CommandError, type ExitCode, exitCodes } from '../context.ts';
import { documentVersion } from '../drain/render.ts';

const type = resourceTypes.nodegroupupdatesequences;

/** Newest first. */
export const listSequences = async (kube: KubeApi): Promise<readonly NodeGroupUpdateSequence[]> => {
  try {
    const { items } = await kube.list<NodeGroupUpdateSequence>(type);
    return items.toSorted(
      ({ metadata: a }, { metadata: b }) =>
        b.creationTimestamp.localeCompare(a.creationTimestamp) || b.name.localeCompare(a.name),
    );
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'NotFound') throw error;
    throw new CommandError(
      exitCodes.failed,
      'this cluster knows no NodeGroupUpdateSequences (drover.dev): start `drover ' +
        'controller`, which ' +
        'installs the definition, or `kubectl apply -f deploy/crds`',
      { cause: error },
    );
  }
};

export const needSequence = async (
  kube: KubeApi,
  name: string,
): Promise<NodeGroupUpdateSequence> => {
  const all = await listSequences(kube);
  const found = all.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const names = all.map(({ metadata }) => metadata.name).join(', ') || 'none';
  throw new CommandError(exitCodes.failed, `no update sequence ${name}; there are: ${names}`);
};

export const statusOf = ({
  status,
}: NodeGroupUpdateSequence): NodeGroupUpdateSequenceStatus['status'] =>
  status?.status ?? 'InProgress';

export const sequenceHeader = ['SEQUENCE', 'STATUS', 'PHASE', 'GROUPS', 'MESSAGE'];

export const sequenceCells = (sequence: NodeGroupUpdateSequence): readonly string[] => {
  const { metadata, spec, status } = sequence;
  const { done = 0, total = spec.groups.length } = status?.progress ?? {};
  const phase = status?.phase ?? '-';
  return [metadata.name, statusOf(sequence), phase, `${done}/${total}`, status?.message ?? ''];
};

const sequenceItem = (sequence: NodeGroupUpdateSequence) => {
  const { metadata, spec, status } = sequence;
  return {
    name: metadata.name,
    status: statusOf(sequence),
    phase: status?.phase ?? null,
    message: status?.message ?? '',
    paused: spec.paused ?? false,
    abort: spec.abort ?? null,
    force: spec.force ?? false,
    target: spec.target ?? null,
    groups: spec.groups.map(({ name, after, target }) => {
      const entry = status?.groups.find((one) => one.name === name);
      return {
        name,
        after: after ?? null,
        target: target ?? null,
        status: entry?.status ?? 'Waiting',
        update: entry?.update ?? null,
        message: entry?.message ?? '',
      };
    }),
    createdAt: metadata.creationTimestamp,
    startedAt: status?.startedAt ?? null,
    endedAt: status?.endedAt ?? null,
  };
};

export const sequenceDocument = (sequence: NodeGroupUpdateSequence) => ({
  apiVersion: documentVersion,
  kind: 'UpdateSequence',
  ...sequenceItem(sequence),
});

export const sequenceListDocument = (sequences: readonly NodeGroupUpdateSequence[]) => ({
  apiVersion: documentVersion,
  kind: 'UpdateSequenceList',
  items: sequences.map(sequenceItem),
});

export const describeSequence = (sequence: NodeGroupUpdateSequence): readonly string[] => {
  const { name, status, phase, message, groups } = sequenceItem(sequence);
  const lines = groups.map((group) => {
    const update = group.update === null ? '' : `  update ${group.update}`;
    const after = group.after === null ? '' : `  after ${group.after.join(', ') || 'nothing'}`;
    const why = group.message === '' ? '' : `\n    ${group.message}`;
    return `  ${group.name}  ${group.status}${after}${update}${why}`;
  });
  const first = `sequence ${name}: ${status}${phase === null ? '' : `, phase ${phase}`}`;
  return [first, ...(message === '' ? [] : [message]), 'groups:', ...lines];
};

/** Throws CommandError where one of that name exists. */
export const requestSequence = async (
  kube: KubeApi,
  name: string,
  spec: NodeGroupUpdateSequenceSpec,
): Promise<void> => {
  const object: JsonObject = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdateSequence',
    metadata: { name },
    spec: JSON.parse(JSON.stringify(spec)) as JsonObject,
  };
  try {
    await kube.create(type, object);
  } catch (error) {
    if (!(error instanceof KubeError && error.code === 'AlreadyExists')) throw error;
    const remedy = `\`drover resume sequence ${name}\` continues it; --name creates another`;
    const message = `there is an update sequence ${name} already: ${remedy}`;
    throw new CommandError(exitCodes.refused, message, { cause: error });
  }
};

export const patchSequence = async (
  kube: KubeApi,
  name: string,
  spec: JsonObject,
): Promise<void> => {
  const patched = await kube.patch(type, { name }, { type: 'merge', body: { spec } });
  if (patched.kind === 'found') return;
  throw new CommandError(exitCodes.failed, `update sequence ${name} was deleted just now`);
};

const codeOf: Readonly<Record<NodeGroupUpdateSequenceStatus['status'], ExitCode>> = {
  Successful: exitCodes.done,
  Failed: exitCodes.failed,
  Cancelled: exitCodes.refused,
  InProgress: exitCodes.timedOut,
};

const pollMs = durationMs(1_000);

/**
 * Prints a line for each change until the sequence has ended. Throws CommandError unless it ends
 * successfully.
 */
export const watchSequence = async (
  deps: {
    readonly kube: KubeApi;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly tell: (line: string) => void;
  },
  name: string,
  giveUpAfterMs: number | undefined,
): Promise<void> => {
  const { kube, clock, signal, tell } = deps;
  const startedAt = clock.now();
  let said = '';
  while (!signal.aborted) {
    const found = await kube.get<NodeGroupUpdateSequence>(type, { name });
    if (found.kind === 'gone') {
      throw new CommandError(
        exitCodes.failed,
        `update sequence ${name} was deleted by another client`,
      );
    }
    const { message = 'waits for a controller' } = found.object.status ?? {};
    const status = statusOf(found.object);
    const line = `sequence ${name}: ${status}: ${message}`;
    if (found.object.status?.phase === 'Ended') {
      if (codeOf[status] !== exitCodes.done) throw new CommandError(codeOf[status], line);
      return tell(line);
    }
    if (line !== said) tell(line);
    said = line;
    if (giveUpAfterMs !== undefined && clock.now() - startedAt >= giveUpAfterMs) {
      const more = `it continues: \`drover get sequences ${name} --watch\``;
      throw new CommandError(
        exitCodes.timedOut,
        `update sequence ${name} is not over yet; ${more}`,
      );
    }
    await clock.sleep(pollMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
  const message = `update sequence ${name} is no longer watched; it continues`;
  throw new CommandError(exitCodes.interrupted, message);
};
