// Carries an uninstallation out, in an order in which each step may be repeated: groups and drains
// while the controller runs, records, the controller, open surges, its rights and Lease, marks,
// definitions.
// Terminates no instance, and calls nothing in AWS: the controller removes hooks and tags.
import { durationMs, type EpochMs, formatTime } from '../../api/brand.ts';
import { customResourceDefinitions } from '../../api/crds.ts';
import { marks, type NodeDisruption } from '../../api/disruption.ts';
import { type Node, resourceTypes } from '../../api/kube.ts';
import { isRetained } from '../../api/nodegroup.ts';
import {
  type CauseWrite,
  ownedOn,
  withdrawAllWrite,
  withdrawWrite,
} from '../../core/termination/index.ts';
import { type KubeApi, KubeError, listNodeGroups } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { writeCauses } from '../drain/record.ts';
import { controllerDeployment, recordTypes } from './objects.ts';
import { type Installation, isMarked, marksOn, readDrains, readLeader } from './read.ts';
import { endOpenSurges } from './surges.ts';

export interface Uninstallation {
  readonly context: CliContext;
  readonly kube: KubeApi;
  readonly found: Installation;
  /** The cluster's time. */
  readonly now: () => EpochMs;
  /** Epoch milliseconds of the command's own clock. */
  readonly deadline: number;
  readonly crds: boolean;
}

const lookEveryMs = durationMs(1_000);

/** Polls until `left` is empty; a line for each change of what it waits for. */
const waitFor = async (
  { context, deadline }: Uninstallation,
  left: () => Promise<readonly string[]>,
  remedy: string,
): Promise<void> => {
  let reported = '';
  for (;;) {
    const waiting = await left();
    if (waiting.length === 0) return;
    const text = waiting.join(', ');
    if (text !== reported) context.err(`waiting for ${text}`);
    reported = text;
    if (context.clock.now() >= deadline || context.signal.aborted) {
      throw new CommandError(
        context.signal.aborted ? exitCodes.interrupted : exitCodes.timedOut,
        `not uninstalled yet: ${text}. ${remedy}; run the command again to go on`,
      );
    }
    await context.clock.sleep(lookEveryMs, context.signal).catch(() => undefined);
  }
};

/** An ended drain keeps its marks until all of its causes are withdrawn. */
const withdrawn = (existing: NodeDisruption, at: string): CauseWrite =>
  existing.status?.phase === 'Ended' ? withdrawAllWrite(existing, at) : withdrawWrite(existing, at);

const withdrawDrains = async (
  { kube, now }: Uninstallation,
  drains: readonly NodeDisruption[],
): Promise<void> => {
  for (const { metadata } of drains) {
    const at = formatTime(now());
    await writeCauses(kube, metadata.name, (existing) =>
      existing === undefined ? { kind: 'recorded' } : withdrawn(existing, at),
    );
  }
};

const releaseGroups = async (run: Uninstallation): Promise<void> => {
  const { kube, found } = run;
  await withdrawDrains(run, found.openDrains);
  for (const group of found.groups) {
    const { name } = group.metadata;
    if (!isRetained(group)) {
      const body = { spec: { deletionPolicy: 'Retain' } };
      await kube.patch(resourceTypes.nodegroups, { name }, { type: 'merge', body });
    }
    await kube.delete(resourceTypes.nodegroups, { name });
  }
  if (!found.hasDefinitions) return;
  const left = async () => {
    const { open } = await readDrains(kube);
    // A drain may have ended since, with its marks.
    await withdrawDrains(run, open);
    return [
      ...(await listNodeGroups(kube)).map(({ metadata }) => `nodegroup ${metadata.name}`),
      ...open.map(({ metadata }) => `the drain of ${metadata.name}`),
    ];
  };
  await waitFor(
    run,
    left,
    '`drover describe ng NAME` and `drover explain NODE` name what they wait for',
  );
};

const deleteRecords = async (run: Uninstallation): Promise<void> => {
  const { kube, found } = run;
  if (!found.hasDefinitions) return;
  const left = async (): Promise<readonly string[]> => {
    const kinds: string[] = [];
    for (const type of recordTypes) {
      const { items } = await kube.list(type);
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp === undefined) {
          await kube.delete(type, { name: metadata.name });
        }
      }
      if (items.length > 0) kinds.push(`${items.length} ${type.resource}`);
    }
    return kinds;
  };
  await waitFor(run, left, 'The controller removes their finalizers');
};

const stopController = async (run: Uninstallation): Promise<void> => {
  const { kube, found, now } = run;
  const { type, name } = controllerDeployment;
  if (found.deployment !== undefined) {
    await kube.delete(type, name, { propagationPolicy: 'Foreground' });
  }
  const left = async (): Promise<readonly string[]> => {
    const leader = await readLeader(kube, now());
    return leader === undefined ? [] : [`${leader} to release the Lease`];
  };
  await waitFor(run, left, 'Stop the process `drover controller` that holds it');
};

/**
 * One patch of the node and one of its status, under its resourceVersion: others write taints and
 * conditions too. Marks that its annotation records as Drover's are undone, except on a node that
 * is kept for inspection.
 */
const clearNode = async (
  { context, kube }: Uninstallation,
  node: Node,
  isInspected: boolean,
): Promise<void> => {
  const { name, uid, resourceVersion } = node.metadata;
  const { labels, annotations, taints, conditions } = marksOn(node);
  const none = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));
  const keptTaints = (node.spec.taints ?? []).filter(({ key }) => !taints.includes(key));
  const owned = ownedOn(node);
  const isUncordoned = owned.unschedulable && !isInspected;
  const excluded = owned.excludeLabel && !isInspected ? [marks.excludeFromLoadBalancers] : [];
  const body = {
    metadata: {
      uid,
      resourceVersion,
      labels: none([...labels, ...excluded]),
      annotations: none(annotations),
    },
    spec: {
      ...(taints.length === 0 ? {} : { taints: keptTaints.map((one) => ({ ...one })) }),
      ...(isUncordoned ? { unschedulable: null } : {}),
    },
  };
  const type = resourceTypes.nodes;
  const patched = await kube.patch<Node>(type, { name }, { type: 'merge', body });
  if (patched.kind === 'gone') return;
  if (conditions.length > 0) {
    const kept = (patched.object.status.conditions ?? []).filter(
      (one) => !conditions.some((ours) => ours === one.type),
    );
    const status = {
      metadata: { uid, resourceVersion: patched.object.metadata.resourceVersion },
      status: { conditions: kept.map((one) => ({ ...one })) },
    };
    await kube.patch(type, { name }, { type: 'merge', body: status, subresource: 'status' });
  }
  if (node.spec.unschedulable === true && !isUncordoned) {
    context.err(`${name} stays cordoned; \`kubectl uncordon ${name}\` ends that`);
  }
};

/** A conflict between our read and our write is normal; this many in a row are not. */
const maxRaces = 8;

/** Kubelets write their nodes all the time: after a conflict the node is read again. */
export const clearMarks = async (run: Uninstallation): Promise<void> => {
  const { kube, found } = run;
  const inspected = new Set(found.inspected.map(({ status }) => status?.node?.uid));
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  for (const { metadata } of items.filter(isMarked)) {
    for (let race = 1; ; race++) {
      const now = await kube.get<Node>(resourceTypes.nodes, { name: metadata.name });
      if (now.kind === 'gone' || !isMarked(now.object)) break;
      try {
        await clearNode(run, now.object, inspected.has(now.object.metadata.uid));
        break;
      } catch (error) {
        const isConflict = error instanceof KubeError && error.code === 'Conflict';
        if (!isConflict || race >= maxRaces) throw error;
      }
    }
  }
};

const deleteDefinitions = async (run: Uninstallation): Promise<void> => {
  const type = resourceTypes.customresourcedefinitions;
  const names = customResourceDefinitions.map(({ metadata }) => metadata.name);
  for (const name of names) await run.kube.delete(type, { name });
  const left = async (): Promise<readonly string[]> => {
    const still: string[] = [];
    for (const name of names) {
      if ((await run.kube.get(type, { name })).kind === 'found') still.push(name);
    }
    return still;
  };
  await waitFor(run, left, 'An object of it has a finalizer of others');
};

/** A kind that the cluster does not serve has no objects. */
const deleteObjects = async ({ kube, found }: Uninstallation): Promise<void> => {
  for (const { type, name } of found.objects) {
    try {
      await kube.delete(type, name);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'NotFound') throw error;
    }
  }
};

/** Throws CommandError, KubeError. */
export const removeAll = async (run: Uninstallation): Promise<void> => {
  await releaseGroups(run);
  await deleteRecords(run);
  await stopController(run);
  await endOpenSurges(run.context, run.kube, run.now());
  await deleteObjects(run);
  await clearMarks(run);
  if (run.crds) await deleteDefinitions(run);
};
