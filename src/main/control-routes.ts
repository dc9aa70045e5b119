// World control as routes: status, advance, faults, down. Converts JSON to calls of the world and
// its pacer; the world implements the faults.

import { instanceTypes } from '../../world/aws/index.ts';
import {
  type FaultKind,
  faultKinds,
  isFaultKind,
  isKernelFault,
  kernelFaults,
  type TargetKey,
} from '../../world/faults/index.ts';
import type { World } from '../../world/index.ts';
import { microsPerMs, microsPerSecond } from '../../world/kernel/index.ts';
import { epochMs, formatTime } from '../api/brand.ts';
import { defined } from '../api/defined.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import { type ControlAnswer, type ControlRoutes, type Pacer, WorldEnded } from '../serve/index.ts';
import { ensureNetwork } from './network-route.ts';
import { groupNamed, instanceOfNode } from './world-lookup.ts';

/** A hundred days: a longer advance is probably a typing mistake. */
const longestAdvanceSeconds = 100 * 24 * 3600;

const refused = (status: number, message: string): ControlAnswer => ({
  kind: 'error',
  status,
  message,
});
const done = (body: JsonObject): ControlAnswer => ({ kind: 'ok', body });
const timeText = (micros: number): string => formatTime(epochMs(Math.floor(micros / microsPerMs)));

const worldTime = (world: World): string => timeText(world.kernel.now());

const count = (items: Iterable<unknown>): number => {
  let n = 0;
  for (const _ of items) n++;
  return n;
};

const status = (world: World, pacer: Pacer): ControlAnswer =>
  done({
    now: worldTime(world),
    speed: pacer.speed,
    seed: world.kernel.seed,
    revision: world.kube.revision,
    nodes: count(world.kube.readAll({ group: '', resource: 'nodes' })),
    pods: count(world.kube.readAll({ group: '', resource: 'pods' })),
    eventsHandled: world.kernel.steps,
    faults: world.faults.list().map((fault) => ({ ...fault, since: timeText(fault.since) })),
  });

const advance = async (world: World, pacer: Pacer, input: JsonObject): Promise<ControlAnswer> => {
  const { seconds } = input;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > longestAdvanceSeconds) {
    return refused(400, `seconds must be above 0 and at most ${longestAdvanceSeconds}`);
  }
  try {
    await pacer.advance(Math.round(seconds * microsPerSecond));
  } catch (error) {
    if (error instanceof WorldEnded) return refused(503, error.message);
    throw error;
  }
  return done({ now: worldTime(world) });
};

/** Highest factor at which time still follows the wall clock; `max` does not follow it. */
const maxSpeed = 100_000;

const setSpeed = (world: World, pacer: Pacer, { speed }: JsonObject): ControlAnswer => {
  const isNumber = typeof speed === 'number' && speed > 0 && speed <= maxSpeed;
  if (!isNumber && speed !== 'max') {
    return refused(400, `speed is above 0 and at most ${maxSpeed}, or max`);
  }
  pacer.setSpeed(speed);
  return done({ now: worldTime(world), speed });
};

/** Faults that are single events, not states. An announced one can be cancelled. */
const happen: Readonly<Record<string, (world: World, instanceId: string) => boolean>> = {
  'spot-interruption': (world, instanceId) => world.aws.interrupt(instanceId),
  rebalance: (world, instanceId) => world.aws.recommendRebalance(instanceId),
  'instance-retirement': (world, instanceId) =>
    world.aws.scheduleEvent(instanceId, 'instance-retirement'),
  'system-reboot': (world, instanceId) => world.aws.scheduleEvent(instanceId, 'system-reboot'),
  'instance-death': (world, instanceId) => {
    world.aws.kill(instanceId);
    return true;
  },
};

/** Refuses an unknown target: a fault aimed at it would silently have no effect. */
const unknownPlace = (
  world: World,
  target: Readonly<Partial<Record<TargetKey, string>>>,
): string | undefined => {
  const { node, group, zone, subnet } = target;
  if (node !== undefined && instanceOfNode(world, node) === undefined) {
    return `no node ${node} in this world: \`kubectl get nodes\` lists them`;
  }
  if (group !== undefined && groupNamed(world, group) === undefined) {
    return `no node group ${group} in this world: \`drover get ng\` lists them`;
  }
  const subnets = world.aws.subnets();
  if (zone !== undefined && !subnets.some((known) => known.zone === zone)) {
    const zones = [...new Set(subnets.map((known) => known.zone))].sort();
    return `no zone ${zone} in this world, which has ${zones.join(', ')}`;
  }
  if (subnet !== undefined && !subnets.some((known) => known.subnetId === subnet)) {
    return `no subnet ${subnet} in this world: \`aws ec2 describe-subnets\` lists them`;
  }
  const { type } = target;
  if (type !== undefined && !instanceTypes.has(type)) {
    return `no instance type ${type} in this world: \`aws ec2 describe-instance-types\` lists them`;
  }
  return undefined;
};

/** Faults of machines name a node group, those of the cloud an Auto Scaling group. */
const byAutoScalingGroup: ReadonlySet<FaultKind> = new Set([
  'no-capacity',
  'instance-impaired',
  'system-impaired',
  'message-loss',
  'message-duplicate',
  'message-delay',
  'message-malformed',
]);

const groupKey = (world: World, kind: FaultKind, group: string): string => {
  const names = groupNamed(world, group);
  const key = byAutoScalingGroup.has(kind) ? names?.autoScaling : names?.nodeGroup;
  return key ?? group;
};

/** Unknown fields are the caller's mistakes and are never ignored. */
const strict =
  (
    fields: readonly string[],
    route: (input: JsonObject) => Promise<ControlAnswer>,
  ): ControlRoutes[string] =>
  async (input) => {
    const unknown = Object.keys(input).filter((field) => !fields.includes(field));
    if (unknown.length === 0) return route(input);
    const takes = fields.length === 0 ? 'no field' : fields.join(' and ');
    return refused(400, `unknown field ${unknown.join(', ')}: this call takes ${takes}`);
  };

const unknownKernelFault = (fault: string | undefined): string | undefined => {
  if (fault !== undefined && isKernelFault(fault)) return undefined;
  const names = Object.keys(kernelFaults).sort().join(', ');
  return `kernel-fault needs --fault with one of ${names}`;
};

/** EC2 sends interruption notices only for Spot Instances. */
const onDemandNode = (world: World, node: string | undefined): string | undefined => {
  const instanceId = node === undefined ? undefined : instanceOfNode(world, node);
  if (instanceId === undefined) return undefined;
  const input = { Filters: [{ Name: 'instance-id', Values: [instanceId] }] };
  const { Reservations } = objectOr(world.aws.call('ec2', 'DescribeInstances', input));
  const [reservation] = Array.isArray(Reservations) ? Reservations : [];
  const { Instances } = objectOr(reservation);
  const [instance] = Array.isArray(Instances) ? Instances : [];
  if (instance === undefined || objectOr(instance).InstanceLifecycle === 'spot') return undefined;
  return (
    `${node} is an on-demand instance, and EC2 interrupts spot instances only: aim at a ` +
    'node of a ' +
    'group with capacityType SPOT, or take instance-death or instance-retirement'
  );
};

const inject = (world: World, input: JsonObject): ControlAnswer => {
  const kind = String(input.kind ?? '');
  if (!isFaultKind(kind)) {
    return refused(400, `no fault ${kind}; \`drover world inject --list\` shows all`);
  }
  const target: Partial<Record<TargetKey, string>> = {};
  const allowed: readonly string[] = faultKinds[kind].targets;
  for (const [key, value] of Object.entries(objectOr(input.target))) {
    if (!allowed.includes(key)) {
      const flags = allowed.map((name) => `--${name}`).join(' or ');
      return refused(
        400,
        `${kind} cannot be aimed with --${key}; it takes ${flags || 'no target'}`,
      );
    }
    target[key as TargetKey] = String(value);
  }
  const missing =
    unknownPlace(world, target) ??
    (kind === 'kernel-fault' ? unknownKernelFault(target.fault) : undefined);
  if (missing !== undefined) return refused(400, missing);
  if (target.group !== undefined) target.group = groupKey(world, kind, target.group);
  const onDemand = kind === 'spot-interruption' ? onDemandNode(world, target.node) : undefined;
  if (onDemand !== undefined) return refused(409, onDemand);
  const once = happen[kind];
  if (once === undefined) return done({ ...world.faults.inject(kind, target) });
  if (target.node === undefined) return refused(400, `${kind} needs --node NAME`);
  const instanceId = instanceOfNode(world, target.node);
  if (instanceId === undefined || !once(world, instanceId)) {
    return refused(409, `${target.node} has no running instance`);
  }
  return done({ kind, node: target.node, instanceId });
};

const clear = (world: World, input: JsonObject): ControlAnswer => {
  const { kind } = input;
  if (kind === undefined) {
    return done({ cleared: world.faults.clear() + world.aws.cancelEvents() });
  }
  if (typeof kind !== 'string' || !isFaultKind(kind)) {
    return refused(400, `no fault ${String(kind)}; \`drover world inject --list\` shows all`);
  }
  if (kind === 'instance-retirement' || kind === 'system-reboot') {
    return done({ cleared: world.aws.cancelEvents(kind) });
  }
  return done({ cleared: world.faults.clear(kind) });
};

/** By the node's name, the instance id, or the private DNS name of one that never joined. */
const nodeBootstrap = (world: World, name: string): ControlAnswer => {
  const instanceId = instanceOfNode(world, name) ?? world.aws.instanceIdOfNode(name) ?? name;
  const found = world.aws.nodeBootstrap(instanceId);
  if (found === undefined) {
    return refused(
      404,
      `no node ${name} in this world, and no instance: \`kubectl get nodes\` lists the nodes, ` +
        '`aws ec2 describe-instances` the instances',
    );
  }
  const { userData, facts, ...names } = found;
  return done({
    ...names,
    ...defined({ userData }),
    facts: facts as unknown as JsonObject,
  });
};

/** Answers after the change is on disk: a kill never undoes an answered change. */
const committed = async (pacer: Pacer, call: () => ControlAnswer): Promise<ControlAnswer> => {
  const answer = pacer.enter(call);
  await pacer.committed();
  return answer;
};

export const createControlRoutes = (
  world: World,
  pacer: Pacer,
  stop: () => void,
): ControlRoutes => ({
  'GET /drover/v1/status': async () => pacer.enter(() => status(world, pacer)),
  'GET /drover/v1/faults': async () =>
    done({
      kinds: Object.fromEntries(
        Object.entries(faultKinds).map(([kind, { what, targets }]) => [kind, { what, targets }]),
      ),
    }),
  'GET /drover/v1/node': async (_input, query) =>
    pacer.enter(() => nodeBootstrap(world, query.get('name') ?? '')),
  'POST /drover/v1/advance': strict(['seconds'], (input) => advance(world, pacer, input)),
  'POST /drover/v1/speed': strict(['speed'], async (input) => setSpeed(world, pacer, input)),
  'POST /drover/v1/inject': strict(['kind', 'target'], async (input) =>
    committed(pacer, () => inject(world, input)),
  ),
  'POST /drover/v1/clear': strict(['kind'], async (input) =>
    committed(pacer, () => clear(world, input)),
  ),
  'POST /drover/v1/network': strict(['vpcId', 'cidr', 'subnets'], async (input) =>
    committed(pacer, () => ensureNetwork(world, input)),
  ),
  'POST /drover/v1/down': strict([], async () => {
    setImmediate(stop);
    return done({ stopping: true });
  }),
});
