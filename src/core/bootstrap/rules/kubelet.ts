// Rules on the kubelet's configuration, flags, labels, taints and numbers of pods; and on aws-auth,
// which authorizes it.
import type { Rule } from '../rule.ts';
import {
  accessEntry,
  awsAuth,
  bootstrapCall,
  config,
  flags,
  nodeConfig,
  nodeRole,
} from './samples.ts';

const exits = 'The kubelet exits at once and systemd starts it again, for ever: no node appears.';
const nobody = 'The node is not let in ("Unauthorized"): it never registers.';

export const kubeletRules: readonly Rule[] = [
  {
    id: 'KC001',
    title: 'A field that KubeletConfiguration does not have',
    severity: 'error',
    consequence: 'The kubelet passes over it without a word: what was meant is not in force.',
    fix: 'Spell the field as the kubelet of that version has it; the nearest one is named.',
    source: 'kubelet config v1beta1 of 1.21 to 1.37; the kubelet reads drop-ins leniently',
    bad: { text: config('maxPod: 20') },
    good: { text: config('maxPods: 20') },
  },
  {
    id: 'KC002',
    title: 'A feature gate that this version does not know',
    severity: 'error',
    consequence: `"unrecognized feature gate". ${exits}`,
    fix: 'Take it out: a gate that is gone is on, or off, for good.',
    source: 'Kubernetes reference, removed feature gates; article 003',
    bad: { text: config('featureGates:', '  DisableKubeletCloudCredentialProviders: true') },
    good: {
      text: config('featureGates:', '  DisableKubeletCloudCredentialProviders: true'),
      options: { kubernetesVersion: '1.32' },
    },
  },
  {
    id: 'KC003',
    title: 'reservedSystemCPUs beside reserved cgroups',
    severity: 'error',
    consequence: `The kubelet refuses the two together. ${exits}`,
    fix: 'Set kubeReservedCgroup and systemReservedCgroup to "".',
    source: 'kubelet validation; amazon-eks-ami, case kubelet-config-set-empty',
    bad: { text: config('reservedSystemCPUs: "0"') },
    good: {
      text: config('reservedSystemCPUs: "0"', 'kubeReservedCgroup: ""', 'systemReservedCgroup: ""'),
    },
  },
  {
    id: 'KC004',
    title: 'A field of another type',
    severity: 'error',
    consequence: `The drop-in does not decode. ${exits}`,
    fix: 'Write the type that is named.',
    source: 'kubelet config v1beta1',
    bad: { text: config('maxPods: "20"') },
    good: { text: config('maxPods: 20') },
  },
  {
    id: 'FL001',
    title: 'Quotes in a flag, for an image that may be older than 2024-07-15',
    severity: 'warning',
    consequence:
      'systemd removes the quotes and the kubelet gets the value without them. nodeadm of ' +
      'images before ' +
      '2024-07-15 wrote all arguments in quotes of its own: there two quoted flags become ' +
      'one word.',
    fix: 'Leave the quotes out, or use a newer image.',
    source: 'systemd.service(5); awslabs/amazon-eks-ami#1880; aws/karpenter-provider-aws#6456',
    bad: { text: flags('--node-labels="team=red"'), options: { kubernetesVersion: '1.30' } },
    good: { text: flags('--node-labels="team=red"') },
  },
  {
    id: 'FL002',
    title: 'A flag that was removed',
    severity: 'error',
    consequence: `"unknown flag". ${exits}`,
    fix: 'Do what is named instead.',
    source: 'Kubernetes release notes',
    bad: { text: flags('--container-runtime=remote') },
    good: { text: flags('--v=2') },
  },
  {
    id: 'FL003',
    title: 'A value that its flag does not take',
    severity: 'error',
    consequence: `"invalid argument". ${exits}`,
    fix: 'Write the type that is named.',
    source: 'article 003; kubelet reference',
    bad: { text: bootstrapCall("--kubelet-extra-args '--max-pods=my-max-pods-value'") },
    good: { text: bootstrapCall("--kubelet-extra-args '--max-pods=20'") },
  },
  {
    id: 'FL004',
    title: 'A flag that the kubelet does not have',
    severity: 'error',
    consequence: `"unknown flag". ${exits}`,
    fix: 'Spell the flag as the kubelet has it; the nearest one is named.',
    source: 'kubelet reference',
    bad: { text: flags('--node-label=team=red') },
    good: { text: flags('--node-labels=team=red') },
  },
  {
    id: 'FL005',
    title: 'A word that belongs to no flag',
    severity: 'error',
    consequence: `"unknown command". ${exits}`,
    fix: 'Leave no blanks within a value; write --flag=value.',
    source: 'kubelet reference',
    bad: { text: flags('--node-labels=team=red, tier=web') },
    good: { text: flags('--node-labels=team=red,tier=web') },
  },
  {
    id: 'LB001',
    title: 'A label that a kubelet may not set of itself',
    severity: 'error',
    consequence: `"unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels". ${exits}`,
    fix: 'Give it to the node group: Drover sets it once the node is there.',
    source: 'kubernetes, well_known_labels.go; derailed/k9s#1240',
    bad: { text: flags('--node-labels=node-role.kubernetes.io/worker=') },
    good: { text: flags('--node-labels=node.kubernetes.io/worker=') },
  },
  {
    id: 'LB002',
    title: 'A label that no object can have',
    severity: 'error',
    consequence: `The kubelet refuses it, or the API server the node. ${exits}`,
    fix:
      'Up to 63 letters, digits, - _ . between letters or digits; an optional DNS name and / ' +
      'before.',
    source: 'Kubernetes, labels and selectors',
    bad: { text: flags('--node-labels=team=-red') },
    good: { text: flags('--node-labels=team=red') },
  },
  {
    id: 'LB003',
    title: 'One label with two values, or with one that EKS sets',
    severity: 'warning',
    consequence:
      'The later value wins without a word. A node without EKS’ own is not its group’s: ' +
      'NodeCreationFailure.',
    fix: 'Write each label once, and leave eks.amazonaws.com/ to EKS.',
    source: 'kubelet, --node-labels; terraform-aws-modules/terraform-aws-eks#997',
    bad: { text: flags('--node-labels=team=red', '--node-labels=team=blue') },
    good: { text: flags('--node-labels=team=red', '--node-labels=tier=web') },
  },
  {
    id: 'TN001',
    title: 'A taint that is none',
    severity: 'error',
    consequence: `"invalid taint spec". ${exits}`,
    fix: 'Write key=value:Effect with NoSchedule, PreferNoSchedule or NoExecute.',
    source: 'article 003',
    bad: { text: bootstrapCall("--kubelet-extra-args '--register-with-taints=taint1=true'") },
    good: {
      text: bootstrapCall("--kubelet-extra-args '--register-with-taints=taint1=true:NoSchedule'"),
    },
  },
  {
    id: 'MP001',
    title: 'More pods than the instance type has addresses for',
    severity: 'warning',
    consequence:
      'Pods beyond the number stay in ContainerCreating: "failed to assign an IP address".',
    fix:
      'Lower the maximum, or enable prefix delegation in the VPC CNI (and say ' +
      '--prefix-delegation).',
    source: 'VPC CNI, eni-max-pods; awslabs/amazon-eks-ami#1419',
    bad: { text: config('maxPods: 110'), options: { instanceType: 'm5.large' } },
    good: { text: config('maxPods: 29'), options: { instanceType: 'm5.large' } },
  },
  {
    id: 'MP002',
    title: 'Memory is reserved for another number of pods than may run',
    severity: 'warning',
    consequence:
      'nodeadm and bootstrap.sh compute kubeReserved from their own number, never from the ' +
      'one in force: ' +
      'a full node runs out of memory before the kubelet evicts.',
    fix:
      'Set kubeReserved.memory to 11 Mi for each pod and 255 Mi beside, or use ' +
      'maxPodsExpression.',
    source: 'awslabs/amazon-eks-ami#1698, #782',
    bad: {
      text: config('maxPods: 110'),
      options: { instanceType: 'm5.large', isPrefixDelegation: true },
    },
    good: {
      text: config('maxPods: 110', 'kubeReserved:', '  memory: 1465Mi'),
      options: { instanceType: 'm5.large', isPrefixDelegation: true },
    },
  },
  {
    id: 'MP003',
    title: 'A maxPodsExpression that gives no number of pods',
    severity: 'warning',
    consequence: 'nodeadm logs a warning and takes the formula’s number.',
    fix: 'Use default_enis, ips_per_eni and max_pods; the result is a whole number from 1.',
    source: 'amazon-eks-ami, nodeadm/internal/kubelet/eni_max_pods.go',
    bad: { text: nodeConfig('  kubelet:', '    maxPodsExpression: max_pod + 2') },
    good: { text: nodeConfig('  kubelet:', '    maxPodsExpression: max_pods + 2') },
  },
  {
    id: 'AUTH001',
    title: 'A role with a path',
    severity: 'error',
    consequence: `The ARN of the node’s session never has the path: the entry never matches. ${nobody}`,
    fix: 'Write arn:aws:iam::ACCOUNT:role/NAME.',
    source: 'kubernetes-sigs/aws-iam-authenticator#268',
    bad: { text: awsAuth(...nodeRole('arn:aws:iam::111122223333:role/eks/nodes')) },
    good: { text: awsAuth(...nodeRole()) },
  },
  {
    id: 'AUTH002',
    title: 'A role that is mapped twice',
    severity: 'error',
    consequence:
      'The last entry wins: nodes get another name or other groups than the first one says.',
    fix: 'Keep one entry for each role, with all groups.',
    source: 'awslabs/amazon-eks-ami#610',
    bad: { text: awsAuth(...nodeRole(), ...nodeRole(undefined, 'test')) },
    good: { text: awsAuth(...nodeRole()) },
  },
  {
    id: 'AUTH003',
    title: 'The name of the nodes is not filled in',
    severity: 'error',
    consequence:
      'Every node has the same name, or none that the node authorizer knows: it never registers.',
    fix: 'Write username: system:node:{{EC2PrivateDNSName}}.',
    source: 'article 003 (a template engine ate the braces)',
    bad: { text: awsAuth(...nodeRole(undefined, '"system:node:"')) },
    good: { text: awsAuth(...nodeRole()) },
  },
  {
    id: 'AUTH004',
    title: 'The role of Windows nodes without the group eks:kube-proxy-windows',
    severity: 'error',
    consequence: 'kube-proxy of the node may not read services: pods resolve no names.',
    fix: 'Add eks:kube-proxy-windows to the groups of the entry; no Linux nodes with that role.',
    source: 'article 003; aws/containers-roadmap#1977',
    bad: {
      text: awsAuth(...nodeRole()),
      options: { windowsRoles: ['arn:aws:iam::111122223333:role/nodes'] },
    },
    good: {
      text: awsAuth(...nodeRole().toSpliced(3, 0, '  - eks:kube-proxy-windows')),
      options: { windowsRoles: ['arn:aws:iam::111122223333:role/nodes'] },
    },
  },
  {
    id: 'AE001',
    title: 'An access entry whose role was made anew',
    severity: 'error',
    consequence: 'The entry means the role that is gone: nodes with the new one are Unauthorized.',
    fix: 'Delete the access entry and create it again.',
    source: 'terraform-aws-modules/terraform-aws-eks#3329',
    bad: { text: accessEntry('2026-01-02T00:00:00Z') },
    good: { text: accessEntry('2025-12-31T00:00:00Z') },
  },
  {
    id: 'AUTH005',
    title: 'An instance profile in place of a role',
    severity: 'error',
    consequence: nobody,
    fix: 'Write the ARN of the role that the profile holds: arn:aws:iam::ACCOUNT:role/NAME.',
    source: 'EKS user guide, troubleshooting',
    bad: { text: awsAuth(...nodeRole('arn:aws:iam::111122223333:instance-profile/nodes')) },
    good: { text: awsAuth(...nodeRole()) },
  },
  {
    id: 'AUTH006',
    title: 'A map that cannot be read, or an entry that is dropped',
    severity: 'error',
    consequence: `A YAML error loses the whole map, a field of another type its entry. ${nobody}`,
    fix: 'mapRoles is a text that holds a YAML list of {rolearn, username, groups: [...]}.',
    source: 'aws-iam-authenticator, pkg/mapper/configmap',
    bad: {
      text: awsAuth(
        '- rolearn: arn:aws:iam::111122223333:role/nodes',
        '  username: a',
        '  groups: system:nodes',
      ),
    },
    good: { text: awsAuth(...nodeRole()) },
  },
];
