// How a pod's claims restrict its placement: volumes in other zones, claims that cannot be served,
// machines at their attachment limit. Reads only. Upstream: volumebinding, nodevolumelimits (1.32).
import type { WorldKube } from '../../contracts.ts';
import {
  asClaim,
  asPod,
  asStorageClass,
  asVolume,
  attacherOf,
  type ClaimView,
  claimsOf,
  isFinished,
  isTerminating,
  keyOf,
  nodeTermsMatch,
  type PodView,
  resources,
  selectedNodeAnnotation,
  type VolumeView,
} from '../actors/index.ts';
import type { NodeInfo } from './cache.ts';
import type { Refusal } from './fit.ts';

/** EBS volumes that a machine can attach besides its own disk and interfaces, by hypervisor. */
const nitroLimit = 25;
const xenLimit = 39;
const xenFamilies = /^(?:t1|t2|m[1-4]|c[134]|r[34]|i2|d2|h1|g[23]|p[23]|x1|x1e)\./;

const stuck = (reason: string): Refusal => ({ reasons: [reason], stuck: true });

export interface VolumeAsk {
  /** Holds for every node: no node needs to be checked. */
  readonly refusal: string | undefined;
  /** Claims whose volume is provisioned where the pod will run. */
  readonly delayed: readonly ClaimView[];
  /** The node already selected for them. */
  readonly selected: string | undefined;
  readonly volumes: readonly VolumeView[];
}

const nothing: VolumeAsk = {
  refusal: undefined,
  delayed: [],
  selected: undefined,
  volumes: [],
};

const isDelayed = (kube: WorldKube, claim: ClaimView): boolean => {
  const name = claim.spec.storageClassName;
  const found = name ? kube.read(resources.storageclasses, { name }) : undefined;
  return found !== undefined && asStorageClass(found).volumeBindingMode === 'WaitForFirstConsumer';
};

export const volumeAsk = (kube: WorldKube, pod: PodView): VolumeAsk => {
  const names = claimsOf(pod);
  if (names.length === 0) return nothing;
  const namespace = pod.metadata.namespace ?? '';
  const delayed: ClaimView[] = [];
  const volumes: VolumeView[] = [];
  for (const name of names) {
    const object = kube.read(resources.persistentvolumeclaims, { namespace, name });
    if (object === undefined) {
      return { ...nothing, refusal: `persistentvolumeclaim "${name}" not found` };
    }
    const claim = asClaim(object);
    if (isTerminating(claim)) {
      return { ...nothing, refusal: `persistentvolumeclaim "${name}" is being deleted` };
    }
    if (claim.status?.phase === 'Lost') {
      const volume = claim.spec.volumeName ?? '';
      const refusal =
        `persistentvolumeclaim "${name}" bound to non-existent ` + `persistentvolume "${volume}"`;
      return { ...nothing, refusal };
    }
    const volume =
      claim.status?.phase === 'Bound'
        ? kube.read(resources.persistentvolumes, { name: claim.spec.volumeName ?? '' })
        : undefined;
    if (volume !== undefined) volumes.push(asVolume(volume));
    else if (isDelayed(kube, claim)) delayed.push(claim);
    else return { ...nothing, refusal: 'pod has unbound immediate PersistentVolumeClaims' };
  }
  const selected = delayed
    .map((claim) => claim.metadata.annotations?.[selectedNodeAnnotation])
    .find((node) => node !== undefined);
  return { refusal: undefined, delayed, selected, volumes };
};

export const volumeRefusal = (
  kube: WorldKube,
  ask: VolumeAsk,
  node: NodeInfo,
): Refusal | undefined => {
  if (ask === nothing) return undefined;
  const attachable = ask.volumes.filter((volume) => attacherOf(volume) !== undefined);
  if (attachable.length + ask.delayed.length > 0) {
    const names = new Set(attachable.map((volume) => volume.metadata.name));
    const held = volumesOn(kube, node.name);
    const more = [...names].filter((name) => !held.has(name)).length + ask.delayed.length;
    if (held.size + more > attachLimit(node)) {
      return { reasons: ['node(s) exceed max volume count'], stuck: false };
    }
  }
  for (const { spec } of ask.volumes) {
    const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms !== undefined && !nodeTermsMatch(terms, node)) {
      return stuck('node(s) had volume node affinity conflict');
    }
  }
  if (ask.selected !== undefined && ask.selected !== node.name) {
    return stuck("node(s) didn't match the node selected for the pod's volumes");
  }
  return undefined;
};

const attachLimit = (node: NodeInfo): number => {
  const type = node.labels['node.kubernetes.io/instance-type'] ?? '';
  return xenFamilies.test(type) ? xenLimit : nitroLimit;
};

/** Names of the attachable volumes used by the node's pods. */
const volumesOn = (kube: WorldKube, node: string): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const object of kube.podsOnNode(node)) {
    const pod = asPod(object);
    if (isFinished(pod)) continue;
    const namespace = pod.metadata.namespace ?? '';
    for (const name of claimsOf(pod)) {
      const claim = kube.read(resources.persistentvolumeclaims, { namespace, name });
      if (claim !== undefined) names.add(asClaim(claim).spec.volumeName || keyOf(claim));
    }
  }
  return names;
};
