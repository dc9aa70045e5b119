// Which nodes a command refers to: by name, instance id, node group or label selector. The error
// for an unknown name lists similar names. Reads only.
import { instanceIdOfProviderId } from '../api/brand.ts';
import { type Node, resourceTypes } from '../api/kube.ts';
import { editDistance } from '../api/similar.ts';
import { groupNameOf } from '../core/overview/index.ts';
import type { KubeApi } from '../ports/index.ts';
import { CommandError, exitCodes } from './context.ts';
import { type Target, targetsOf } from './target.ts';

const maxSuggestions = 3;
const maxListed = 10;

/** Known names that `wanted` may be a misspelling of, closest first. */
export const closeNames = (wanted: string, known: readonly string[]): readonly string[] => {
  const near = Math.max(2, Math.floor(wanted.length / 4));
  return known
    .map((name) => ({
      name,
      apart: name.includes(wanted) ? 0 : editDistance(wanted, name),
    }))
    .filter(({ apart }) => apart <= near)
    .sort((a, b) => a.apart - b.apart || (a.name < b.name ? -1 : 1))
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
};

export const unknownNode = (wanted: string, nodes: readonly Node[]): CommandError => {
  const names = nodes.map((node) => node.metadata.name).sort();
  const close = closeNames(wanted, names);
  const some = names.slice(0, maxListed).join(', ');
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  const hint =
    close.length > 0
      ? `did you mean ${close.join(' or ')}?`
      : `the cluster has ${names.length === 0 ? 'no nodes' : `${some}${more}`}`;
  return new CommandError(exitCodes.failed, `no node ${wanted} in this cluster; ${hint}`);
};

const byInstance = (nodes: readonly Node[], instanceId: string): readonly Node[] =>
  nodes.filter((node) => instanceIdOfProviderId(node.spec.providerID) === instanceId);

const findNode = async (kube: KubeApi, name: string): Promise<Node> => {
  if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) {
    const found = await kube.get<Node>(resourceTypes.nodes, { name });
    if (found.kind === 'found') return found.object;
  }
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  const same = byInstance(items, name);
  if (same.length > 1) {
    const names = same.map((node) => node.metadata.name).join(', ');
    throw new CommandError(
      exitCodes.failed,
      `instance ${name} belongs to several nodes (${names}): name the node that you mean`,
    );
  }
  if (same[0] !== undefined) return same[0];
  throw unknownNode(name, items);
};

const nodesOfGroup = async (kube: KubeApi, name: string): Promise<readonly Node[]> => {
  const { items } = await kube.list<Node>(resourceTypes.nodes);
  const members = items.filter((node) => groupNameOf(node) === name);
  if (members.length > 0) return members;
  const groups = [...new Set(items.flatMap((node) => groupNameOf(node) ?? []))];
  const close = closeNames(name, groups);
  const hint = close.length > 0 ? `; did you mean ${close.join(' or ')}?` : '';
  throw new CommandError(exitCodes.failed, `node group ${name} has no nodes${hint}`);
};

const nodesOf = async (kube: KubeApi, { kind, name }: Target): Promise<readonly Node[]> => {
  if (kind === 'nodegroup') return nodesOfGroup(kube, name);
  if (kind === undefined || kind === 'node') return [await findNode(kube, name)];
  throw new CommandError(
    exitCodes.usage,
    `${kind} ${name} is not a node: name nodes, or a node group with nodegroup/NAME`,
  );
};

/** The named nodes, each once, in the order named. Throws CommandError. */
export const resolveNodes = async (
  kube: KubeApi,
  wanted: { readonly names: readonly string[]; readonly selector: string | undefined },
): Promise<readonly Node[]> => {
  const { names, selector } = wanted;
  if (names.length > 0 && selector !== undefined) {
    throw new CommandError(
      exitCodes.usage,
      'name nodes or give --selector, not both: which nodes are meant would be ambiguous',
    );
  }
  if (selector !== undefined) {
    const { items } = await kube.list<Node>(resourceTypes.nodes, { labelSelector: selector });
    if (items.length > 0) return items;
    throw new CommandError(
      exitCodes.failed,
      `no node has the labels ${selector}: \`kubectl get nodes --show-labels\` shows those ` +
        'there are',
    );
  }
  if (names.length === 0) {
    throw new CommandError(exitCodes.usage, 'name at least one node, or give --selector');
  }
  const nodes = new Map<string, Node>();
  for (const target of targetsOf(names)) {
    for (const node of await nodesOf(kube, target)) nodes.set(node.metadata.name, node);
  }
  return [...nodes.values()];
};
