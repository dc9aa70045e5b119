// What makes nodes unhealthy in a life: findings of agents, true and false, zone outages, a
// partition from the API server. Also what owners set about repairs: annotations and changed
// settings.
import { microsPerSecond } from '../../../world/kernel/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { objectOr } from '../../api/json.ts';
import {
  preserveAnnotation,
  repairAnnotation,
  zonalShiftAnnotation,
} from '../../api/node-repair.ts';
import type { Random } from '../../ports/index.ts';
import { type ActionContext, nodeGroups, pickOf } from './action.ts';
import { liveNodes, nodes } from './node-causes.ts';
import type { Illness, NodeHealth } from './node-health.ts';
import { repairByHand } from './repair-by-hand.ts';

/** These actions use a random stream of their own, so lives without them stay the same. */
export interface HealthContext extends ActionContext {
  readonly health: NodeHealth;
}

const illnesses: readonly [Illness, ...Illness[]] = [
  { condition: 'KernelReady', reason: 'ForkFailedOutOfPIDs' },
  { condition: 'NetworkingReady', reason: 'IPAMDNotReady' },
  { condition: 'NetworkingReady', reason: 'InterfaceNotUp' },
  { condition: 'StorageReady', reason: 'EBSVolumeIOPSExceeded' },
  { condition: 'ContainerRuntimeReady', reason: 'PodStuckTerminating' },
  { condition: 'AcceleratedHardwareReady', reason: 'NvidiaXID79Error' },
  { condition: 'AcceleratedHardwareReady', reason: 'NvidiaXID13Error' },
  { condition: 'AcceleratedHardwareReady', reason: 'DCGMError' },
];
const agentConditions = [...new Set(illnesses.map(({ condition }) => condition))];

const drawIllness = (random: Random): Illness => pickOf(random, illnesses) ?? illnesses[0];

const fallIll = ({ random, health, ...rest }: HealthContext): void => {
  const node = pickOf(random, liveNodes({ random, ...rest }));
  if (node !== undefined) health.fall(node.name, drawIllness(random));
};

const recover = ({ random, health }: HealthContext): void => {
  const node = pickOf(random, health.ill);
  if (node !== undefined) health.recover(node);
};

/** The node recovers for a moment, then turns unhealthy again in the same way. */
const flap = ({ random, health, world }: HealthContext): void => {
  const node = pickOf(random, health.ill);
  if (node === undefined) return;
  health.recover(node);
  const illness = drawIllness(random);
  const seconds = 5 + random.below(120);
  world.kernel.after(seconds * microsPerSecond, () => health.fall(node, illness));
};

const agentDies = ({ random, health }: HealthContext): void => {
  const node = pickOf(random, health.ill);
  if (node !== undefined) health.silence(node);
};

const rolloutShare = 0.4;

/** A new agent version reports a false finding on many nodes at once. */
const badRollout = (context: HealthContext): void => {
  const { random, health } = context;
  const illness = drawIllness(random);
  for (const { name } of liveNodes(context)) {
    if (random.next() < rolloutShare) health.fall(name, illness, { isFalse: true });
  }
  context.onWarning('agent-rollout');
};

/** Kubelets of the chosen nodes fall silent and come back together. */
const fallSilent = (context: HealthContext, what: string, names: readonly string[]): void => {
  const { world, random } = context;
  const isOn = world.faults.list().some((fault) => fault.kind.startsWith('kubelet-'));
  if (names.length === 0 || isOn) return;
  for (const node of names) world.faults.inject('kubelet-stop', { node });
  context.onFault('kubelet-stop', 'on');
  context.onWarning(what);
  world.kernel.after((60 + random.below(600)) * microsPerSecond, () => {
    if (world.faults.clear('kubelet-stop') > 0) context.onFault('kubelet-stop', 'off');
  });
};

const zoneOf = ({ world }: HealthContext, name: string): unknown =>
  world.kube.read(nodes, { name })?.metadata.labels?.['topology.kubernetes.io/zone'];

const zoneOutage = (context: HealthContext): void => {
  const all = liveNodes(context).map(({ name }) => name);
  const one = pickOf(context.random, all);
  if (one === undefined) return;
  const zone = zoneOf(context, one);
  const inZone = all.filter((name) => zoneOf(context, name) === zone);
  fallSilent(context, 'zone-outage', inZone);
};

/** Most nodes lose the connection to the API server at once. */
const partition = (context: HealthContext): void => {
  const { random } = context;
  const all = liveNodes(context).map(({ name }) => name);
  const cut = all.filter(() => random.next() < 0.8);
  fallSilent(context, 'api-partition', cut);
};

const kubeletDies = (context: HealthContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node !== undefined) fallSilent(context, 'kubelet-dead', [node.name]);
};

const annotateRepair = (context: HealthContext): void => {
  const { random, health, user } = context;
  const name = pickOf(random, health.ill);
  if (name === undefined) return;
  const value = pickOf(random, ['hold', 'now', 'now', null]) ?? null;
  const preserve = random.next() < 0.2 ? 'when-failed' : null;
  const annotations = { [repairAnnotation]: value, [preserveAnnotation]: preserve };
  user.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } });
};

const pickGroup = ({ world, random }: HealthContext) =>
  pickOf(random, [...world.kube.readAll(nodeGroups)])?.metadata.name;

const changeMode = (context: HealthContext): void => {
  const name = pickGroup(context);
  if (name === undefined) return;
  const { random, user } = context;
  const spec = drawRepair(random);
  user.patch(nodeGroups, { name }, { type: 'merge', body: { spec: { ...spec } } });
};

const holdGroup = (context: HealthContext): void => {
  const name = pickGroup(context);
  if (name === undefined) return;
  const value = context.random.next() < 0.5 ? 'hold' : null;
  const body = { metadata: { annotations: { [repairAnnotation]: value } } };
  context.user.patch(nodeGroups, { name }, { type: 'merge', body });
};

/** An owner reports a zonal shift, or its end: EKS then starts no repair. */
const shiftZone = (context: HealthContext): void => {
  const { world, random, user } = context;
  const group = pickOf(random, [...world.kube.readAll(nodeGroups)]);
  if (group === undefined) return;
  const isShifted = group.metadata.annotations?.[zonalShiftAnnotation] !== undefined;
  const [node] = liveNodes(context);
  const value = isShifted || node === undefined ? null : String(zoneOf(context, node.name));
  const body = { metadata: { annotations: { [zonalShiftAnnotation]: value } } };
  user.patch(nodeGroups, { name: group.metadata.name }, { type: 'merge', body });
  if (value !== null) context.onWarning('zonal-shift');
};

const checkKinds = ['instance-impaired', 'system-impaired'] as const;

/** A status check of EC2 fails for a while. */
const failCheck = (context: HealthContext): void => {
  const { world, random } = context;
  const node = pickOf(random, liveNodes(context));
  const kind = pickOf(random, checkKinds) ?? 'system-impaired';
  if (node === undefined || world.faults.list().some((fault) => fault.kind === kind)) return;
  world.faults.inject(kind, { node: node.name });
  context.onWarning('status-check');
  const seconds = 60 + random.below(1200);
  world.kernel.after(seconds * microsPerSecond, () => world.faults.clear(kind));
};

const weighted: readonly (readonly [number, (context: HealthContext) => void])[] = [
  [10, fallIll],
  [2, recover],
  [3, flap],
  [1, agentDies],
  [2, badRollout],
  [1, zoneOutage],
  [1, partition],
  [2, kubeletDies],
  [3, annotateRepair],
  [1, changeMode],
  [1, holdGroup],
  [1, shiftZone],
  [2, failCheck],
  [2, repairByHand],
];

/** Runs one of them, drawn by weight. */
export const actOnHealth = (context: HealthContext): void => {
  let roll = context.random.below(weighted.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, action] of weighted) {
    roll -= weight;
    if (roll < 0) {
      action(context);
      return;
    }
  }
};

const drawWaits = (random: Random): readonly JsonObject[] => {
  const waitSeconds = pickOf(random, [30, 60, 60, 180, 600]) ?? 60;
  const conditions = [...agentConditions, 'Ready', 'InstanceStatus', 'SystemStatus'];
  const rules = conditions.map((condition) => ({ condition, waitSeconds }));
  const actions = ['Quarantine'];
  const kept = { condition: 'StorageReady', reason: 'EBS*', waitSeconds: 60, actions };
  const reboot = { condition: 'KernelReady', waitSeconds: 60, actions: ['Reboot', 'Replace'] };
  const glob = { condition: 'NetworkingReady', reason: 'IPAMD*', waitSeconds: 400 };
  const isKept = random.next() < 0.5;
  return [...(random.next() < 0.5 ? [reboot] : []), ...(isKept ? [kept] : []), glob, ...rules];
};

const drawOverrides = (random: Random): readonly JsonObject[] => [
  {
    nodeMonitoringCondition: 'StorageReady',
    nodeUnhealthyReason: 'EBSVolumeIOPSExceeded',
    minRepairWaitTimeMins: 1 + random.below(3),
    repairAction: pickOf(random, ['Replace', 'Reboot', 'NoAction']) ?? 'Replace',
  },
];

/** How a group repairs its nodes; `null` removes an earlier setting. */
export const drawRepair = (random: Random): JsonObject => {
  const mode = pickOf(random, ['Enforce', 'Enforce', 'Enforce', 'Audit']) ?? 'Enforce';
  const byCount = random.next() < 0.5;
  const isGenerous = random.next() < 0.6;
  return {
    nodeRepairConfig: {
      enabled: random.next() < 0.92,
      maxUnhealthyNodeThresholdCount: isGenerous && byCount ? 1 + random.below(4) : null,
      maxUnhealthyNodeThresholdPercentage: isGenerous && !byCount ? 30 + random.below(60) : null,
      maxParallelNodesRepairedCount: byCount && random.next() < 0.5 ? 1 + random.below(3) : null,
      maxParallelNodesRepairedPercentage: byCount ? null : 20 + random.below(80),
      nodeRepairConfigOverrides: random.next() < 0.4 ? drawOverrides(random) : null,
    },
    nodeRepair: {
      mode,
      rules: drawWaits(random),
      healthyDelaySeconds: pickOf(random, [30, 60, 180]) ?? null,
      stormCooldownSeconds: pickOf(random, [60, 120, 300]) ?? null,
      drainTimeoutSeconds: pickOf(random, [60, 300]) ?? null,
      quarantine: {
        timeLimitSeconds: pickOf(random, [60, 300, 900]) ?? null,
        maxInstances: random.below(3),
      },
    },
  };
};

/** At the end of all faults: removes the operators' annotations and the false findings. */
export const endIllness = ({
  world,
  user,
  health,
}: Pick<HealthContext, 'world' | 'user' | 'health'>): void => {
  health.takeBack();
  for (const kind of checkKinds) world.faults.clear(kind);
  const ours = [repairAnnotation, preserveAnnotation, zonalShiftAnnotation];
  const body = { metadata: { annotations: Object.fromEntries(ours.map((one) => [one, null])) } };
  const isAsked = (annotations: unknown): boolean =>
    ours.some((one) => objectOr(annotations)[one] !== undefined);
  for (const type of [nodes, nodeGroups]) {
    for (const { metadata } of [...world.kube.readAll(type)]) {
      if (!isAsked(metadata.annotations)) continue;
      user.patch(type, { name: metadata.name }, { type: 'merge', body });
    }
  }
};
