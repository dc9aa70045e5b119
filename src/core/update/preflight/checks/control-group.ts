// Components that the update itself depends on: the cluster's DNS, metrics, Drover's own
// controller. If all ready pods of one run on one node, draining that node interrupts the
// component.
import { isReady } from '../../../../api/conditions.ts';
import type { Check, Found, Severity } from '../finding.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerObject, whenDrained } from './parts.ts';

interface Component {
  readonly label: string;
  readonly values: readonly string[];
  readonly what: string;
  readonly severity: Severity;
}

const components: readonly Component[] = [
  { label: 'k8s-app', values: ['kube-dns'], what: 'names do not resolve', severity: 'blocker' },
  {
    label: 'app.kubernetes.io/name',
    values: ['drover', 'drover-controller'],
    what: 'the update itself stops',
    severity: 'blocker',
  },
  {
    label: 'app.kubernetes.io/name',
    values: ['aws-load-balancer-controller', 'aws-ebs-csi-driver', 'cert-manager', 'karpenter'],
    what: 'load balancers, volumes or certificates are not served',
    severity: 'warning',
  },
  {
    label: 'k8s-app',
    values: ['metrics-server'],
    what: 'there are no metrics',
    severity: 'warning',
  },
];

const componentOf = ({ pod, owner }: MovedPod): Component | undefined =>
  owner === undefined
    ? undefined
    : components.find(({ label, values }) => values.includes(pod.metadata.labels?.[label] ?? ''));

const judge = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const [first] = pods;
  const component = first === undefined ? undefined : componentOf(first);
  if (first === undefined || component === undefined) return [];
  const { label, severity, what } = component;
  const value = first.pod.metadata.labels?.[label];
  const all = view.snapshot.pods.filter(
    (pod) =>
      pod.metadata.namespace === first.pod.metadata.namespace &&
      pod.metadata.labels?.[label] === value &&
      isReady(pod),
  );
  const nodes = new Set(all.map(({ spec }) => spec.nodeName));
  const uids = new Set(pods.map(({ pod }) => pod.metadata.uid));
  const stays = all.some(({ metadata }) => !uids.has(metadata.uid));
  if (stays || nodes.size > 1) return [];
  const isAlone = all.length < 2;
  const object = ownerObject(pods);
  return [
    {
      // Both pods on one node are evicted together. One pod suffices while the other restarts
      // within its budget.
      severity: isAlone ? severity : 'warning',
      object,
      evidence: { ready: all.length, nodes: [...nodes].join(' ') },
      consequence: whenDrained(view, pods, `while it moves ${what}`),
      remedy: isAlone
        ? `${kubectl(object.name)} scale ` +
          `${object.kind.toLowerCase()}/${first.owner?.name ?? ''} --replicas=2`
        : `${kubectl(object.name)} rollout restart ` +
          `${object.kind.toLowerCase()}/${first.owner?.name ?? ''}   # spreads them again`,
    },
  ];
};

export const controlGroup: Check = {
  name: 'control-group',
  title: 'A component that the update needs runs on one node only',
  needs: ['nodes', 'pods'],
  run: (view) => byOwner(view.moved).flatMap((pods) => judge(view, pods)),
};
