// The admission plugin NodeRestriction: a kubelet writes its own node, and pods that run there. Upstream:
// plugin/pkg/admission/noderestriction (1.32). Which labels it may set, and what CSINodes, leases and
// claims hold, is not looked at.
import { objectOr } from '../../../api/json.ts';
import { nodeOfUser } from './node-authorizer.ts';
import { metadataOf, type Stored, specOf } from './objects.ts';
import type { Admission } from './policy-match.ts';
import { forbidden } from './status.ts';
import { objectKey, type Store } from './store.ts';

const pods = { group: '', resource: 'pods' };
const mirrorAnnotation = 'kubernetes.io/config.mirror';

const nodeTrouble = (node: string, name: string): string | undefined =>
  name === node ? undefined : `node "${node}" is not allowed to modify node "${name}"`;

function podTrouble(store: Store, node: string, admission: Admission): string | undefined {
  const { operation, subresource, namespace, name, object } = admission;
  if (operation === 'CREATE' && subresource === undefined) {
    const { annotations } = metadataOf(object ?? {});
    if (objectOr(annotations)[mirrorAnnotation] !== undefined) return undefined;
    return `pod does not have "${mirrorAnnotation}" annotation, node "${node}" can only create mirror pods`;
  }
  const pod = (admission.oldObject ?? store.get(pods, objectKey(namespace, name))) as
    | Stored
    | undefined;
  if (pod === undefined || specOf(pod).nodeName === node) return undefined;
  const own = 'pods with spec.nodeName set to itself';
  // Upstream quotes the name in all but one of its sentences.
  if (subresource === 'eviction') return `node ${node} can only evict ${own}`;
  return operation === 'DELETE'
    ? `node "${node}" can only delete ${own}`
    : `node "${node}" can only update pod status for ${own}`;
}

/** Throws the refusal. */
export function restrictNode(store: Store, admission: Admission): void {
  const node = nodeOfUser(admission.user);
  if (node === undefined || admission.definition.group !== '') return;
  const { definition, name } = admission;
  const { resource } = definition;
  const trouble =
    resource === 'nodes'
      ? nodeTrouble(node, name)
      : resource === 'pods'
        ? podTrouble(store, node, admission)
        : undefined;
  if (trouble !== undefined) throw forbidden(definition, name, trouble);
}
