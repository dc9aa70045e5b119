// The stories of version updates that lead to mutants. Each ends settled, as those of stories.ts do.
import type { Stage } from './stage.ts';

const minutes = 60;
const surge = { updateStrategy: 'SURGE', maxUnavailable: 1 } as const;

const isOver = (stage: Stage): boolean =>
  !['InProgress', undefined].includes(stage.updateStatus().status as string | undefined);

export const updateStories = {
  /** Two nodes become two others, one after the other. */
  'a-group-is-updated': async (stage: Stage) => {
    stage.updateGroup(surge);
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    await stage.advance(20 * minutes);
  },
  /** As EKS does it, with a surplus that is taken back. */
  'a-group-is-updated-as-eks-does': async (stage: Stage) => {
    stage.updateGroup({ updateStrategy: 'DEFAULT', maxUnavailable: 1 });
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    await stage.advance(30 * minutes);
  },
  /** A budget keeps the first node; somebody else had kept the autoscaler from all of them. */
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
  /** The first new node falls silent while the first old one goes, and none other joins. */
  'new-nodes-fall-silent': async (stage: Stage) => {
    const before = stage.nodes();
    stage.updateGroup(surge);
    await stage.until(() => stage.updateStatus().phase === 'Rolling');
    const fresh = stage.nodes().filter((node) => !before.includes(node));
    stage.world.faults.inject('never-join', {});
    for (const node of fresh) stage.world.faults.inject('kubelet-stop', { node });
    await stage.advance(8 * minutes);
    stage.world.faults.clear();
    await stage.advance(60 * minutes);
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<void>>>;
