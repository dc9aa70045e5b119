// Builds the model's input from a snapshot. Budgets that never allow an eviction, and pods under
// several budgets, are modeled as if fixed. The preflight reports those; the model estimates the
// time of the rest.
import { isSilent } from '../../../api/conditions.ts';
import { defined } from '../../../api/defined.ts';
import { isOwnStrategy } from '../../../api/nodegroup-update.ts';
import { isForced, isNodeReady, type MovedPod, type View } from '../preflight/view.ts';
import { inOrderOfChance } from '../strategies/order.ts';
import { hookSpreads } from './hooks.ts';
import {
  defaultAppSpread,
  defaultCommonSpread,
  defaultTimes,
  type ModelApp,
  type ModelBudget,
  type ModelInput,
  type ModelPod,
  markSettleSeconds,
} from './model.ts';
import type { Spread } from './spread.ts';
import { graceOf, seenStops, stopSpread } from './stops.ts';
import { bootSpread, measuredTimes, replaceSpread } from './times.ts';

const keyOf = ({ owner, name }: MovedPod): string => owner?.key ?? `Pod/${name}`;

const appsOf = (view: View, budgets: ReadonlyMap<string, number>, told: Spread | undefined) => {
  const { stopTimes = [], workloads } = view.snapshot;
  const seen = seenStops(stopTimes, workloads);
  const byKey = new Map<string, MovedPod[]>();
  for (const moved of view.moved) {
    const known = byKey.get(keyOf(moved));
    if (known === undefined) byKey.set(keyOf(moved), [moved]);
    else known.push(moved);
  }
  const apps = [...byKey].map(([key, pods]): ModelApp => {
    const [first] = pods;
    const all = pods.map(({ pod }) => pod);
    const budget = first?.budgets[0];
    const name = budget && `${budget.metadata.namespace ?? ''}/${budget.metadata.name}`;
    return {
      key,
      budget: name === undefined ? undefined : budgets.get(name),
      stop: stopSpread(all, { seen: seen.get(key) ?? [], told }),
      graceSeconds: graceOf(all),
      replace: replaceSpread(all),
      waitsForStop: first?.owner?.kind === 'StatefulSet',
    };
  });
  return { apps, indexOf: new Map([...byKey.keys()].map((key, index) => [key, index])) };
};

/** Times that a snapshot does not contain. */
export interface CloudTimes {
  /** From the request to the first launch. */
  readonly setup?: Spread;
  /** Until Auto Scaling has launched the missing instances. */
  readonly launch?: Spread;
  /** From the termination call until the instance is gone. */
  readonly terminate?: Spread;
  /** From SIGTERM to exit, bounded by the grace period. */
  readonly stop?: Spread;
  /** As in ModelInput. */
  readonly commonSpread?: number;
}

/** Position of each node in the controller's random order, by instance id; empty if unknown. */
const turnsIn = ({ snapshot: { group, target }, oldNodes }: View): ReadonlyMap<string, number> => {
  const { imageId, launchTemplate } = target;
  const ids = oldNodes.flatMap(({ instanceId }) => instanceId ?? []);
  // The order that EKS draws is unknown.
  if (group.managedBy === 'eks' || imageId === undefined || ids.length < oldNodes.length) {
    return new Map();
  }
  const drawn = {
    groupName: group.name,
    target: { imageId, ...defined({ launchTemplate }) },
  };
  return new Map(inOrderOfChance(ids, (id) => id, drawn).map((id, turn) => [id, turn]));
};

/** Usual times of the embedded world of `drover up`, until measured. */
const embeddedTimes: CloudTimes = {
  setup: { p50: 0.3, p90: 0.5, source: 'usual in the embedded world' },
  launch: { p50: 1.2, p90: 4, source: 'usual in the embedded world' },
  terminate: { p50: 6.9, p90: 8.6, source: 'usual in the embedded world' },
  // For pods without the world's annotations about their stop time.
  stop: { p50: 1.3, p90: 1.9, source: 'usual in the embedded world' },
  // Instance times vary individually; the whole cloud has no slow or fast days.
  commonSpread: 0,
};

/** Measured times take precedence over the known times of the cloud. */
const timesOf = ({ snapshot: { times } }: View, known: CloudTimes): CloudTimes => ({
  ...(times?.isEmbedded === true ? embeddedTimes : {}),
  ...known,
  ...(times === undefined ? {} : measuredTimes(times)),
});

const modelPod = ({ name, waitSeconds }: MovedPod, app: number): ModelPod =>
  waitSeconds === 0 ? { name, app } : { name, app, waitSeconds };

export const modelOf = (view: View, ofCloud: CloudTimes = {}): ModelInput => {
  const { snapshot, oldNodes, surge } = view;
  const known = timesOf(view, ofCloud);
  const { group, nodes } = snapshot;
  const budgets = view.budgets.map(
    ({ name, allowed }): ModelBudget => ({ name, allowed: Math.max(1, allowed) }),
  );
  const { apps, indexOf } = appsOf(
    view,
    new Map(budgets.map(({ name }, i) => [name, i])),
    known.stop,
  );
  const never = view.budgets.filter(({ allowed }) => allowed === 0).flatMap(({ pods }) => pods);
  const hopeless = new Set(never.map(({ node }) => node));
  const turns = turnsIn(view);
  const turnOf = (instanceId = ''): { readonly turn?: number } => {
    const turn = turns.get(instanceId);
    return turn === undefined ? {} : { turn };
  };
  return {
    strategy: group.strategy,
    nodes: oldNodes.map(({ node, zone, instanceId }) => ({
      name: node.metadata.name,
      zone,
      ...turnOf(instanceId),
      isHopeless: hopeless.has(node.metadata.name),
      isReady: isNodeReady({ node }),
      isUnreachable: isSilent(node),
      pods: view
        .movedFrom(node.metadata.name)
        .map((moved) => modelPod(moved, indexOf.get(keyOf(moved)) ?? -1)),
    })),
    apps,
    budgets,
    maxUnavailable: group.maxUnavailable,
    surge,
    desired: group.sizes.desired,
    done: nodes.filter(({ isOfGroup, isOld }) => isOfGroup && !isOld).length,
    podRoom: view.newNodes[0]?.room?.pods ?? Number.POSITIVE_INFINITY,
    hasRoomElsewhere: view.others.some(({ isOfGroup }) => !isOfGroup),
    drainTimeoutSeconds: group.drainTimeoutSeconds,
    cooldownSeconds: group.cooldownSeconds,
    waves: snapshot.outlook?.waves ?? [],
    soakSeconds: group.soakSeconds ?? 0,
    batchSoakSeconds: group.batchSoakSeconds ?? 0,
    force: isForced(group),
    times: {
      setup: known.setup ?? defaultTimes.setup,
      launch: known.launch ?? defaultTimes.launch,
      boot: bootSpread(nodes),
      terminate: known.terminate ?? defaultTimes.terminate,
      look: defaultTimes.look,
      backoff: defaultTimes.backoff,
      ...(group.hooks === undefined || !isOwnStrategy(group.strategy)
        ? {}
        : { hooks: hookSpreads(group.hooks, group.hookTimes ?? []) }),
    },
    settleSeconds: markSettleSeconds,
    commonSpread: known.commonSpread ?? defaultCommonSpread,
    appSpread: defaultAppSpread,
  };
};
