// Canaries of the oracles about node repair. Each reports its violation, at least one of them by a
// narrow margin in time, and accepts the correct sequence.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json.ts';
import {
  group as asg,
  judge,
  kubectl,
  Story,
  timeAt,
} from '../../../../test/builders/world-check.ts';
import { repairBreakers } from './breakers.ts';
import { repairEnds } from './ends.ts';
import { repairOnce } from './once.ts';
import { repairOwners } from './owners.ts';
import { repairResults } from './replaced.ts';
import { repairOfUnhealthy } from './unhealthy.ts';
import { repairWait } from './wait.ts';

const instance = (n: number): string => `i-00000000000000${100 + n}`;
const kernel = { type: 'KernelReady', reason: 'ForkFailedOutOfPIDs' };
const rules = [
  { condition: 'KernelReady', waitSeconds: 120 },
  { condition: 'Ready', waitSeconds: 120 },
];

interface GroupOptions {
  readonly mode?: 'Audit' | 'Enforce';
  readonly asked?: string;
  readonly config?: JsonObject;
  readonly more?: JsonObject;
  readonly updating?: boolean;
}

const repairing = (story: Story, options: GroupOptions = {}): Story => {
  const { mode = 'Enforce', asked, config, more, updating = false } = options;
  const annotations = asked === undefined ? {} : { 'drover.dev/repair': asked };
  return story.object('nodegroups', {
    metadata: { name: 'ng1', uid: 'uid-ng1', annotations },
    spec: {
      autoScalingGroupName: asg,
      nodeRepairConfig: { enabled: true, ...config },
      nodeRepair: { mode, rules, healthyDelaySeconds: 60, ...more },
    },
    status: { createdAt: timeAt(0), ...(updating ? { updating: { name: 'u' } } : {}) },
  });
};

interface NodeOptions {
  readonly bad?: readonly {
    readonly type: string;
    readonly reason: string;
    readonly status?: string;
  }[];
  readonly zone?: string;
  readonly asked?: string;
  readonly bootId?: string;
  readonly heartbeat?: number;
}

const node = (story: Story, n: number, options: NodeOptions = {}): Story => {
  const { bad = [], zone = 'a', asked, bootId = 'b1', heartbeat } = options;
  const beat = heartbeat === undefined ? {} : { lastHeartbeatTime: timeAt(heartbeat) };
  const isSilent = bad.some(({ type }) => type === 'Ready');
  const ready = isSilent ? [] : [{ type: 'Ready', status: 'True' }];
  return story.object('nodes', {
    metadata: {
      name: `n${n}`,
      uid: `uid-n${n}`,
      labels: { 'eks.amazonaws.com/nodegroup': 'ng1', 'topology.kubernetes.io/zone': zone },
      annotations: asked === undefined ? {} : { 'drover.dev/repair': asked },
    },
    spec: { providerID: `aws:///eu-west-1${zone}/${instance(n)}` },
    status: {
      nodeInfo: { bootID: bootId },
      conditions: [...ready, ...bad.map((one) => ({ status: 'False', ...beat, ...one }))],
    },
  });
};

const silent = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };

interface RepairOptions {
  readonly phase?: string;
  readonly actions?: readonly string[];
  readonly since?: number;
  readonly blockedBy?: readonly string[];
  readonly serial?: number;
  readonly findingSince?: number;
  readonly replacement?: string;
  readonly isRequested?: boolean;
  readonly condition?: string;
}

const repair = (story: Story, n: number, options: RepairOptions = {}): Story => {
  const { phase = 'Repairing', actions = [], since = 100, serial = 1, blockedBy = [] } = options;
  const name = `${instance(n)}-${serial}`;
  const request = options.isRequested === true ? { requested: { action: 'Replace' } } : {};
  return story.object('noderepairs', {
    metadata: { name, uid: `uid-${name}` },
    spec: { nodeGroup: 'ng1', instanceId: instance(n), unhealthySince: timeAt(since), ...request },
    status: {
      phase,
      blockedBy: blockedBy.map((kind) => ({ kind })),
      findings: [
        {
          condition: options.condition ?? 'KernelReady',
          since: timeAt(options.findingSince ?? since),
        },
      ],
      attempts: actions.map((action, i) => ({
        action,
        causeId: `repair/${name}/${i + 1}`,
        bootId: 'b1',
      })),
      ...(options.replacement === undefined ? {} : { replacement: options.replacement }),
    },
  });
};
const start = (story: Story, n: number, more: RepairOptions = {}): Story =>
  repair(story, n, { actions: ['Replace'], ...more });

/** A group of `size` healthy nodes, of which `ill` turn unhealthy at 100 s. */
const scene = (
  options: GroupOptions & {
    readonly size?: number;
    readonly ill?: number;
    readonly node?: NodeOptions;
  },
  facts: ConstructorParameters<typeof Story>[0] = {},
): Story => {
  const { size = 3, ill = 1, node: more = { bad: [kernel] } } = options;
  const story = repairing(new Story(facts), options);
  for (let n = 1; n <= size; n++) node(story.state(instance(n), 'InService'), n);
  story.at(100);
  for (let n = 1; n <= ill; n++) node(story, n, more);
  return story;
};
const said = (oracle: Parameters<typeof judge>[0], story: Story) => judge(oracle, story).said;
const r1 = `${instance(1)}-1`;

describe('repairs-keep-their-wait', () => {
  it('reports a repair two seconds before its wait is over, and none after it', () => {
    const early = [`${r1}: repaired 2 s before its wait is over`];
    expect(said(repairWait, start(scene({}).at(218), 1))).toEqual(early);
    expect(judge(repairWait, start(scene({}).at(220), 1))).toEqual({ said: [], saw: 1 });
  });
  it('counts from the first of two findings, and over a flap', () => {
    const flapped = node(node(scene({}).at(150), 1).at(170), 1, { bad: [kernel] });
    expect(said(repairWait, start(flapped.at(221), 1))).toEqual([]);
    const recovered = node(node(scene({}).at(150), 1).at(290), 1, { bad: [kernel] });
    expect(said(repairWait, start(recovered.at(320), 1))).toEqual([
      `${r1}: repaired 90 s before its wait is over`,
    ]);
  });
  it('takes the wait of the reason, EKS’ override before all rules', () => {
    const overrides = [
      {
        nodeMonitoringCondition: 'KernelReady',
        nodeUnhealthyReason: kernel.reason,
        minRepairWaitTimeMins: 5,
        repairAction: 'Replace',
      },
    ];
    const story = scene({ config: { nodeRepairConfigOverrides: overrides } });
    expect(said(repairWait, start(story.at(300), 1))).toHaveLength(1);
    expect(said(repairWait, start(scene({ more: { rules: [] } }).at(1800), 1))).toHaveLength(1);
  });
  it('accepts a repair that an operator asks for', () => {
    const requested = start(scene({ ill: 0 }).at(110), 1, { isRequested: true });
    expect(judge([repairWait, repairOfUnhealthy], requested)).toEqual({ said: [], saw: 0 });
    const asked = scene({ node: { bad: [kernel], asked: 'now' } });
    expect(said(repairWait, start(asked.at(110), 1))).toEqual([]);
  });
  it('reports a start that is later than the node’s, or that moves', () => {
    const waiting = (story: Story, more: RepairOptions) =>
      repair(story, 1, { phase: 'Waiting', ...more });
    expect(said(repairWait, waiting(scene({}).at(160), { since: 160 }))).toEqual([
      `${r1}: its episode began before the start that it names`,
    ]);
    const known = waiting(scene({}).at(101), {});
    expect(said(repairWait, waiting(known.at(170), { findingSince: 165 }))).toEqual([
      `${r1}: the start of KernelReady moved`,
    ]);
  });
});

describe('healthy-nodes-are-not-repaired', () => {
  const wrong = [`${r1}: repaired although none of its conditions asks for it`];
  it('reports a repair of a healthy node beside one that is ill', () => {
    expect(said(repairOfUnhealthy, start(scene({}).at(300), 2))).toEqual([
      `${instance(2)}-1: repaired although none of its conditions asks for it`,
    ]);
    expect(judge(repairOfUnhealthy, start(scene({}).at(300), 1))).toEqual({ said: [], saw: 1 });
  });
  it('reports one for a condition whose agent has been silent for more than 15 minutes', () => {
    const story = () => scene({ node: { bad: [kernel], heartbeat: 100 } });
    expect(said(repairOfUnhealthy, start(story().at(1005), 1))).toEqual(wrong);
    expect(said(repairOfUnhealthy, start(story().at(1000), 1))).toEqual([]);
  });
  it('accepts a finding of EC2 that no condition of the node reports', () => {
    const story = scene({ ill: 0 }).at(300);
    repair(story, 1, { actions: ['Replace'], condition: 'SystemStatus' });
    expect(said(repairOfUnhealthy, story)).toEqual([]);
    const other = scene({ ill: 0 }).at(300);
    repair(other, 1, { actions: ['Replace'] });
    expect(said(repairOfUnhealthy, other)).toEqual(wrong);
  });
  it('reports one that no rule asks for, and accepts a node that is gone', () => {
    const none = { rules: [{ condition: 'KernelReady', actions: ['NoAction'] }] };
    expect(said(repairOfUnhealthy, start(scene({ more: none }).at(300), 1))).toEqual(wrong);
    const gone = scene({ ill: 0 }).at(100).gone('nodes', 'n1');
    expect(said(repairOfUnhealthy, start(gone.at(300), 1))).toEqual([]);
  });
  it('reports a node that has recovered and is terminated nevertheless', () => {
    const cause = { kind: 'Repair', id: `repair/${r1}/1`, followUp: 'Replace' };
    const options = { causes: [cause], node: 'n1' };
    const drain = (story: Story) =>
      story.disruption(instance(1), { ...options, status: { phase: 'Draining' } });
    const complete = (story: Story) =>
      story.disruption(instance(1), { ...options, status: { phase: 'Completing' } });
    const well = () => node(drain(start(scene({}).at(300), 1)).at(310), 1);
    expect(said(repairOfUnhealthy, complete(well().at(440)))).toEqual([
      `${instance(1)}: repaired although it has been healthy for 130 s`,
    ]);
    expect(said(repairOfUnhealthy, complete(well().at(420)))).toEqual([]);
  });
});

describe('repairs-stop-at-breakers', () => {
  const objects = (story: Story) => said(repairBreakers, start(story, 1));
  it('reports a repair above the threshold, and none at it', () => {
    const config = { maxUnhealthyNodeThresholdCount: 2 };
    const spread = (ill: number) => {
      const story = scene({ config, size: 8, ill: 0 });
      for (let n = 1; n <= ill; n++) {
        node(story, n, { bad: [{ ...kernel, reason: `Reason${n}` }] });
      }
      return story.at(300);
    };
    expect(objects(spread(3))).toEqual([
      `${r1}: repaired although 3 nodes are unhealthy, of 2 that may`,
    ]);
    expect(judge(repairBreakers, start(spread(2), 1))).toEqual({ said: [], saw: 1 });
  });
  it('rounds a percentage down, to one at least', () => {
    const config = { maxUnhealthyNodeThresholdPercentage: 39 };
    const two = node(scene({ config, size: 5 }), 2, { bad: [{ ...kernel, reason: 'Other' }] });
    expect(objects(two.at(300))).toHaveLength(1);
    expect(objects(scene({ config, size: 2 }).at(300))).toEqual([]);
  });
  it('reports a repair of one of three nodes that report the same', () => {
    expect(objects(scene({ ill: 3 }).at(300))).toEqual([
      `${r1}: repaired although 3 nodes reported KernelReady ForkFailedOutOfPIDs at once`,
    ]);
    expect(objects(scene({ ill: 2 }).at(300))).toEqual([]);
  });
  const down = (zones: readonly string[], which: readonly number[]) => {
    const story = repairing(new Story(), { config: { maxUnhealthyNodeThresholdCount: 9 } });
    zones.forEach((zone, i) => {
      node(story.state(instance(i + 1), 'InService'), i + 1, { zone });
    });
    which.forEach((n, i) => {
      node(story.at(100 + 150 * i), n, {
        zone: zones[n - 1] ?? 'a',
        bad: [{ ...silent, reason: `R${n}` }],
      });
    });
    return story;
  };
  it('reports a repair in a zone that is down while the others are well', () => {
    const zones = ['a', 'a', 'a', 'b', 'b'];
    expect(objects(down(zones, [1, 2]).at(400))).toEqual([
      `${r1}: repaired although 2 of 3 nodes of zone a are down, and no others`,
    ]);
    expect(objects(down(zones, [1]).at(400))).toEqual([]);
    expect(objects(down(zones, [1, 2, 4]).at(700))).toEqual([]);
  });
  it('reports a repair while a third of the cluster fell silent at once', () => {
    const story = down(['a', 'b', 'c', 'a', 'b', 'c'], []).at(100);
    for (const n of [1, 2, 3]) {
      node(story, n, { zone: 'abc'[n - 1] ?? 'a', bad: [{ ...silent, reason: `R${n}` }] });
    }
    expect(objects(story.at(400))).toEqual([
      `${r1}: repaired although 3 of 6 nodes fell silent at once`,
    ]);
  });
  it('reports a repair a moment before the cooldown of a breaker is over', () => {
    const held = () => {
      const story = repair(scene({}).at(220), 1, { phase: 'Blocked', blockedBy: ['sameSignal'] });
      return repair(story.at(300), 1, { phase: 'Blocked', blockedBy: ['cooldown'] });
    };
    expect(objects(held().at(598))).toEqual([
      `${r1}: repaired although a breaker closed 298 s before`,
    ]);
    expect(objects(held().at(600))).toEqual([]);
  });
});

describe('repairs-obey-their-owners', () => {
  const objects = (story: Story, n = 1) => said(repairOwners, start(story, n));
  it('reports a repair in an audited group, unless it has just become one', () => {
    expect(objects(scene({ mode: 'Audit' }).at(300))).toEqual([`${r1}: repaired in mode Audit`]);
    expect(objects(repairing(scene({}).at(299), { mode: 'Audit' }).at(300))).toEqual([]);
    expect(judge(repairOwners, start(scene({}).at(300), 1))).toEqual({ said: [], saw: 1 });
  });
  it('reports a repair of a held node, in a held group, beside an update', () => {
    const held = scene({ node: { bad: [kernel], asked: 'hold' } });
    expect(objects(held.at(300))).toEqual([`${r1}: repaired although its node is held`]);
    expect(objects(scene({ asked: 'hold' }).at(300))).toEqual([
      `${r1}: repaired although its group is held`,
    ]);
    const updated = repairing(scene({}).at(200), { updating: true });
    expect(objects(updated.at(300))).toEqual([`${r1}: repaired although an update has the group`]);
  });
  it('reports a second act that follows a reboot although it was held meanwhile', () => {
    const rebooted = (story: Story) => repair(story, 1, { actions: ['Reboot'] }).at(400);
    const second = (story: Story) =>
      said(repairOwners, repair(story.at(500), 1, { actions: ['Reboot', 'Replace'] }));
    const first = () => rebooted(scene({}).at(300));
    expect(second(node(first(), 1, { bad: [kernel], asked: 'hold' }))).toEqual([
      `${r1}: repaired although its node is held`,
    ]);
    expect(second(repairing(first(), { asked: 'hold' }))).toEqual([
      `${r1}: repaired although its group is held`,
    ]);
    expect(second(repairing(first(), { mode: 'Audit' }))).toEqual([
      `${r1}: repaired in mode Audit`,
    ]);
    expect(second(repairing(first(), { updating: true }))).toEqual([]);
    expect(second(first())).toEqual([]);
    const asked = repair(scene({}).at(300), 1, { actions: ['Reboot'], isRequested: true });
    const held = node(asked.at(400), 1, { bad: [kernel], asked: 'hold' }).at(500);
    const more = { actions: ['Reboot', 'Replace'], isRequested: true };
    expect(said(repairOwners, repair(held, 1, more))).toEqual([]);
  });
  it('reports one repair more than may run, and none when the other has ended', () => {
    const first = () => start(scene({ ill: 2 }).at(300), 1);
    expect(said(repairOwners, start(first().at(310), 2))).toEqual([
      `${instance(2)}-1: begun beside 1 repairs, of 1 that may run`,
    ]);
    const ended = start(first().at(305), 1, { phase: 'Succeeded' });
    expect(said(repairOwners, start(ended.at(310), 2))).toEqual([]);
  });
  it('takes a percentage of the unhealthy nodes, rounded down', () => {
    const config = { maxParallelNodesRepairedPercentage: 60 };
    const first = (ill: number) => start(scene({ config, ill, size: 6 }).at(300), 1);
    expect(said(repairOwners, start(first(3).at(310), 2))).toHaveLength(1);
    expect(said(repairOwners, start(first(4).at(310), 2))).toEqual([]);
  });
});

describe('repairs-replace-what-they-end', () => {
  const cause = { kind: 'Repair', id: `repair/${r1}/1`, followUp: 'Replace' };
  const terminate = (causes: JsonObject[], ShouldDecrementDesiredCapacity: boolean) =>
    start(scene({}).at(300), 1)
      .disruption(instance(1), { causes, status: { phase: 'Completing' } })
      .call('TerminateInstanceInAutoScalingGroup', {
        InstanceId: instance(1),
        ShouldDecrementDesiredCapacity,
      });
  it('reports a termination with decrement for a repair alone', () => {
    expect(said(repairResults, terminate([cause], true))).toEqual([
      `${instance(1)}: terminated with decrement for a repair`,
    ]);
    expect(judge(repairResults, terminate([cause], false))).toEqual({ said: [], saw: 1 });
    const surplus = { kind: 'ScaleIn', id: 'scale-in/1' };
    expect(said(repairResults, terminate([cause, surplus], true))).toEqual([]);
  });
  const rebooting = () => repair(scene({}).at(300), 1, { actions: ['Reboot'] });
  const done = (story: Story) => repair(story, 1, { phase: 'Succeeded', actions: ['Reboot'] });
  it('reports a reboot that is believed without another boot, or a moment too soon', () => {
    expect(said(repairResults, done(node(rebooting().at(310), 1).at(400)))).toEqual([
      `${r1}: its reboot is believed without another boot`,
    ]);
    const booted = () => node(rebooting().at(310), 1, { bootId: 'b2' });
    expect(said(repairResults, done(booted().at(366)))).toEqual([
      `${r1}: its reboot is believed before the node has been healthy for long enough`,
    ]);
    expect(said(repairResults, done(booted().at(370)))).toEqual([]);
  });
  it('reports a success while the instance serves, or by the replacement of another', () => {
    const over = (story: Story, n: number, replacement = instance(9)) =>
      start(story, n, { phase: 'Succeeded', replacement });
    expect(said(repairResults, over(start(scene({}).at(300), 1).at(400), 1))).toEqual([
      `${r1}: its instance is still in service`,
    ]);
    const gone = start(start(scene({ ill: 2 }).at(300), 1), 2)
      .at(320)
      .state(instance(1), 'Terminated')
      .state(instance(2), 'Terminated')
      .at(500);
    expect(said(repairResults, over(over(gone, 1), 2))).toEqual([
      `${instance(2)}-1: ${instance(9)} replaces another instance already`,
    ]);
  });
});

describe('each-episode-is-repaired-once', () => {
  it('reports an action that is taken twice, and a repair that continues after its end', () => {
    const twice = start(start(scene({}).at(300), 1), 1, { actions: ['Replace', 'Replace'] });
    expect(said(repairOnce, twice)).toEqual([`${r1}: repaired by Replace, Replace`]);
    const after = start(start(scene({}).at(300), 1, { phase: 'Failed' }).at(310), 1);
    expect(said(repairOnce, after)).toEqual([`${r1}: goes on after its end`]);
    const ladder = repair(scene({}).at(300), 1, { actions: ['Reboot', 'Replace'] });
    expect(judge(repairOnce, ladder)).toEqual({ said: [], saw: 1 });
  });
  it('reports a second episode beside an open one, and none after it', () => {
    const open = (story: Story) => repair(story, 1, { phase: 'Waiting', serial: 2 });
    expect(said(repairOnce, open(start(scene({}).at(300), 1).at(301)))).toEqual([
      `${instance(1)}-2: opened beside ${r1}`,
    ]);
    const ended = start(scene({}).at(300), 1, { phase: 'Cancelled' });
    expect(said(repairOnce, open(ended.at(301)))).toEqual([]);
  });
  it('reports a cause that stands before the repair that it is for', () => {
    const cause = { kind: 'Repair', id: `repair/${r1}/1`, followUp: 'Replace' };
    const recorded = (story: Story) =>
      story.disruption(instance(1), { causes: [cause], by: kubectl });
    expect(said(repairOnce, start(recorded(scene({}).at(300)).at(300.001), 1))).toEqual([
      `${instance(1)}: repair/${r1}/1 was recorded by no repair`,
    ]);
    expect(said(repairOnce, recorded(start(scene({}).at(300), 1)))).toEqual([]);
  });
});

describe('unhealthy-nodes-are-repaired', () => {
  const settled = { settled: true };
  const left = ['n1: stays unhealthy, and nothing keeps its repair'];
  it('reports a node that stays unhealthy in the end, and not yet a moment before', () => {
    expect(said(repairEnds, scene({}, settled).at(100 + 120 + 721))).toEqual(left);
    expect(said(repairEnds, scene({}, settled).at(100 + 120 + 719))).toEqual([]);
    expect(said(repairEnds, scene({}).at(5000))).toEqual([]);
  });
  it.each<[string, Parameters<typeof scene>[0]]>([
    ['an audited group', { mode: 'Audit' }],
    ['a held group', { asked: 'hold' }],
    ['a held node', { node: { bad: [kernel], asked: 'hold' } }],
    ['three nodes of one signal', { ill: 3 }],
    ['a group above its threshold', { ill: 2, config: { maxUnhealthyNodeThresholdCount: 1 } }],
  ])('leaves alone %s', (_what, options) => {
    expect(said(repairEnds, scene(options, settled).at(5000))).toEqual([]);
  });
  it('reports a repair that is at work for two hours', () => {
    const running = () => start(scene({}, settled).at(300), 1);
    const stands = `${r1}: is Repairing for two hours`;
    expect(said(repairEnds, node(running(), 1).at(7501))).toEqual([stands]);
    expect(judge(repairEnds, node(running(), 1).at(7499))).toEqual({ said: [], saw: 1 });
    const held = start(node(running(), 1), 1, { phase: 'Verifying', blockedBy: ['hold'] });
    expect(said(repairEnds, held.at(7501))).toEqual([]);
  });
});
