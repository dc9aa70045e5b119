// The demo world: the cluster of the articles.

import { seedCluster, type World, worldVersion } from '../../world/index.ts';
import { seedKube } from '../../world/kube/seed/index.ts';

export const demoCluster = { clusterName: 'ironman-2022' } as const;

/** The queue that receives lifecycle notices, if the world has one. */
export const noticesQueueUrl = (world: World): string | undefined =>
  world.aws.queueUrl('drover-notices');

/** Content of every cluster: namespaces, priority classes, the API's own Service. */
export const seedEmpty = (world: World): void => {
  world.aws.seedAccount();
  seedKube({ kube: world.kube, version: worldVersion.gitVersion, addons: false });
};

/** Fills a new world with articles 001 and 002: three groups, add-ons, nginx. */
export const seedDemo = (world: World): void => {
  seedCluster(world, {
    clusterName: demoCluster.clusterName,
    kubernetesVersion: worldVersion.gitVersion.slice(1, worldVersion.gitVersion.indexOf('-')),
    addons: true,
    workload: true,
  });
};
