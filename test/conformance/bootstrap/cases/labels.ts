// Labels and taints in a kubelet's flags: those that a kubelet may set on its own node, and those
// with which it exits.
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly flag: 'node-labels' | 'register-with-taints';
  readonly value: string;
}

const label = (key: string, ...rules: readonly string[]): Case<Given, readonly string[]> => ({
  name: `${key.length > 70 ? `a key of ${key.length} characters` : key}: ${rules.join() || 'may be set'}`,
  given: { flag: 'node-labels', value: `${key}=x` },
  expected: rules,
});
const value = (text: string, ...rules: readonly string[]): Case<Given, readonly string[]> => ({
  name: `the value ${text.length > 60 ? `of ${text.length} characters` : JSON.stringify(text)}: ${rules.join() || 'is one'}`,
  given: { flag: 'node-labels', value: `team=${text}` },
  expected: rules,
});
const taint = (text: string, ...rules: readonly string[]): Case<Given, readonly string[]> => ({
  name: `the taint ${JSON.stringify(text)}: ${rules.join() || 'is one'}`,
  given: { flag: 'register-with-taints', value: text },
  expected: rules,
});

export const labels: Topic<Given, readonly string[]> = {
  topic: 'Labels and taints',
  upstream:
    'kubernetes: kubelet/pkg/apis/well_known_labels.go, apimachinery/pkg/util/validation, ' +
    'pkg/util/taints',
  behaviour:
    'In kubernetes.io and k8s.io a kubelet may set kubelet.kubernetes.io/, node.kubernetes.io/, what is ' +
    'below them, and eleven names; it exits at any other, at names that are none and at a taint without effect',
  differences: [
    'what a kubelet may not set is left to the group’s controller in user data that Drover writes',
  ],
  cases: [
    label('team'),
    label('example.com/team'),
    label('eks.amazonaws.com/nodegroup'),
    label('kubernetes.io/hostname'),
    label('kubernetes.io/arch'),
    label('kubernetes.io/os'),
    label('beta.kubernetes.io/arch'),
    label('beta.kubernetes.io/os'),
    label('beta.kubernetes.io/instance-type'),
    label('node.kubernetes.io/instance-type'),
    label('topology.kubernetes.io/zone'),
    label('topology.kubernetes.io/region'),
    label('failure-domain.beta.kubernetes.io/zone'),
    label('failure-domain.beta.kubernetes.io/region'),
    label('node.kubernetes.io/anything'),
    label('kubelet.kubernetes.io/anything'),
    label('a.node.kubernetes.io/below'),
    label('a.b.kubelet.kubernetes.io/below'),
    label('notkubernetes.io/a'),
    label('kubernetes.io.example.com/a'),
    label('node-role.kubernetes.io/worker', 'LB001'),
    label('node-restriction.kubernetes.io/a', 'LB001'),
    label('kubernetes.io/role', 'LB001'),
    label('k8s.io/a', 'LB001'),
    label('example.k8s.io/a', 'LB001'),
    label('xnode.kubernetes.io/a', 'LB001'),
    label('topology.kubernetes.io/rack', 'LB001'),
    label('beta.kubernetes.io/zone', 'LB001'),
    label('a'.repeat(63)),
    label('a'.repeat(64), 'LB002'),
    label(
      `${'a'.repeat(49)}.${'b'.repeat(49)}.${'c'.repeat(49)}.${'d'.repeat(49)}.${'e'.repeat(53)}/n`,
    ),
    label(
      `${'a'.repeat(49)}.${'b'.repeat(49)}.${'c'.repeat(49)}.${'d'.repeat(49)}.${'e'.repeat(54)}/n`,
      'LB002',
    ),
    label('-a', 'LB002'),
    label('a-', 'LB002'),
    label('a_b.c-d'),
    label('Example.com/a', 'LB002'),
    label('example_com/a', 'LB002'),
    label('a/b/c', 'LB002'),
    label('/a', 'LB002'),
    value(''),
    value('v'.repeat(63)),
    value('v'.repeat(64), 'LB002'),
    value('a_b.c-D9'),
    value('.a', 'LB002'),
    value('a.', 'LB002'),
    value('a/b', 'LB002'),
    value('a:b', 'LB002'),
    taint('dedicated=gpu:NoSchedule'),
    taint('dedicated=gpu:PreferNoSchedule'),
    taint('dedicated=gpu:NoExecute'),
    taint('dedicated:NoSchedule'),
    taint('dedicated=:NoSchedule'),
    taint('a=b:NoSchedule,a=b:NoExecute'),
    taint(''),
    taint('taint1=true', 'TN001'),
    taint('dedicated=gpu:noschedule', 'TN001'),
    taint('dedicated=gpu:', 'TN001'),
    taint('dedicated=gpu:NoSchedule:NoExecute', 'TN001'),
    taint('dedicated=g/pu:NoSchedule', 'TN001'),
    taint('-a=b:NoSchedule', 'TN001'),
  ],
};
