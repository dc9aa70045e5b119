// What operators, clouds and faults do to a running cluster. Each action is one small function on
// the world, drawn by weight. An action without a target does nothing.

import type { FaultKind } from '../../../world/faults/index.ts';
import { microsPerSecond } from '../../../world/kernel/index.ts';
import { isObject, type JsonObject, objectOr } from '../../api/json.ts';
import { AwsError } from '../../aws-wire/index.ts';
import { type ActionContext, nodeGroups, pickOf, tryAws } from './action.ts';
import {
  changeDrain,
  createGroup,
  deleteGroup,
  editAwsAuth,
  relabelGroup,
  scaleGroup,
} from './group-actions.ts';
import {
  disruptions,
  liveNodes,
  type NodeFacts,
  nodes,
  recordCause,
  timestamp,
} from './node-causes.ts';
import { appNamespace, type GroupSettings } from './scenario.ts';
import { askForSequence, changeSequence } from './sequence-actions.ts';
import { updateNode } from './update-actions.ts';
import {
  abortUpdate,
  annotateNode,
  approveUpdate,
  askForVersion,
  changeUpdateConfig,
  pauseUpdate,
  scaleDown,
  suspendProcess,
} from './version-actions.ts';

const deployments = { group: 'apps', resource: 'deployments' } as const;
const pods = { group: '', resource: 'pods' } as const;

const terminate = (context: ActionContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node === undefined) return;
  tryAws(context, 'TerminateInstanceInAutoScalingGroup', {
    InstanceId: node.instanceId,
    ShouldDecrementDesiredCapacity: context.random.next() < 0.5,
  });
};

const resize = (context: ActionContext): void => {
  const answer = context.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {});
  const groups = objectOr(answer).AutoScalingGroups;
  const group = pickOf(context.random, Array.isArray(groups) ? groups.filter(isObject) : []);
  if (group === undefined) return;
  const bound = Number(group.MaxSize) - Number(group.MinSize) + 1;
  tryAws(context, 'SetDesiredCapacity', {
    AutoScalingGroupName: String(group.AutoScalingGroupName),
    DesiredCapacity: Number(group.MinSize) + context.random.below(bound),
    HonorCooldown: false,
  });
};

/** Applies the group owner's settings before a life starts. Throws if AWS refuses them. */
export const setUpGroup = (
  { world, user }: Pick<ActionContext, 'world' | 'user'>,
  group: { readonly name: string; readonly autoScalingGroupName: string },
  settings: GroupSettings,
): void => {
  const { heartbeatSeconds, foreignHookSeconds, drain } = settings;
  const put = (hook: string, input: JsonObject): void => {
    const { autoScalingGroupName: AutoScalingGroupName } = group;
    const whole = { AutoScalingGroupName, LifecycleHookName: hook, ...input };
    world.aws.call('autoscaling', 'PutLifecycleHook', whole, { userAgent: 'aws-cli' });
  };
  if (heartbeatSeconds !== undefined) {
    for (const hook of ['Launch-LC-Hook', 'Terminate-LC-Hook']) {
      put(hook, { HeartbeatTimeout: heartbeatSeconds });
    }
  }
  if (foreignHookSeconds !== undefined) {
    put('Backup-LC-Hook', {
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
      HeartbeatTimeout: foreignHookSeconds,
      DefaultResult: 'CONTINUE',
    });
  }
  if (drain === undefined) return;
  const body = { spec: { drain } };
  user.patch(nodeGroups, { name: group.name }, { type: 'merge', body });
};

/**
 * Share of spot notices for real spot instances. The others name any instance, as a forged message
 * may.
 */
const genuineShare = 0.85;

const isSpot = ({ world }: ActionContext, { instanceId }: NodeFacts): boolean => {
  const row = world.kernel.tables.open<JsonObject>('aws/ec2/instances').get(instanceId);
  return row?.capacityType === 'SPOT';
};

const spotNode = (context: ActionContext): NodeFacts | undefined => {
  const all = liveNodes(context);
  const any = pickOf(context.random, all);
  const isGenuine = context.spotRandom.next() < genuineShare;
  const spots = isGenuine ? all.filter((node) => isSpot(context, node)) : [];
  return pickOf(context.spotRandom, spots) ?? any;
};

const spot = (context: ActionContext): void => {
  const node = spotNode(context);
  if (node === undefined) return;
  context.world.aws.interrupt(node.instanceId);
  context.onWarning('spot-interruption');
};

const rebalance = (context: ActionContext): void => {
  const node = spotNode(context);
  if (node === undefined) return;
  context.world.aws.recommendRebalance(node.instanceId);
  context.onWarning('rebalance-recommendation');
};

/**
 * EC2 announces maintenance days ahead. Half of the messages are lost; EC2's own list contains the
 * event in any case.
 */
const maintenance = (context: ActionContext): void => {
  const { world, random } = context;
  const node = pickOf(random, liveNodes(context));
  if (node === undefined) return;
  const code = random.next() < 0.5 ? 'system-reboot' : 'instance-retirement';
  tellOrLose(context, () => world.aws.scheduleEvent(node.instanceId, code));
};

const maintenanceOff = (context: ActionContext): void => {
  tellOrLose(context, () => context.world.aws.cancelEvents() > 0);
};

/** `tell` triggers a message of AWS Health and returns whether it did. */
const tellOrLose = ({ world, random, onFault }: ActionContext, tell: () => boolean): void => {
  const isLost = random.next() < 0.5 && !world.faults.active('message-loss');
  if (isLost) world.faults.inject('message-loss', {});
  const isTold = tell();
  if (!isLost) return;
  world.faults.clear('message-loss');
  if (!isTold) return;
  onFault(healthMessageLost, 'on');
};

const hardwareFailure = (context: ActionContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node !== undefined) context.world.aws.kill(node.instanceId);
};

/** Records the same cause as `drover drain`. */
const drainNode = (context: ActionContext, node: NodeFacts): void => {
  const now = timestamp(context);
  recordCause(context, node, {
    kind: 'Manual',
    id: `manual/${now}`,
    receivedAt: now,
    onDeadline: 'fail',
    followUp: 'Release',
    requestedBy: 'somebody',
  });
};

const maxSecondThoughtsSeconds = 90;

const manualDrain = (context: ActionContext): void => {
  const { random, world } = context;
  const node = pickOf(random, liveNodes(context));
  if (node === undefined) return;
  drainNode(context, node);
  // The operator may withdraw the drain, often while the node is being cordoned.
  const seconds = maxSecondThoughtsSeconds * random.next() ** 2;
  if (random.next() < 0.5) world.kernel.after(seconds * microsPerSecond, () => undrain(context));
};

/**
 * An operator cordons a node and drains it some time later. The cordon stays after the drain is
 * withdrawn, since the operator set it.
 */
const cordonThenDrain = (context: ActionContext): void => {
  const all = liveNodes(context);
  const cordoned = all.find(({ isCordoned, isExcluded }) => isCordoned && !isExcluded);
  if (cordoned !== undefined) {
    drainNode(context, cordoned);
    return;
  }
  const node = pickOf(context.random, all);
  if (node === undefined) return;
  const body = { spec: { unschedulable: true } };
  context.user.patch(nodes, { name: node.name }, { type: 'merge', body });
};

/** Withdraws the manual causes, as `drover undrain` does. */
const undrain = (context: ActionContext): void => {
  const now = timestamp(context);
  for (const disruption of context.world.kube.readAll(disruptions)) {
    const causes = objectOr(disruption.spec).causes;
    if (!Array.isArray(causes)) continue;
    const isManual = (cause: unknown): boolean =>
      objectOr(cause).kind === 'Manual' && objectOr(cause).cancelledAt === undefined;
    if (!causes.some(isManual)) continue;
    const next = causes.map((cause) =>
      isManual(cause) ? { ...objectOr(cause), cancelledAt: now } : cause,
    );
    context.user.patch(
      disruptions,
      { name: disruption.metadata.name },
      {
        type: 'merge',
        body: {
          metadata: { resourceVersion: disruption.metadata.resourceVersion },
          spec: { causes: next },
        },
      },
    );
    return;
  }
};

const userCordon = (context: ActionContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node === undefined) return;
  const unschedulable = context.random.next() < 0.5 ? true : null;
  context.user.patch(
    nodes,
    { name: node.name },
    { type: 'merge', body: { spec: { unschedulable } } },
  );
};

const deleteNode = (context: ActionContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node !== undefined) context.user.delete(nodes, { name: node.name });
};

/** The node is recreated under its name as another object, without labels, taints or cordon. */
const rejoin = (context: ActionContext): void => {
  const node = pickOf(context.random, liveNodes(context));
  if (node === undefined) return;
  context.user.delete(nodes, { name: node.name });
  try {
    const input = { InstanceIds: [node.instanceId] };
    context.world.aws.call('ec2', 'RebootInstances', input, { userAgent: 'aws-cli' });
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
  }
};

const scaleApp = (context: ActionContext): void => {
  const apps = [...context.world.kube.readAll(deployments, appNamespace)];
  const app = pickOf(context.random, apps);
  if (app === undefined) return;
  const body = { spec: { replicas: 1 + context.random.below(6) } };
  const name = { namespace: appNamespace, name: app.metadata.name };
  context.user.patch(deployments, name, { type: 'merge', body });
};

/** A pod that no controller recreates: a mirror pod, a pod that finishes, a bare pod. */
const barePod = (context: ActionContext): void => {
  const { random, user, world } = context;
  const node = pickOf(random, liveNodes(context));
  if (node === undefined) return;
  const roll = random.next();
  const annotations: JsonObject =
    roll < 0.3
      ? { 'kubernetes.io/config.mirror': 'a1b2' }
      : roll < 0.8
        ? { 'world.drover.dev/run-seconds': '5' }
        : {};
  user.create(pods, appNamespace, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `bare-${Math.floor(world.kernel.now() / 1000)}`,
      namespace: appNamespace,
      annotations,
    },
    spec: {
      nodeName: node.name,
      restartPolicy: roll < 0.8 ? 'Never' : 'Always',
      containers: [{ name: 'bare', image: 'example/bare:1' }],
    },
  });
};

/** A fault of a single message, counted as a kind of its own. */
export const healthMessageLost = 'health-message-lost';

const worldFaults: readonly [FaultKind, ...FaultKind[]] = [
  'message-loss',
  'message-duplicate',
  'message-delay',
  'message-malformed',
  'slow-termination',
  'kubelet-stop',
  'never-join',
  'no-capacity',
];

const toggleFault = (context: ActionContext): void => {
  const { world, random } = context;
  const on = pickOf(random, world.faults.list());
  if (on !== undefined && random.next() < 0.5) {
    world.faults.clear(on.kind as FaultKind);
    context.onFault(on.kind, 'off');
    return;
  }
  const kind = pickOf(random, worldFaults) ?? worldFaults[0];
  const needsNode = kind === 'kubelet-stop' || kind === 'slow-termination';
  const node = needsNode ? pickOf(random, liveNodes(context)) : undefined;
  if (needsNode && node === undefined) return;
  world.faults.inject(kind, node === undefined ? {} : { node: node.name });
  context.onFault(kind, 'on');
};

const weighted: readonly (readonly [number, (context: ActionContext) => void])[] = [
  [8, terminate],
  [3, resize],
  [2, spot],
  [1, rebalance],
  [2, maintenance],
  [1, maintenanceOff],
  [1, hardwareFailure],
  [4, manualDrain],
  [4, undrain],
  [2, userCordon],
  [1, deleteNode],
  [1, rejoin],
  [2, scaleApp],
  [5, toggleFault],
  [4, updateNode],
  [3, cordonThenDrain],
  [3, barePod],
  [2, createGroup],
  [4, scaleGroup],
  [1, relabelGroup],
  [2, deleteGroup],
  [2, changeDrain],
  [1, editAwsAuth],
];
/** Additional actions for lives with version updates. */
const ofVersions: typeof weighted = [
  [10, askForVersion],
  [3, pauseUpdate],
  [3, abortUpdate],
  [2, changeUpdateConfig],
  [2, approveUpdate],
  [1, askForSequence],
  [1, changeSequence],
  [1, annotateNode],
  [2, scaleDown],
  [1, suspendProcess],
];

const draw = (context: ActionContext, from: typeof weighted): void => {
  let roll = context.random.below(from.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, action] of from) {
    roll -= weight;
    if (roll < 0) {
      action(context);
      return;
    }
  }
};

/** One action, drawn by weight. */
export const act = (context: ActionContext): void => {
  draw(context, context.updates ? [...weighted, ...ofVersions] : weighted);
};
