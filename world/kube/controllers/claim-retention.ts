// persistentVolumeClaimRetentionPolicy: decides which owner references a StatefulSet's claims
// carry, so that the garbage collector deletes them with the set or with a pod removed by scaling.
// Deletes nothing.
import type { WorldClient, WorldKube } from '../../contracts.ts';
import { asPod, metaOf, type Owner, resources, type StatefulSetView } from '../actors/index.ts';
import { claimName, ordinalOf, statefulPodName, wantedOrdinals } from './stateful-pod.ts';

type Reference = Omit<Owner, 'controller'>;

const setReference = (set: StatefulSetView): Reference => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: set.metadata.name,
  uid: set.metadata.uid,
});

/** False when the API server refused a change. Reads nothing under the default policy. */
export const keepClaimOwners = (
  set: StatefulSetView,
  { kube, client }: { readonly kube: WorldKube; readonly client: WorldClient },
): boolean => {
  const templates = set.spec.volumeClaimTemplates ?? [];
  const policy = set.spec.persistentVolumeClaimRetentionPolicy;
  const deletes = policy?.whenDeleted === 'Delete' || policy?.whenScaled === 'Delete';
  if (templates.length === 0 || !deletes) return true;
  const namespace = set.metadata.namespace ?? '';
  const wanted = new Set(wantedOrdinals(set));
  const ordinals = new Set(wanted);
  for (const object of kube.ownedBy(set.metadata.uid)) {
    if (object.kind === 'Pod') ordinals.add(ordinalOf(set, asPod(object)));
  }
  for (const ordinal of ordinals) {
    const podName = statefulPodName(set, ordinal);
    const pod = kube.read(resources.pods, { namespace, name: podName });
    for (const template of templates) {
      const name = claimName(set, template.metadata.name, ordinal);
      const claim = kube.read(resources.persistentvolumeclaims, { namespace, name });
      if (claim === undefined) continue;
      const owners = metaOf(claim).ownerReferences ?? [];
      const scaledAway = !wanted.has(ordinal) && policy.whenScaled === 'Delete';
      const podOwner: Reference | undefined =
        scaledAway && pod !== undefined
          ? { apiVersion: 'v1', kind: 'Pod', name: podName, uid: pod.metadata.uid }
          : undefined;
      const setOwner =
        !scaledAway && policy.whenDeleted === 'Delete' ? setReference(set) : undefined;
      const others = owners.filter(
        (one) => one.uid !== set.metadata.uid && !(one.kind === 'Pod' && one.name === podName),
      );
      const next = [...others, ...[podOwner, setOwner].filter((one) => one !== undefined)];
      const same =
        next.length === owners.length &&
        next.every((one) => owners.some((old) => old.uid === one.uid));
      if (same) continue;
      const patched = client.patch(
        resources.persistentvolumeclaims,
        { namespace, name },
        {
          type: 'merge',
          body: { metadata: { uid: claim.metadata.uid, ownerReferences: next } },
        },
      );
      if (patched.kind === 'error' && patched.status.code !== 404) return false;
    }
  }
  return true;
};
