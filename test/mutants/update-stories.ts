// The stories of version updates that reach mutants. Each ends settled, as those of stories.ts do.
import type { Stage } from './stage.ts';

const minutes = 60;
const surge = { updateStrategy: 'SURGE', maxUnavailable: 1 } as const;

const isOver = (stage: Stage): boolean =>
  !['InProgress', undefined].includes(stage.updateStatus().status as string | undefined);

/** Longer than a complete update of two nodes. */
const longSeconds = 20 * minutes;

const available = {
  name: 'app',
  condition: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'default',
    name: 'app',
    type: 'Available',
    status: 'False',
  },
  intervalSeconds: 10,
} as const;

export const updateStories = {
  /** A freeze starts while the first node is being drained. */
  'a-freeze-begins-in-an-update': async (stage: Stage) => {
    const freezes = [{ from: stage.timeIn(45), until: stage.timeIn(45 + longSeconds) }];
    stage.updateGroup({ ...surge, freezes });
    await stage.advance(2 * longSeconds);
  },
  /** The update is requested during a freeze. */
  'an-update-is-asked-for-in-a-freeze': async (stage: Stage) => {
    const freezes = [{ from: stage.timeIn(-10), until: stage.timeIn(longSeconds) }];
    stage.changeGroup({ updateConfig: { ...surge, freezes } });
    await stage.advance(1 * minutes);
    stage.updateGroup(surge);
    await stage.advance(2 * longSeconds);
  },
  /**
   * A window of one minute, long enough for one of two nodes; the next opens half an hour later.
   */
  'a-window-closes-in-an-update': async (stage: Stage) => {
    const isNow = () => /:[03]0:0/.test(stage.timeIn(0));
    await stage.until(isNow, 40 * minutes);
    stage.updateGroup({ ...surge, windows: [{ cron: '*/30 * * * *', durationSeconds: 60 }] });
    await stage.advance(65 * minutes);
  },
  /** A health probe fails until an operator removes it. */
  'a-probe-fails-in-an-update': async (stage: Stage) => {
    stage.deployment('app');
    stage.changeGroup({ updateConfig: { ...surge, probes: [available] } });
    await stage.advance(1 * minutes);
    stage.updateGroup(surge);
    await stage.advance(longSeconds);
    stage.changeGroup({ updateConfig: { probes: null } });
    await stage.advance(longSeconds);
  },
  /** Two nodes are replaced, one after the other. */
  'a-group-is-updated': async (stage: Stage) => {
    stage.updateGroup(surge);
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    await stage.advance(20 * minutes);
  },
  /** As EKS does it, with a surplus that is removed. */
  'a-group-is-updated-as-eks-does': async (stage: Stage) => {
    stage.updateGroup({ updateStrategy: 'DEFAULT', maxUnavailable: 1 });
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    await stage.advance(30 * minutes);
  },
  /**
   * A budget keeps the first node; a user has set the scale-down-disabled annotation on all nodes.
   */
  'an-update-is-set-back': async (stage: Stage) => {
    const nodes = stage.nodes();
    for (const node of nodes) {
      stage.keep(node);
      stage.pod(`app-${node.split('.')[0]}`, node);
      stage.closedBudget(`app-${node.split('.')[0]}`);
    }
    stage.changeGroup({ drain: { timeoutSeconds: 300 } });
    await stage.advance(30);
    stage.updateGroup(surge);
    await stage.until(() => isOver(stage), 40 * minutes);
    for (const node of nodes) stage.dropBudget(`app-${node.split('.')[0]}`);
    await stage.advance(20 * minutes);
  },
  /**
   * The first new node is Ready and no other joins. One of the three old nodes is drained, and the
   * kubelet of another one stops.
   */
  'an-old-node-falls-silent': async (stage: Stage) => {
    const before = stage.nodes();
    stage.updateGroup(surge);
    const isTouched = (node: string) => stage.phaseOf(node) !== '';
    await stage.until(() => before.some(isTouched));
    stage.world.faults.inject('never-join', {});
    const silent = before.find((node) => !isTouched(node));
    if (silent !== undefined) stage.world.faults.inject('kubelet-stop', { node: silent });
    await stage.advance(8 * minutes);
    stage.world.faults.clear();
    await stage.advance(60 * minutes);
  },
  /** Two nodes in each of three zones; each zone starts with one new node. */
  'zones-are-updated': async (stage: Stage) => {
    stage.updateGroup(surge);
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    await stage.advance(60 * minutes);
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;
