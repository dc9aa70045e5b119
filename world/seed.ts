// Fills a fresh world with a cluster and node groups: the objects that EKS, eksctl and the add-ons
// create, written through the API server. Never changes a filled world.
import { customResourceDefinitions } from '../src/api/crds.ts';
import type { JsonObject } from '../src/api/json.ts';
import { nodeGroupFinalizer } from '../src/api/nodegroup.ts';
import { articleGroups, type DemoFacts, type DemoOptions } from './aws/index.ts';
import type { GroupResource, WorldClient } from './contracts.ts';
import { nodeManagerAgent, nodeManagerUser } from './identities.ts';
import { seedKube } from './kube/seed/index.ts';
import { LateSeed } from './late-seed.ts';
import { type World, worldRegion, worldVersion } from './world.ts';

export interface SeedClusterOptions extends DemoOptions {
  /** aws-node, kube-proxy and CoreDNS; small simulations do not need them. */
  readonly addons: boolean;
  /** Article 002's nginx and the add-ons' Deployments, created once the nodes are Ready. */
  readonly workload: boolean;
}

const collection = (group: string, resource: string): GroupResource => ({ group, resource });
const crds = collection('apiextensions.k8s.io', 'customresourcedefinitions');

const create = (client: WorldClient, resource: GroupResource, object: JsonObject): void => {
  const metadata = object.metadata as JsonObject;
  const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : undefined;
  const result = client.create(resource, namespace, object);
  if (result.kind === 'error') throw new Error(`the seed is refused: ${result.status.message}`);
};

/** A typed object as JSON, which our interfaces guarantee. */
const plainJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

/**
 * Fills `world` and returns the created facts. Throws if the API server refuses an object, which is
 * a defect of the seed.
 */
export const seedCluster = (world: World, options: SeedClusterOptions): DemoFacts => {
  const facts = world.aws.seedDemo(options);
  const groups = [...facts.managed.map((group) => group.spec), ...facts.selfManaged];
  seedKube({
    kube: world.kube,
    version: worldVersion.gitVersion,
    region: worldRegion,
    addons: options.addons,
    deployments: !options.workload,
    nodeRoleArns: groups.map((group) => group.nodeRole),
  });
  const manager = world.kube.as({ user: nodeManagerUser, userAgent: nodeManagerAgent });
  for (const definition of customResourceDefinitions) create(manager, crds, { ...definition });
  for (const { name, spec } of facts.managed) {
    create(manager, collection('drover.dev', 'nodegroups'), {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name, finalizers: [nodeGroupFinalizer] },
      spec: plainJson(spec),
    });
  }
  if (options.workload) {
    const groupsOf = options.groups ?? articleGroups;
    LateSeed.schedule(world.kernel, {
      nodes: groupsOf.reduce((sum, group) => sum + group.desired, 0),
      version: worldVersion.gitVersion,
      region: worldRegion,
      dnsGroup: 'demo-ng',
    });
  }
  return facts;
};
