// Shared by sequence tests of update sequences: three small groups a release behind, an application
// that may run on all of them, and the number of its pods' moves. Decides nothing.
import { objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type {
  NodeGroupUpdateSequence,
  NodeGroupUpdateSequenceSpec,
  NodeGroupUpdateSequenceStatus,
} from '../../src/api/update-sequence.ts';
import { GroupLife, type GroupLifeOptions } from './nodegroup-world.ts';
import { newest, older } from './update-world.ts';

const kind = { group: 'drover.dev', resource: 'nodegroupupdatesequences' } as const;

export interface GroupNodes {
  readonly groups: readonly string[];
  readonly nodes: number;
  readonly pods?: number;
}

const runApp = (life: GroupLife, replicas: number): void => {
  const labels = { app: 'web' };
  const selector = { matchLabels: labels };
  const spec = { nodeSelector: { pool: 'apps' }, containers: [{ name: 'web', image: 'web:1' }] };
  life.make({ group: 'apps', resource: 'deployments' }, 'default', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas, selector, template: { metadata: { labels }, spec } },
  });
};

/**
 * Groups of SURGE, and pods that may run on any of their nodes: they ran on the first group before
 * the others existed.
 */
export const beginGroups = async (
  { groups, nodes, pods = 0 }: GroupNodes,
  options: GroupLifeOptions = {},
): Promise<GroupLife> => {
  const life = await GroupLife.begin(options);
  for (const nodegroupName of groups) {
    await life.create({
      nodegroupName,
      releaseVersion: older,
      labels: { pool: 'apps' },
      scalingConfig: { minSize: 0, maxSize: 10, desiredSize: nodes },
    });
    const isActive = (): boolean => life.isActive(nodes, nodegroupName);
    await life.until(`${nodegroupName} is ACTIVE`, isActive, 1800);
    const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: 1 };
    life.patch({ spec: { updateConfig } }, nodegroupName);
    if (pods === 0 || nodegroupName !== groups[0]) continue;
    runApp(life, pods);
    await life.until('its pods run', () => life.runningPods('web') === pods);
  }
  await life.driver.advance(60);
  return life;
};

export const ask = (
  life: GroupLife,
  groups: NodeGroupUpdateSequenceSpec['groups'],
  more: Partial<NodeGroupUpdateSequenceSpec> = {},
  name = 'all',
): void =>
  life.make(kind, undefined, {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroupUpdateSequence',
    metadata: { name },
    spec: JSON.parse(
      JSON.stringify({ groups, target: { releaseVersion: newest }, ...more }),
    ) as Record<string, never>,
  });

export const sequenceOf = (life: GroupLife, name = 'all'): NodeGroupUpdateSequence | undefined =>
  life.world.kube.read(kind, { name }) as unknown as NodeGroupUpdateSequence | undefined;

export const statusOf = (life: GroupLife): NodeGroupUpdateSequenceStatus | undefined =>
  sequenceOf(life)?.status;

export const isOver = (life: GroupLife): boolean => statusOf(life)?.phase === 'Ended';

export const change = (life: GroupLife, spec: Partial<NodeGroupUpdateSequenceSpec>): void => {
  const body = { spec: JSON.parse(JSON.stringify(spec)) as Record<string, never> };
  life.user.patch(kind, { name: 'all' }, { type: 'merge', body });
};

export const remove = (life: GroupLife): void => {
  life.user.delete(kind, { name: 'all' });
};

/** Names of marked nodes. */
export const marked = (life: GroupLife): readonly string[] =>
  [...life.world.kube.readAll(resourceTypes.nodes)]
    .filter(({ spec }) => JSON.stringify(spec).includes('drover.dev/awaiting-update'))
    .map(({ metadata }) => metadata.name);

/**
 * All pods of the application that ever existed. Each pod beyond the initial ones replaced a pod
 * that was moved.
 */
export class PodCount {
  readonly #life: GroupLife;
  readonly #seen = new Set<string>();

  constructor(life: GroupLife) {
    this.#life = life;
    this.look();
  }

  look(): void {
    for (const { metadata } of this.#life.world.kube.readAll(resourceTypes.pods)) {
      if (objectOr(metadata.labels).app === 'web') this.#seen.add(metadata.uid);
    }
  }

  get size(): number {
    this.look();
    return this.#seen.size;
  }
}
