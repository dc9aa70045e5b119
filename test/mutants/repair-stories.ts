// The stories of node repair that reach mutants. Each ends settled, as those of stories.ts do.
import type { JsonObject } from '../../src/api/json.ts';
import { NodeHealth } from '../../src/sim/lives/node-health.ts';
import type { Stage } from './stage.ts';

const minutes = 60;
const nodes = { group: '', resource: 'nodes' } as const;
const repairs = { group: 'drover.dev', resource: 'noderepairs' } as const;

const kernel = { condition: 'KernelReady', reason: 'ForkFailedOutOfPIDs' };
const network = { condition: 'NetworkingReady', reason: 'IPAMDNotReady' };
const storage = { condition: 'StorageReady', reason: 'EBSVolumeIOPSExceeded' };

/** A random source that always returns `value`. */
const always = (value: number) => ({ next: () => value, below: () => 0 });
const helps = always(0);
const helpsNot = always(0.99);

/** Configures the stage's group to repair its nodes after two minutes by default. */
const repairing = (
  stage: Stage,
  options: {
    readonly config?: JsonObject;
    readonly actions?: readonly string[];
    readonly waitSeconds?: number;
    readonly healthyDelaySeconds?: number;
    readonly more?: JsonObject;
    readonly reboot?: typeof helps;
  } = {},
): NodeHealth => {
  const { waitSeconds = 120, actions = ['Replace'], healthyDelaySeconds = 60 } = options;
  const conditions = ['KernelReady', 'NetworkingReady', 'StorageReady', 'Ready'];
  const rules = conditions.map((condition) => ({ condition, waitSeconds, actions }));
  const nodeRepair = { rules, healthyDelaySeconds, stormCooldownSeconds: 60, ...options.more };
  stage.changeGroup({ nodeRepairConfig: { enabled: true, ...options.config }, nodeRepair });
  return new NodeHealth(stage.world, options.reboot ?? helps);
};

/** Advances by `seconds`, with the heartbeats and reboots of the agents. */
const live = async (stage: Stage, health: NodeHealth, seconds: number): Promise<void> => {
  for (let left = seconds; left > 0; left -= 10) {
    await stage.advance(10);
    health.renew();
  }
};

const annotate = (stage: Stage, name: string, value: string | null): void => {
  const user = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
  const client = stage.world.kube.as({ user, userAgent: 'kubectl/v1.32.4' });
  const body = { metadata: { annotations: { 'drover.dev/repair': value } } };
  client.patch(nodes, { name }, { type: 'merge', body });
};

const phases = (stage: Stage): readonly string[] =>
  [...stage.world.kube.readAll(repairs)].map((one) => {
    const { phase } = (one.status ?? {}) as JsonObject;
    return String(phase);
  });

const first = (names: readonly string[]): string => names[0] ?? '';

/** Stops the kubelets of these nodes for `seconds`. */
const silent = async (stage: Stage, names: readonly string[], seconds: number): Promise<void> => {
  for (const node of names) stage.world.faults.inject('kubelet-stop', { node });
  await stage.advance(seconds);
  stage.world.faults.clear('kubelet-stop');
};

const inZone = (stage: Stage, zone: string): readonly string[] =>
  stage.nodes().filter((name) => {
    const labels = stage.world.kube.read(nodes, { name })?.metadata.labels;
    return labels?.['topology.kubernetes.io/zone'] === `eu-west-1${zone}`;
  });

export const repairStories = {
  /** An operator cancels the drain; no repair started for the node meanwhile. */
  'a-node-falls-ill-while-it-is-drained': async (stage: Stage) => {
    const health = repairing(stage, { waitSeconds: 900 });
    const node = first(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', node);
    await stage.advance(30);
    stage.drain(node);
    await stage.until(() => stage.phaseOf(node) === 'Draining');
    health.fall(node, kernel);
    await live(stage, health, 5 * minutes);
    stage.undrain(node);
    await live(stage, health, 40 * minutes);
  },
  'a-node-flaps': async (stage: Stage) => {
    const health = repairing(stage, { waitSeconds: 300 });
    const node = first(stage.nodes());
    health.fall(node, kernel);
    await live(stage, health, 2 * minutes);
    health.recover(node);
    await live(stage, health, 30);
    health.fall(node, kernel);
    await live(stage, health, 40 * minutes);
  },
  'an-agent-dies': async (stage: Stage) => {
    const health = repairing(stage, { waitSeconds: 20 * minutes });
    const node = first(stage.nodes());
    health.fall(node, kernel);
    health.silence(node);
    await live(stage, health, 40 * minutes);
    health.recover(node);
    await stage.advance(5 * minutes);
  },
  /** A budget keeps a pod while the node recovers. */
  'a-node-recovers-while-it-is-drained': async (stage: Stage) => {
    const health = repairing(stage, { more: { drainTimeoutSeconds: 900 } });
    const node = first(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', node);
    await stage.advance(30);
    health.fall(node, kernel);
    await live(stage, health, 150);
    await stage.until(() => stage.phaseOf(node) === 'Draining');
    health.recover(node);
    await stage.advance(25 * minutes);
  },
  /** 30 % of five nodes may be unhealthy: one and a half. */
  'three-nodes-fall-ill-one-after-the-other': async (stage: Stage) => {
    const health = repairing(stage, {
      config: { maxUnhealthyNodeThresholdPercentage: 30 },
      waitSeconds: 300,
    });
    const [one = '', two = ''] = stage.nodes();
    health.fall(one, kernel);
    health.fall(two, network);
    await live(stage, health, 20 * minutes);
    health.recover(one);
    await live(stage, health, 30 * minutes);
  },
  /** Both nodes of one of three zones. */
  'a-zone-goes-down': async (stage: Stage) => {
    repairing(stage, { config: { maxUnhealthyNodeThresholdCount: 6 } });
    await silent(stage, inZone(stage, 'a'), 10 * minutes);
    await stage.advance(30 * minutes);
  },
  /** Half of the nodes, in all zones. */
  'the-control-plane-is-cut-off': async (stage: Stage) => {
    repairing(stage, { config: { maxUnhealthyNodeThresholdCount: 6 } });
    const cut = ['a', 'b', 'c'].map((zone) => first(inZone(stage, zone)));
    await silent(stage, cut, 10 * minutes);
    await stage.advance(30 * minutes);
  },
  'an-operator-holds-a-node': async (stage: Stage) => {
    const health = repairing(stage);
    const node = first(stage.nodes());
    annotate(stage, node, 'hold');
    health.fall(node, kernel);
    await live(stage, health, 10 * minutes);
    annotate(stage, node, null);
    await live(stage, health, 30 * minutes);
  },
  /** The fault is over before the instance has started to reboot. */
  'a-node-recovers-before-its-reboot': async (stage: Stage) => {
    const health = repairing(stage, { actions: ['Reboot'], healthyDelaySeconds: 1 });
    const node = first(stage.nodes());
    health.fall(node, kernel);
    await stage.until(() => phases(stage).includes('Verifying'));
    health.recover(node);
    await stage.advance(20 * minutes);
  },
  /** Its instance leaves the group for ten minutes. */
  'a-node-is-kept-for-inspection': async (stage: Stage) => {
    const quarantine = { timeLimitSeconds: 10 * minutes };
    const health = repairing(stage, { actions: ['Quarantine'], more: { quarantine } });
    health.fall(first(stage.nodes()), kernel);
    await live(stage, health, 150 * minutes);
  },
  'a-node-is-rebooted': async (stage: Stage) => {
    const health = repairing(stage, { actions: ['Reboot'], healthyDelaySeconds: 180 });
    await stage.advance(5 * minutes);
    health.fall(first(stage.nodes()), kernel);
    await live(stage, health, 30 * minutes);
  },
  'two-nodes-are-replaced': async (stage: Stage) => {
    const health = repairing(stage, { config: { maxParallelNodesRepairedCount: 2 } });
    const [one = '', two = ''] = stage.nodes();
    stage.changeGroup({ updateConfig: { maxUnavailable: 2 } });
    health.fall(one, kernel);
    health.fall(two, storage);
    await live(stage, health, 30 * minutes);
  },
  'a-reboot-does-not-help': async (stage: Stage) => {
    const health = repairing(stage, { actions: ['Reboot', 'Replace'], reboot: helpsNot });
    health.fall(first(stage.nodes()), kernel);
    await live(stage, health, 60 * minutes);
  },
  /** Auto Scaling terminates the instance while its reboot is being verified. */
  'a-reboot-fails-with-its-group': async (stage: Stage) => {
    const health = repairing(stage, { actions: ['Reboot', 'Replace'], reboot: helpsNot });
    const node = first(stage.nodes());
    health.fall(node, kernel);
    await stage.until(() => phases(stage).includes('Verifying'));
    stage.terminate(node);
    await live(stage, health, 20 * minutes);
  },
  'a-condition-has-a-wait-of-its-own': async (stage: Stage) => {
    const rules = [
      { condition: 'KernelReady', waitSeconds: 60 },
      { condition: 'NetworkingReady', waitSeconds: 600 },
    ];
    const health = repairing(stage, {
      config: { maxParallelNodesRepairedCount: 2 },
      more: { rules },
    });
    stage.changeGroup({ updateConfig: { maxUnavailable: 2 } });
    health.fall(first(stage.nodes()), network);
    await live(stage, health, 40 * minutes);
  },
  /** Three of five nodes at once; one of them recovers. */
  'three-nodes-report-the-same': async (stage: Stage) => {
    const health = repairing(stage, {
      config: { maxUnhealthyNodeThresholdCount: 5 },
      more: { stormCooldownSeconds: 300 },
    });
    const ill = stage.nodes().slice(0, 3);
    for (const node of ill) health.fall(node, kernel);
    await live(stage, health, 10 * minutes);
    health.recover(first(ill));
    await live(stage, health, 60 * minutes);
  },
  'a-group-is-audited': async (stage: Stage) => {
    const health = repairing(stage, { more: { mode: 'Audit' } });
    health.fall(first(stage.nodes()), kernel);
    await live(stage, health, 20 * minutes);
  },
  /** Both are repaired, one after the other, since only one repair may run at once. */
  'two-nodes-wait-for-each-other': async (stage: Stage) => {
    const health = repairing(stage, { config: { maxParallelNodesRepairedCount: 1 } });
    stage.changeGroup({ updateConfig: { maxUnavailable: 2 } });
    const [one = '', two = ''] = stage.nodes();
    stage.pod('app', one);
    await stage.advance(30);
    health.fall(one, kernel);
    health.fall(two, storage);
    await live(stage, health, 40 * minutes);
  },
  'a-node-stays-ill': async (stage: Stage) => {
    const health = repairing(stage, { config: { maxUnhealthyNodeThresholdCount: 1 } });
    health.fall(first(stage.nodes()), kernel);
    await live(stage, health, 60 * minutes);
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;
