// Conditions in the status of a Kubernetes object. Decides nothing.
import type { Condition } from './kube.ts';

interface Conditioned {
  readonly status?: { readonly conditions?: readonly Pick<Condition, 'type' | 'status'>[] };
}

const readyIs = ({ status }: Conditioned, value: Condition['status']): boolean =>
  (status?.conditions ?? []).some((one) => one.type === 'Ready' && one.status === value);

/** For a node or a pod. */
export const isReady = (object: Conditioned): boolean => readyIs(object, 'True');

/** The control plane sets this for a silent kubelet; a running one writes `False`. */
export const isSilent = (node: Conditioned): boolean => readyIs(node, 'Unknown');
