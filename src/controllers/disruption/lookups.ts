// Maps a disruption to its node, group and pods, and a node's event to its disruptions. Reads the
// informers; enqueues nothing.
import { instanceIdOfProviderId } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { nodeOfInstance } from '../informers.ts';
import { isNodeOf } from './apply.ts';
import type { DisruptionDeps } from './deps.ts';

export class Lookups {
  readonly #deps: DisruptionDeps;
  /** Node name -> disruptions that name it. */
  readonly #byNode = new Map<string, Set<string>>();
  readonly #namesOf = new Map<string, readonly string[]>();

  constructor(deps: DisruptionDeps) {
    this.#deps = deps;
  }

  /** The current node, by instance where there is one. */
  nodeOf(disruption: NodeDisruption): Node | undefined {
    const { nodes } = this.#deps;
    const { instanceId, nodeName } = disruption.spec;
    const byInstance = instanceId === undefined ? undefined : nodeOfInstance(nodes, instanceId);
    if (byInstance !== undefined) return byInstance;
    const name = nodeName ?? disruption.status?.node?.name;
    const named = name === undefined ? undefined : nodes.get(name);
    return named !== undefined && isNodeOf(named, disruption) ? named : undefined;
  }

  groupOf(disruption: NodeDisruption): NodeGroup | undefined {
    const { nodeGroup } = disruption.spec;
    return nodeGroup === undefined ? undefined : this.#deps.nodeGroups.get(nodeGroup);
  }

  /** Records which nodes a disruption names; call for each change of one. */
  note(disruption: NodeDisruption, removed: boolean): void {
    const { name } = disruption.metadata;
    const { spec, status } = disruption;
    const named = removed ? [] : [spec.nodeName, status?.node?.name].filter((n) => n !== undefined);
    for (const node of this.#namesOf.get(name) ?? []) this.#byNode.get(node)?.delete(name);
    for (const node of named) {
      const known = this.#byNode.get(node);
      if (known === undefined) this.#byNode.set(node, new Set([name]));
      else known.add(name);
    }
    if (removed) this.#namesOf.delete(name);
    else this.#namesOf.set(name, named);
  }

  /** Disruptions that a change of this node may concern. */
  concernedBy(node: Node): ReadonlySet<string> {
    const names = new Set(this.#byNode.get(node.metadata.name));
    const instanceId = instanceIdOfProviderId(node.spec.providerID);
    if (instanceId !== undefined && this.#deps.disruptions.get(instanceId) !== undefined) {
      names.add(instanceId);
    }
    return names;
  }
}
