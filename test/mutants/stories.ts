// The stories that reach mutants which random lives rarely reach. Each ends settled, and the
// unchanged code passes all of them without a violation.
import { defined } from '../../src/api/defined.ts';
import type { Violation } from '../../src/api/trace.ts';
import { repairStories } from './repair-stories.ts';
import { type GroupOptions, Stage, type StageOptions } from './stage.ts';
import { updateStories } from './update-stories.ts';

const minutes = 60;

const pick = (nodes: readonly string[]): { readonly first: string; readonly second: string } => {
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('the stage has two nodes');
  return { first, second };
};

const stories = {
  ...updateStories,
  ...repairStories,
  /** A node that accepts new pods is still drained, even if no controller recreates the pod. */
  'a-pod-of-nobody-is-evicted': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.pod('app', first);
    await stage.advance(30);
    stage.drain(first);
    await stage.advance(3 * minutes);
  },
  /** Only EC2's own list shows that the maintenance was cancelled. */
  'maintenance-is-called-off-unheard': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.schedule(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    stage.callOffUnheard();
    await stage.advance(10 * minutes);
    stage.dropBudget('app');
    await stage.advance(5 * minutes);
  },
  /**
   * Both instances of a group are scheduled for retirement in two weeks: one is replaced after the
   * other.
   */
  'two-retirements-at-once': async (stage: Stage) => {
    const { first, second } = pick(stage.nodes());
    stage.schedule(first);
    stage.schedule(second);
    await stage.advance(20 * minutes);
  },
  /** A budget is used up, and the watch has not shown it. */
  'somebody-else-takes-the-last-token': async (stage: Stage) => {
    const { first, second } = pick(stage.nodes());
    stage.budget('app', { minAvailable: 1 });
    stage.pod('app-1', first, 'app');
    stage.pod('app-2', second, 'app');
    await stage.advance(minutes);
    stage.delay('poddisruptionbudgets', 20);
    stage.evict('app-2');
    stage.drain(first);
    await stage.advance(30);
    stage.faults = {};
    stage.dropBudget('app');
    await stage.advance(5 * minutes);
  },
  /** The scheduler has not seen the cordon, and the watch shows its pod late. */
  'a-pod-the-watch-has-not-shown': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.terminate(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    await stage.advance(2);
    stage.delay('pods', 20);
    stage.pod('late', first);
    await stage.advance(30);
    stage.faults = {};
    await stage.advance(5 * minutes);
  },
  /** No launch hook holds the instance back, and the watch shows its node late. */
  'a-node-the-watch-has-not-shown': async (stage: Stage) => {
    const before = stage.nodes();
    stage.aws('DeleteLifecycleHook', stage.ofGroup({ LifecycleHookName: 'Launch-LC-Hook' }));
    stage.delay('nodes', 240);
    stage.aws('SetDesiredCapacity', stage.ofGroup({ DesiredCapacity: 3 }));
    await stage.until(() => stage.nodes().length === 3);
    const late = stage.nodes().find((node) => !before.includes(node)) ?? '';
    stage.pod('app', late);
    await stage.advance(20);
    stage.terminate(late);
    await stage.advance(2 * minutes);
    stage.faults = {};
    await stage.advance(10 * minutes);
  },
  /** The cloud refuses every call for three minutes during a drain. */
  'the-cloud-is-away': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.terminate(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    stage.faults = { cloudCall: () => ({ kind: 'refused', code: 'ServerError' }) };
    await stage.advance(3 * minutes);
    stage.faults = {};
    await stage.advance(10 * minutes);
  },
  /** A drain without a deadline runs for long, and meanwhile budgets block further pods. */
  'pods-block-late': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    for (const name of ['early', 'late', 'later']) stage.closedBudget(name);
    stage.pod('early', first);
    await stage.advance(30);
    stage.drain(first);
    // A pod that is seen before it runs could be evicted, since no budget counts it yet.
    stage.delay('pods', 5);
    await stage.advance(20 * minutes);
    stage.pod('late', first);
    await stage.advance(10 * minutes);
    stage.pod('later', first);
    await stage.advance(25 * minutes);
  },
  /** An operator gives the drain three minutes instead of the hook's fifteen. */
  'a-drain-is-given-less-time': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.terminate(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    stage.drain(first, 3 * minutes);
    await stage.advance(20 * minutes);
  },
  /** The pods do not stop, so only the deadline ends the drain. */
  'a-kubelet-stops-before-its-drain': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.pod('app', first);
    await stage.advance(30);
    stage.world.faults.inject('kubelet-stop', { node: first });
    stage.terminate(first);
    await stage.advance(30 * minutes);
  },
  /**
   * The process dies just after the write that ends the phase Draining; it restarts when the
   * instance must terminate.
   */
  'a-cause-comes-while-completing': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    const hook = { LifecycleHookName: 'Terminate-LC-Hook', HeartbeatTimeout: 300 };
    stage.aws('PutLifecycleHook', stage.ofGroup(hook));
    stage.drain(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    stage.dieAfterWriteOf('nodedisruptions', 5);
    await stage.until(() => stage.phaseOf(first) === 'Completing');
    stage.terminate(first);
    stage.recordHook(first);
    await stage.advance(10 * minutes);
  },
  /**
   * Marks of the first drain are still Drover's own in the second, and are removed once no cause
   * remains. Since the marks exist, the second drain ends too fast to be observed.
   */
  'drained-twice-and-given-back': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    for (const episode of [1, 2]) {
      stage.drain(first);
      await stage.until(() => stage.episodeOf(first) === episode);
      await stage.until(() => stage.phaseOf(first) === 'Ended');
      await stage.advance(1);
    }
    stage.undrain(first);
    await stage.advance(3 * minutes);
  },
  /** A pod that still blocks can be evicted later, but the drain has been cancelled. */
  'withdrawn-while-a-budget-blocks': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.drain(first);
    await stage.advance(minutes);
    stage.undrain(first);
    await stage.advance(minutes);
    stage.dropBudget('app');
    await stage.advance(2 * minutes);
  },
  /** An operator's cordon remains before, during and after the drain. */
  'a-cordoned-node-is-given-back': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.cordon(first);
    await stage.advance(10);
    stage.drain(first);
    await stage.until(() => stage.phaseOf(first) === 'Ended');
    stage.undrain(first);
    await stage.advance(3 * minutes);
  },
  /** An operator reduces the desired capacity by one. */
  'a-group-is-made-smaller': async (stage: Stage) => {
    stage.aws('SetDesiredCapacity', stage.ofGroup({ DesiredCapacity: 1 }));
    await stage.advance(10 * minutes);
  },
  /** An operator's taint remains before, during and after the drain. */
  'a-tainted-node-is-given-back': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.taint(first, 'example.com/keep');
    await stage.advance(10);
    stage.drain(first);
    await stage.until(() => stage.phaseOf(first) === 'Ended');
    stage.undrain(first);
    await stage.advance(3 * minutes);
  },
  /** An operator's taint, which the watch shows only after the marks were decided. */
  'a-node-is-tainted-just-before-its-drain': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.delay('nodes', 5);
    stage.taint(first, 'example.com/keep');
    stage.drain(first);
    await stage.advance(minutes);
    stage.faults = {};
    await stage.advance(3 * minutes);
  },
  /** Created, used and deleted: nothing may remain. */
  'a-node-group-is-made-and-deleted': async (stage: Stage) => {
    stage.createGroup('n1');
    await stage.until(() => stage.nodes().length === 3);
    await stage.advance(minutes);
    stage.deleteGroup('n1');
    await stage.advance(15 * minutes);
  },
  /** The drain timeout of the group is shortened while a drain waits for a budget. */
  'a-group-gives-its-drains-less-time': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.terminate(first);
    await stage.until(() => stage.phaseOf(first) === 'Draining');
    stage.changeGroup({ drain: { timeoutSeconds: 120 } });
    await stage.advance(20 * minutes);
  },
  /**
   * The desired size is reduced to zero. It is raised again while the cloud refuses every call, and
   * meanwhile both nodes finish their drains: one of them must stay.
   */
  'a-scale-in-is-taken-back': async (stage: Stage) => {
    const { first, second } = pick(stage.nodes());
    stage.pod('app', first);
    stage.pod('other', second);
    await stage.advance(30);
    stage.changeGroup({ scaling: { desired: 0 } });
    await stage.until(() => [first, second].every((node) => stage.phaseOf(node) === 'Draining'));
    stage.faults = { cloudCall: () => ({ kind: 'refused', code: 'ServerError' }) };
    stage.changeGroup({ scaling: { desired: 1 } });
    await stage.advance(minutes);
    stage.faults = {};
    await stage.advance(10 * minutes);
  },
  /** A third node joins, and nothing prevents it. */
  'a-group-is-scaled-out': async (stage: Stage) => {
    stage.changeGroup({ scaling: { desired: 3 } });
    await stage.advance(15 * minutes);
  },
  /** The spec raises the maximum and the size together. */
  'a-group-outgrows-its-maximum': async (stage: Stage) => {
    stage.changeGroup({ scaling: { maxSize: 8, desired: 8 } });
    await stage.advance(15 * minutes);
  },
  /** A stalled leader sends its size call after its successor received another desired size. */
  'a-size-is-set-too-late': async (stage: Stage) => {
    stage.standStillBefore('UpdateAutoScalingGroup', 55);
    stage.changeGroup({ scaling: { desired: 4 } });
    await stage.advance(25);
    stage.changeGroup({ scaling: { desired: 2 } });
    await stage.advance(15 * minutes);
  },
  /** One of two nodes is terminated, and nothing holds it. */
  'a-group-is-scaled-in': async (stage: Stage) => {
    stage.changeGroup({ scaling: { desired: 1 } });
    await stage.advance(50 * minutes);
  },
  /** A budget holds the group's node until the first try is over. */
  'a-delete-waits-for-a-budget': async (stage: Stage) => {
    const before = stage.nodes();
    stage.createGroup('n1');
    await stage.until(() => stage.nodes().length === 3);
    await stage.advance(minutes);
    const node = stage.nodes().find((one) => !before.includes(one)) ?? '';
    stage.closedBudget('app');
    stage.pod('app', node);
    await stage.advance(30);
    stage.deleteGroup('n1');
    await stage.advance(17 * minutes);
    stage.dropBudget('app');
    await stage.advance(15 * minutes);
  },
  /** aws-auth authorizes the role from the first group's creation until the last one's deletion. */
  'node-groups-share-a-role': async (stage: Stage) => {
    const role = stage.createRole('shared');
    for (const name of ['n1', 'n2']) stage.createGroup(name, role);
    await stage.until(() => stage.nodes().length === 4);
    await stage.advance(minutes);
    stage.deleteGroup('n1');
    await stage.advance(15 * minutes);
    stage.deleteGroup('n2');
    await stage.advance(15 * minutes);
  },
  /**
   * A kubelet's own request is approved; a request for another node, or after the instance ended,
   * stays pending.
   */
  'kubelets-ask-for-certificates': async (stage: Stage) => {
    const { first, second } = pick(stage.nodes());
    const [own, other] = [stage.addressOf(first), stage.addressOf(second)];
    stage.askForCertificate('own', { node: first, address: own });
    await stage.until(() => stage.isApproved('own'));
    stage.askForCertificate('foreign', { node: first, address: other });
    stage.askForCertificate('of-another', {
      node: first,
      address: own,
      as: `system:node:${second}`,
    });
    await stage.advance(minutes);
    stage.endInstance(second);
    stage.askForCertificate('late', { node: second, address: other });
    await stage.advance(15 * minutes);
  },
  /** Held, released some time later, drained, and replaced. */
  'an-update-takes-a-node': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.pod('app', first);
    await stage.advance(30);
    stage.update(first, { hold: true });
    await stage.advance(2 * minutes);
    stage.update(first, { hold: false, deadline: stage.timeIn(15 * minutes) });
    await stage.advance(10 * minutes);
  },
  /** The node is deleted while it is held; the update withdraws its cause nevertheless. */
  'a-held-node-is-deleted': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    const instanceId = stage.instanceOf(first);
    stage.update(first, { hold: true });
    await stage.advance(minutes);
    // A running kubelet would register the node again.
    stage.world.faults.inject('kubelet-stop', { node: first });
    stage.deleteNode(first);
    await stage.advance(3 * minutes);
    stage.world.faults.clear();
    stage.withdraw(instanceId);
    await stage.advance(3 * minutes);
  },
  /** Without force, the drain fails and the node is uncordoned. */
  'an-update-meets-a-closed-budget': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.update(first, { hold: true });
    await stage.advance(minutes);
    stage.update(first, { hold: false, deadline: stage.timeIn(7 * minutes) });
    await stage.advance(15 * minutes);
    stage.dropBudget('app');
    stage.undrain(first);
    await stage.advance(3 * minutes);
  },
  /** With force, and with only 5 seconds between force and deadline. */
  'an-update-forces': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.closedBudget('app');
    stage.pod('app', first);
    await stage.advance(30);
    stage.update(first, { hold: true });
    await stage.advance(minutes);
    const forceFrom = stage.timeIn(2 * minutes);
    const deadline = stage.timeIn(2 * minutes + 5);
    stage.update(first, { hold: false, onDeadline: 'force', forceFrom, deadline });
    await stage.advance(10 * minutes);
  },
  /**
   * The cause is cancelled during the call that terminates the instance, and the answer is lost.
   */
  'a-termination-is-taken-back': async (stage: Stage) => {
    const { first } = pick(stage.nodes());
    stage.faults = {
      cloudCall: (operation) => {
        if (operation !== 'TerminateInstanceInAutoScalingGroup') return { kind: 'ok' };
        stage.faults = {};
        stage.undrain(first);
        return { kind: 'lost' };
      },
    };
    stage.update(first, { cooldownSeconds: 0 });
    await stage.advance(10 * minutes);
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;

const withTwoLeaders: ReadonlySet<string> = new Set(['a-size-is-set-too-late']);

/** Groups of stories that need more nodes or zones than two in one. */
const groups: Readonly<Record<string, GroupOptions>> = {
  'an-old-node-falls-silent': { nodes: 3, zones: ['a'] },
  'zones-are-updated': { nodes: 6, zones: ['a', 'b', 'c'] },
  'three-nodes-fall-ill-one-after-the-other': { nodes: 5, zones: ['a'] },
  'three-nodes-report-the-same': { nodes: 5, zones: ['a'] },
  'a-zone-goes-down': { nodes: 6, zones: ['a', 'b', 'c'] },
  'the-control-plane-is-cut-off': { nodes: 6, zones: ['a', 'b', 'c'] },
};

export const storyNames: readonly string[] = Object.keys(stories);

const isStory = (name: string): name is keyof typeof stories => name in stories;

/**
 * Runs the story and returns the oracles' violations. Throws if the story does not exist or cannot
 * run.
 */
export const tellStory = async (
  name: string,
  options: StageOptions,
): Promise<readonly Violation[]> => {
  if (!isStory(name)) throw new Error(`there is no story ${name}`);
  const group = groups[name];
  const stage = await Stage.begin({
    ...options,
    twoLeaders: withTwoLeaders.has(name),
    ...defined({ group }),
  });
  await stories[name](stage);
  return stage.end(true);
};
