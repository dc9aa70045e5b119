// Ends open surges, for the controller and for `drover uninstall`, to which main passes it. Decides
// nothing: the steps come from core/drain/surge.ts.
import type { EpochMs } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { type Deployment, type Pod, resourceTypes } from '../../api/kube.ts';
import { type SurgeStep, surgeLabel, swappedLabel } from '../../api/surge.ts';
import { deploymentsOf, keyOfObject, surgeEndsOf } from '../../core/drain/index.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';

interface Options {
  readonly signal?: AbortSignal;
}

type Reading = Pick<KubeApi, 'get' | 'list'>;

/** Pods whose deletion cost Drover has set: in the namespace, or in the cluster. */
export const swappedPods = async (
  kube: Reading,
  namespace?: string,
  options: Options = {},
): Promise<readonly Pod[]> => {
  const where = { ...defined({ namespace }), labelSelector: swappedLabel, ...options };
  return (await kube.list<Pod>(resourceTypes.pods, where)).items;
};

/** Deployments that ask for surges, whether or not one is open. */
const surgingDeployments = async (
  kube: Reading,
  options: Options = {},
): Promise<readonly Deployment[]> => {
  const where = { labelSelector: `${surgeLabel}=true`, ...options };
  return (await kube.list<Deployment>(resourceTypes.deployments, where)).items;
};

/**
 * False if a `test` operation of the patch fails, because another client has changed the object;
 * the next decision takes that into account. Throws KubeError.
 */
export const writeSurgeStep = async (
  kube: Pick<KubeApi, 'patch'>,
  { metadata }: Deployment,
  step: SurgeStep,
  options: Options = {},
): Promise<boolean> => {
  const isPod = 'pod' in step;
  const { name, namespace } = isPod ? step.pod.metadata : metadata;
  const type = isPod ? resourceTypes.pods : resourceTypes.deployments;
  const at = { name, ...defined({ namespace }) };
  try {
    await kube.patch(type, at, { type: 'json', body: [...step.body] }, options);
    return true;
  } catch (error) {
    const isRefused =
      error instanceof KubeError && (error.code === 'Invalid' || error.code === 'Conflict');
    if (isRefused) return false;
    throw error;
  }
};

interface EndSurgesOptions extends Options {
  /** Default: `writeSurgeStep`. */
  readonly write?: (deployment: Deployment, step: SurgeStep) => Promise<boolean>;
  /** Whether to leave this surge open and go on; default: throw the error. */
  readonly leaves?: (deployment: Deployment, error: unknown) => boolean;
}

/**
 * Ends every open surge once, including those of Deployments that have lost the label since. Makes
 * O(1) list calls. False if a write was refused because its object had changed: call again. Throws
 * KubeError.
 */
export const endSurges = async (
  kube: KubeApi,
  now: EpochMs,
  { write, leaves = () => false, ...options }: EndSurgesOptions = {},
): Promise<boolean> => {
  const pods = await swappedPods(kube, undefined, options);
  const deployments = [...(await surgingDeployments(kube, options))];
  const known = new Set(deployments.map(keyOfObject));
  for (const at of deploymentsOf(pods)) {
    if (known.has(keyOfObject({ metadata: at }))) continue;
    const found = await kube.get<Deployment>(resourceTypes.deployments, at, options);
    if (found.kind === 'found') deployments.push(found.object);
  }
  let isDone = true;
  for (const { deployment, steps } of surgeEndsOf(now)(deployments, pods)) {
    try {
      for (const step of steps) {
        const isWritten = await (write === undefined
          ? writeSurgeStep(kube, deployment, step, options)
          : write(deployment, step));
        if (isWritten) continue;
        // Does not scale this Deployment back: the ReplicaSet would first delete the pod whose
        // deletion cost was not reset.
        isDone = false;
        break;
      }
    } catch (error) {
      if (!leaves(deployment, error)) throw error;
    }
  }
  return isDone;
};
