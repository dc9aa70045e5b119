// What a kubelet may do: the rules of the role system:node, restricted to objects used by pods of
// its node, and to its own Node, Lease and CSINode. Upstream: plugin/pkg/auth/authorizer/node
// (1.32). It grants and never refuses: RBAC is evaluated as well.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import type { Attributes, Verdict } from './authorization.ts';
import { objectsOf, type Stored, specOf, textOf } from './objects.ts';
import { objectKey, type Store } from './store.ts';

const prefix = 'system:node:';
const claims = { group: '', resource: 'persistentvolumeclaims' };
const attachments = { group: 'storage.k8s.io', resource: 'volumeattachments' };
const clusterRoles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };

/** The node whose kubelet this user is. */
export const nodeOfUser = ({ username, groups }: UserInfo): string | undefined =>
  username.startsWith(prefix) && groups.includes('system:nodes')
    ? username.slice(prefix.length)
    : undefined;

/** `namespace/name` of the objects that a pod uses, by resource. */
type Uses = Readonly<Record<string, (pod: Stored, store: Store) => readonly string[]>>;

const namesIn = (pod: Stored, names: readonly (string | undefined)[]): readonly string[] =>
  names.flatMap((name) => (name ? [objectKey(pod.metadata.namespace, name)] : []));

const volumesOf = (pod: JsonObject): readonly JsonObject[] => objectsOf(specOf(pod).volumes);

/** Names in environment variables and projected volumes, for secrets and config maps alike. */
export const named = (
  pod: JsonObject,
  kind: 'secret' | 'configMap',
): readonly (string | undefined)[] => {
  const spec = specOf(pod);
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((key) =>
    objectsOf(spec[key]),
  );
  const inVolumes = volumesOf(pod).flatMap((volume) => [
    textOf(
      kind === 'secret' ? objectOr(volume.secret).secretName : objectOr(volume.configMap).name,
    ),
    ...objectsOf(objectOr(volume.projected).sources).map((source) =>
      textOf(objectOr(source[kind]).name),
    ),
  ]);
  const inEnvironment = containers.flatMap((container) => [
    ...objectsOf(container.envFrom).map((from) => textOf(objectOr(from[`${kind}Ref`]).name)),
    ...objectsOf(container.env).map((one) =>
      textOf(objectOr(objectOr(one.valueFrom)[`${kind}KeyRef`]).name),
    ),
  ]);
  return [...inVolumes, ...inEnvironment];
};

const claimsOf = (pod: Stored): readonly string[] =>
  namesIn(
    pod,
    volumesOf(pod).map((volume) =>
      volume.ephemeral === undefined
        ? textOf(objectOr(volume.persistentVolumeClaim).claimName)
        : `${pod.metadata.name}-${textOf(volume.name) ?? ''}`,
    ),
  );

const uses: Uses = {
  pods: (pod) => namesIn(pod, [pod.metadata.name]),
  secrets: (pod) =>
    namesIn(pod, [
      ...named(pod, 'secret'),
      ...objectsOf(specOf(pod).imagePullSecrets).map(({ name }) => textOf(name)),
    ]),
  configmaps: (pod) => namesIn(pod, named(pod, 'configMap')),
  serviceaccounts: (pod) => namesIn(pod, [textOf(specOf(pod).serviceAccountName)]),
  persistentvolumeclaims: claimsOf,
  persistentvolumes: (pod, store) =>
    claimsOf(pod).flatMap((key) => {
      const claim = store.get(claims, key);
      return claim === undefined ? [] : [textOf(specOf(claim).volumeName) ?? ''];
    }),
};

const selects = (wanted: Attributes, field: string, value: string): boolean =>
  (wanted.fieldSelector ?? '').split(',').some((term) => {
    const [key, is, rest] = term.split('=');
    return key === field && (rest ?? is) === value;
  });

/**
 * Why the kubelet of `node` is refused, by resource; undefined when the role's rules alone decide.
 */
const rules: Readonly<
  Record<string, (store: Store, node: string, wanted: Attributes) => string | undefined>
> = {
  'coordination.k8s.io/leases': (_, node, wanted) => {
    if (wanted.namespace !== 'kube-node-lease') {
      return 'can only access leases in the "kube-node-lease" system namespace';
    }
    if (isOwnOrNew(node, wanted)) return undefined;
    return 'can only access node lease with the same name as the requesting node';
  },
  'storage.k8s.io/csinodes': (_, node, wanted) =>
    isOwnOrNew(node, wanted)
      ? undefined
      : 'can only access CSINode with the same name as the requesting node',
  'storage.k8s.io/volumeattachments': (store, node, { name = '' }) => {
    const attachment = store.get(attachments, name);
    return attachment !== undefined && specOf(attachment).nodeName === node
      ? undefined
      : unrelated(node);
  },
  '/nodes': (_, node, wanted) => {
    const { verb, name } = wanted;
    if (many.includes(verb)) {
      if (selects(wanted, 'metadata.name', node)) return undefined;
      return `node '${node}' cannot read all nodes, only its own Node object`;
    }
    if (verb !== 'get' || name === node) return undefined;
    return `node '${node}' cannot read '${name ?? ''}', only its own Node object`;
  },
  '/pods': (store, node, wanted) => {
    if (many.includes(wanted.verb)) {
      if (selects(wanted, 'spec.nodeName', node)) return undefined;
      return 'can only list/watch pods with spec.nodeName field selector';
    }
    // Admission decides which pods it may write.
    return wanted.verb === 'get' ? usedThere(store, node, wanted) : undefined;
  },
};

const many = ['list', 'watch'];
const unrelated = (node: string): string =>
  `no relationship found between node '${node}' and this object`;
const isOwnOrNew = (node: string, { name, verb }: Attributes): boolean =>
  name === node || (verb === 'create' && name === undefined);

function usedThere(store: Store, node: string, wanted: Attributes): string | undefined {
  const of = uses[wanted.resource];
  if (of === undefined) return undefined;
  const key = objectKey(wanted.namespace, wanted.name ?? '');
  for (const pod of store.podsOnNode(node)) if (of(pod, store).includes(key)) return undefined;
  return unrelated(node);
}

/** `holds` returns whether a rule allows the request. */
export function judgeNode(
  store: Store,
  node: string,
  wanted: Attributes,
  holds: (rule: JsonObject, wanted: Attributes) => boolean,
): Verdict {
  const role = objectsOf(store.get(clusterRoles, 'system:node')?.rules);
  if (!role.some((rule) => holds(rule, wanted))) return { allowed: false, reason: '' };
  const own = rules[`${wanted.group}/${wanted.resource}`];
  const used = wanted.group === '' ? usedThere : () => undefined;
  const reason = (own ?? used)(store, node, wanted);
  return { allowed: reason === undefined, reason: reason ?? '' };
}
