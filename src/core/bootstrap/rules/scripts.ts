// Rules on shell scripts, Windows' PowerShell and cloud-init with kubeadm.
import type { Rule } from '../rule.ts';
import {
  bootstrapCall,
  joinConfiguration,
  kubeadm,
  lines,
  mime,
  nodeConfig,
  part,
  powershell,
  shell,
} from './samples.ts';

const shellType = 'text/x-shellscript';
const noKubelet = 'No kubelet is started: the instance runs and no node appears.';
const al2 = { family: 'al2' } as const;
const plain = { family: 'cloud-init' } as const;

export const scriptRules: readonly Rule[] = [
  {
    id: 'SH001',
    title: 'A script without #! in its first line',
    severity: 'error',
    consequence:
      'cloud-init hands the part to the kernel, which answers "Exec format error". ' +
      `${noKubelet}`,
    fix: 'Begin the body of the part with #!/bin/bash.',
    source: 'article 003; the golden files of terraform-aws-eks',
    bad: { text: mime(part(shellType, lines('set -ex', '/etc/eks/bootstrap.sh my-cluster'))) },
    good: { text: mime(part(shellType, bootstrapCall())) },
  },
  {
    id: 'SH002',
    title: '/etc/eks/bootstrap.sh on Amazon Linux 2023',
    severity: 'error',
    consequence:
      'The image has no such file: the script ends there, and nodeadm does not read the script.',
    fix: 'Set it in a NodeConfig part.',
    source: 'EKS user guide, AL2023; amazon-eks-ami',
    bad: {
      text: mime(part('application/node.eks.aws', nodeConfig()), part(shellType, bootstrapCall())),
    },
    good: {
      text: mime(part('application/node.eks.aws', nodeConfig()), part(shellType, shell('true'))),
    },
  },
  {
    id: 'SH003',
    title: 'A second bootstrap in a managed group',
    severity: 'error',
    consequence:
      'EKS calls its own afterwards; the first call registers the node without EKS’ labels, ' +
      'and the ' +
      'group ends in NodeCreationFailure although kubectl shows the node.',
    fix: 'Remove the call, or name an image in the launch template: then EKS adds nothing.',
    source: 'awslabs/amazon-eks-ami#719; EKS user guide, launch templates',
    bad: { text: bootstrapCall(), options: { launchedBy: 'managed' } },
    good: { text: shell('yum install -y htop'), options: { ...al2, launchedBy: 'managed' } },
  },
  {
    id: 'SH004',
    title: 'bootstrap.sh without a cluster name',
    severity: 'error',
    consequence: `The script ends with "cluster name is not defined!". ${noKubelet}`,
    fix: 'Give the name of the cluster as the only word without dashes.',
    source: 'amazon-eks-ami, bootstrap.sh',
    bad: { text: shell('/etc/eks/bootstrap.sh --use-max-pods false') },
    good: { text: bootstrapCall('--use-max-pods false') },
  },
  {
    id: 'SH005',
    title: 'An option that bootstrap.sh does not know, before the cluster’s name',
    severity: 'error',
    consequence: 'The script takes it for the name of the cluster, and finds no such cluster.',
    fix: 'Write `--option value` with a space, in the script’s spelling.',
    source: 'amazon-eks-ami, bootstrap.sh; Karpenter, eksbootstrap.go',
    bad: { text: shell('/etc/eks/bootstrap.sh --use-max-pods=false my-cluster') },
    good: { text: shell('/etc/eks/bootstrap.sh --use-max-pods false my-cluster') },
  },
  {
    id: 'SH011',
    title: 'An option that bootstrap.sh does not know, after the cluster’s name',
    severity: 'warning',
    consequence: 'The script ignores it: the node joins, but the intended setting has no effect.',
    fix: 'Write `--option value` with a space; flags of the kubelet belong in --kubelet-extra-args.',
    source: 'amazon-eks-ami, bootstrap.sh',
    bad: { text: bootstrapCall('--max-pods=110') },
    good: { text: bootstrapCall("--kubelet-extra-args '--max-pods=110'") },
  },
  {
    id: 'SH006',
    title: 'A script with a syntax error',
    severity: 'error',
    consequence: `At best the shell runs the lines before it. ${noKubelet}`,
    fix: 'Close the quote, the bracket or the here-document.',
    source: 'POSIX shell, 2.2',
    bad: { text: bootstrapCall("--kubelet-extra-args '--max-pods=20") },
    good: { text: bootstrapCall("--kubelet-extra-args '--max-pods=20'") },
  },
  {
    id: 'SH007',
    title: 'Nothing starts the kubelet',
    severity: 'error',
    consequence: noKubelet,
    fix: 'Call /etc/eks/bootstrap.sh with the name of the cluster.',
    source: 'EKS user guide, launch templates with a custom AMI',
    bad: { text: shell('yum install -y htop'), options: { ...al2, launchedBy: 'own-image' } },
    good: { text: bootstrapCall(), options: { launchedBy: 'own-image' } },
  },
  {
    id: 'SH008',
    title: '--dns-cluster-ip or the service CIDR is invalid',
    severity: 'error',
    consequence: 'Pods resolve no name; the kubelet ends with an invalid clusterDNS.',
    fix: 'Give the address of the cluster’s DNS service, usually the tenth of the service CIDR.',
    source: 'article 003',
    bad: { text: bootstrapCall('--dns-cluster-ip service-cidr.10') },
    good: { text: bootstrapCall('--dns-cluster-ip 10.100.0.10') },
  },
  {
    id: 'SH009',
    title: 'Options of bootstrap.sh that contradict each other',
    severity: 'error',
    consequence: `The script ends with the quoted message. ${noKubelet}`,
    fix: 'Do what the finding says.',
    source: 'amazon-eks-ami, bootstrap.sh',
    bad: { text: bootstrapCall('--ip-family ipv6') },
    good: { text: bootstrapCall('--ip-family ipv6 --service-ipv6-cidr fd00:10::/108') },
  },
  {
    id: 'SH010',
    title: 'The metadata service is called without a token',
    severity: 'warning',
    consequence:
      'If the launch template requires IMDSv2, the answer is 401 and the variable is empty.',
    fix: 'Get a token first (PUT /latest/api/token) and send it as X-aws-ec2-metadata-token.',
    source: 'EC2 user guide, IMDSv2; article 003',
    bad: {
      text: shell(
        'ID=$(curl -s http://169.254.169.254/latest/meta-data/instance-id)',
        '/etc/eks/bootstrap.sh my-cluster',
      ),
    },
    good: { text: shell('ID=$(imds instance-id)', '/etc/eks/bootstrap.sh my-cluster') },
  },
  {
    id: 'WIN001',
    title: 'A value with spaces and without quotes',
    severity: 'error',
    consequence:
      'PowerShell treats its second word as another argument: flags after the first are lost.',
    fix: 'Put the whole value into double quotes.',
    source: 'the golden files of terraform-aws-eks',
    bad: { text: powershell('-KubeletExtraArgs --node-labels=a=b --max-pods=20') },
    good: { text: powershell('-KubeletExtraArgs "--node-labels=a=b --max-pods=20"') },
  },
  {
    id: 'WIN002',
    title: 'No -ServiceCIDR',
    severity: 'warning',
    consequence:
      'The script queries EKS for it; with a custom CIDR and without permission to query, pods resolve no names.',
    fix: 'Give -ServiceCIDR, or -DNSClusterIP.',
    source: 'EKS user guide, Windows nodes',
    bad: {
      text: powershell('-APIServerEndpoint "https://example.com"', '-Base64ClusterCA $CA'),
      options: { launchedBy: 'own-image' },
    },
    good: {
      text: powershell('-ServiceCIDR "10.100.0.0/16"'),
      options: { launchedBy: 'own-image' },
    },
  },
  {
    id: 'WIN003',
    title: 'No <powershell> tag, or one that PowerShell cannot read',
    severity: 'error',
    consequence: `EC2Launch runs nothing. ${noKubelet}`,
    fix: 'Put the commands between <powershell> and </powershell>.',
    source: 'EC2 user guide, Windows user data',
    bad: { text: powershell().replace('</powershell>\n', '') },
    good: { text: powershell() },
  },
  {
    id: 'WIN004',
    title: 'Nothing calls Start-EKSBootstrap.ps1',
    severity: 'error',
    consequence: noKubelet,
    fix: 'Call EKS’ script with -EKSClusterName.',
    source: 'EKS user guide, Windows nodes',
    bad: {
      text: lines('<powershell>', 'Write-Host hello', '</powershell>'),
      options: { launchedBy: 'own-image' },
    },
    good: { text: powershell(), options: { launchedBy: 'own-image' } },
  },
  {
    id: 'WIN005',
    title: 'Windows addresses are not enabled in the cluster',
    severity: 'error',
    consequence:
      'Pods stay in ContainerCreating: "pod does not have label ' +
      'vpc.amazonaws.com/PrivateIPv4Address".',
    fix: 'Set enable-windows-ipam: "true", a text, in the ConfigMap kube-system/amazon-vpc-cni.',
    source: 'article 003; aws/containers-roadmap#463',
    bad: {
      text: lines(
        'apiVersion: v1',
        'kind: ConfigMap',
        'metadata:',
        '  name: amazon-vpc-cni',
        '  namespace: kube-system',
        'data:',
        '  enable-windows-ipam: true',
      ),
    },
    good: {
      text: lines(
        'apiVersion: v1',
        'kind: ConfigMap',
        'metadata:',
        '  name: amazon-vpc-cni',
        '  namespace: kube-system',
        'data:',
        '  enable-windows-ipam: "true"',
      ),
    },
  },
  {
    id: 'WIN006',
    title: 'Parameters of Start-EKSBootstrap.ps1 are missing or invalid',
    severity: 'error',
    consequence: `The script ends. ${noKubelet}`,
    fix: 'Set -EKSClusterName; set -APIServerEndpoint and -Base64ClusterCA both or neither.',
    source: 'EKS user guide, Windows nodes',
    bad: { text: powershell('-APIServerEndpoint "https://example.com"') },
    good: { text: powershell() },
  },
  {
    id: 'CI001',
    title: 'Nothing joins the cluster',
    severity: 'error',
    consequence: noKubelet,
    fix: 'Run kubeadm join with the address of the API server.',
    source: 'kubeadm reference, join',
    bad: {
      text: lines('#cloud-config', 'runcmd:', '- echo hello'),
      options: { ...plain, launchedBy: 'own-image' },
    },
    good: { text: kubeadm(), options: plain },
  },
  {
    id: 'CI002',
    title: 'The bootstrap token is missing or malformed',
    severity: 'error',
    consequence: 'kubeadm ends before it contacts the API server: the node does not join.',
    fix: 'Write the token as `kubeadm token create` prints it: [a-z0-9]{6}.[a-z0-9]{16}.',
    source: 'Kubernetes reference, bootstrap tokens',
    bad: { text: kubeadm('ABCDEF.0123456789abcdef'), options: plain },
    good: { text: kubeadm(), options: plain },
  },
  {
    id: 'CI003',
    title: 'The cluster’s authority is not pinned',
    severity: 'error',
    consequence:
      'kubeadm refuses to join without the hash of the authority or the flag that skips its verification.',
    fix: 'Give --discovery-token-ca-cert-hash sha256:....',
    source: 'kubeadm reference, token-based discovery with CA pinning',
    bad: { text: kubeadm(undefined, ''), options: plain },
    good: { text: kubeadm(), options: plain },
  },
  {
    id: 'CI004',
    title: 'The hash of the authority is malformed',
    severity: 'error',
    consequence: 'kubeadm ends: the node does not join.',
    fix: 'Write sha256: and 64 digits from 0 to f.',
    source: 'kubeadm reference, join',
    bad: { text: kubeadm(undefined, '--discovery-token-ca-cert-hash sha256:abc'), options: plain },
    good: { text: kubeadm(), options: plain },
  },
  {
    id: 'CI005',
    title: 'A cloud-config that is not valid YAML',
    severity: 'error',
    consequence: 'cloud-init logs the error and runs nothing of it.',
    fix: 'Fix the YAML at the reported position.',
    source: 'cloud-init, cloud-config',
    bad: { text: lines('#cloud-config', 'runcmd: [', '- echo'), options: plain },
    good: { text: kubeadm(), options: plain },
  },
  {
    id: 'CI006',
    title: 'A list in a cloud-config that another part replaces',
    severity: 'warning',
    consequence:
      'cloud-init merges all cloud-config parts into one document. If two parts have the same key, only one takes effect: the commands or files of the other are lost.',
    fix: "Add merge_how: 'list(append)+dict(no_replace,recurse_list)+str()' to the later part.",
    source: 'cloud-init, merging user-data sections; its handlers/cloud_config.py',
    bad: {
      text: mime(
        part('text/cloud-config', lines('#cloud-config', 'runcmd: [echo hello]')),
        part('text/cloud-config', kubeadm()),
      ),
      options: plain,
    },
    good: {
      text: mime(
        part('text/cloud-config', lines('#cloud-config', 'runcmd: [echo hello]')),
        part(
          'text/cloud-config',
          `${kubeadm()}merge_how: 'list(append)+dict(no_replace,recurse_list)+str()'\n`,
        ),
      ),
      options: plain,
    },
  },
  {
    id: 'CI007',
    title: 'A JoinConfiguration that this kubeadm does not read',
    severity: 'error',
    consequence: 'kubeadm refuses the file and ends: the node does not join.',
    fix:
      'Write it as `kubeadm config migrate` of the nodes’ version does: v1beta4 from 1.31 on, ' +
      'v1beta3 from 1.22 to 1.36; values of arguments are strings, in quotes.',
    source: 'kubernetes#125029; "your configuration file uses an old API spec"',
    bad: { text: joinConfiguration('v1beta1'), options: plain },
    good: { text: joinConfiguration('v1beta4'), options: plain },
  },
  {
    id: 'CI008',
    title: 'The API server is not host:port',
    severity: 'error',
    consequence: 'kubeadm refuses the address and ends: the node does not join.',
    fix:
      'Write host:port as `kubeadm token create --print-join-command` does, without https:// ' +
      'and path; 6443 is kubeadm’s own port.',
    source: 'kubeadm, ValidateDiscoveryTokenAPIServer',
    bad: { text: kubeadm().replace('10.0.0.1:6443', '10.0.0.1'), options: plain },
    good: { text: kubeadm(), options: plain },
  },
];
