// Creates the demo's Deployments once the first nodes are Ready. Pods are then spread as on a
// cluster that has run for a while, with CoreDNS on the node that article 001 terminates. Acts
// once.
import { isObject, type JsonObject } from '../src/api/json.ts';
import type { GroupResource, WorldKube } from './contracts.ts';
import {
  type Actor,
  type Kernel,
  microsPerMs,
  microsPerSecond,
  type WorldEvent,
} from './kernel/index.ts';
import { demoWorkload, seedKube } from './kube/seed/index.ts';

const name = 'seed';
const lookEveryMicros = 250 * microsPerMs;
/** After this time the Deployments are created even if no node is Ready. */
const patienceMicros = 15 * microsPerSecond;
const nodes: GroupResource = { group: '', resource: 'nodes' };
const collections: Readonly<Record<string, GroupResource>> = {
  Namespace: { group: '', resource: 'namespaces' },
  Deployment: { group: 'apps', resource: 'deployments' },
};

export interface LateSeedFacts {
  readonly nodes: number;
  readonly version: string;
  readonly region: string;
  readonly dnsGroup: string;
}

const isReady = (node: JsonObject): boolean => {
  const status = node.status;
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.some((one) => isObject(one) && one.type === 'Ready' && one.status === 'True');
};

export class LateSeed implements Actor {
  readonly name = name;
  readonly #kernel: Kernel;
  readonly #kube: WorldKube;
  constructor(kernel: Kernel, kube: WorldKube) {
    this.#kernel = kernel;
    this.#kube = kube;
    kernel.register(this);
  }

  handle({ args }: WorldEvent): void {
    const ready = [...this.#kube.readAll(nodes)].filter(isReady).length;
    if (ready >= Number(args.nodes) || this.#kernel.now() >= Number(args.until)) this.#create(args);
    else this.#look(args);
  }

  #look(args: JsonObject): void {
    this.#kernel.schedule({ afterMicros: lookEveryMicros, actor: name, kind: 'look', args });
  }

  #create(args: JsonObject): void {
    seedKube({
      kube: this.#kube,
      version: String(args.version),
      region: String(args.region),
      dnsPrefers: { 'eks.amazonaws.com/nodegroup': String(args.dnsGroup) },
    });
    const user = this.#kube.as({
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      userAgent: 'kubectl/v1.32.4 (linux/amd64) kubernetes/4cb5f07',
    });
    for (const object of demoWorkload()) {
      const { kind, metadata } = object;
      const resource = collections[String(kind)];
      if (resource === undefined || !isObject(metadata)) continue;
      const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : undefined;
      // A user may have applied the same workload first; it stays unchanged.
      user.create(resource, namespace, object);
    }
  }

  static schedule(kernel: Kernel, facts: LateSeedFacts): void {
    kernel.schedule({
      afterMicros: lookEveryMicros,
      actor: name,
      kind: 'look',
      args: { ...facts, until: kernel.now() + patienceMicros },
    });
  }
}
