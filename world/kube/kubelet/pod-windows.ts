// Addresses of pods on Windows nodes: the VPC resource controller assigns them to pods that its
// webhook marked at creation. Unless ConfigMap amazon-vpc-cni enables it, the webhook marks none
// (EKS user guide, "windows-support"; aws/amazon-vpc-resource-controller-k8s,
// docs/troubleshooting.md). Pure apart from the read.
import type { KubeObject } from '../../../src/api/kube.ts';
import type { WorldKube } from '../../contracts.ts';
import { type PodView, resources } from '../actors/index.ts';
import type { NodeRelease } from './machine-facts.ts';

const where = { namespace: 'kube-system', name: 'amazon-vpc-cni' } as const;
const systemLabels = ['kubernetes.io/os', 'beta.kubernetes.io/os'] as const;

const isSwitchedOn = (kube: WorldKube): boolean => {
  const found: (KubeObject & { readonly data?: unknown }) | undefined = kube.read(
    resources.configmaps,
    where,
  );
  const data = found?.data;
  return (
    typeof data === 'object' &&
    data !== null &&
    'enable-windows-ipam' in data &&
    data['enable-windows-ipam'] === 'true'
  );
};

/** The webhook decides by the pod's spec, not by its node. */
const asksForWindows = ({ spec: { nodeSelector, affinity } }: PodView): boolean => {
  if (systemLabels.some((label) => nodeSelector?.[label] === 'windows')) return true;
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.some(({ matchExpressions = [] }) =>
    matchExpressions.some(
      ({ key, operator, values = [] }) =>
        operator === 'In' &&
        values.includes('windows') &&
        systemLabels.some((label) => label === key),
    ),
  );
};

/** Whether a pod that is new to its node will never get an address there. */
export const lacksWindowsAddress = (
  kube: WorldKube,
  { operatingSystem }: NodeRelease,
  pod: PodView,
): boolean =>
  operatingSystem === 'windows' &&
  pod.spec.hostNetwork !== true &&
  !(asksForWindows(pod) && isSwitchedOn(kube));
