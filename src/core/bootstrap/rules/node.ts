// Rules on NodeConfigs, Bottlerocket's settings and the cluster in them.
import { exampleAuthority } from '../../../formats/index.ts';
import type { Rule } from '../rule.ts';
import { lines, mime, nodeConfig, nodeConfigOf, part, settings } from './samples.ts';

const nodeType = 'application/node.eks.aws';
const skipped =
  'nodeadm ignores all of the user data, including its other parts: it ends, and no node appears.';

export const nodeRules: readonly Rule[] = [
  {
    id: 'NC001',
    title: 'A field that NodeConfig does not have',
    severity: 'error',
    consequence: 'nodeadm silently drops it: the setting has no effect.',
    fix: 'Use the schema’s spelling of the field; the finding names the nearest one.',
    source: 'amazon-eks-ami, nodeadm/internal/api/bridge/decode.go (decoding is not strict)',
    bad: { text: nodeConfig().replace('apiServerEndpoint', 'clusterEndpoint') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC002',
    title: 'The cluster settings are missing or incomplete',
    severity: 'error',
    consequence: 'nodeadm ends with the quoted message: it does not look up the cluster.',
    fix: 'Set name, apiServerEndpoint, certificateAuthority and cidr below spec.cluster.',
    source: 'amazon-eks-ami, nodeadm/internal/api/validation.go; #2123',
    bad: { text: nodeConfig().replace('    cidr: 10.100.0.0/16\n', '') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC003',
    title: 'The certificate authority is invalid',
    severity: 'error',
    consequence: 'The kubelet cannot verify the API server and does not register.',
    fix: 'Copy certificateAuthority.data of `aws eks describe-cluster` as it is.',
    source: 'article 003',
    bad: { text: nodeConfig().replace(exampleAuthority, 'Y2VydGlmaWNhdGVBdXRob3JpdHk=') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC004',
    title: 'The API server’s endpoint is not a URL',
    severity: 'error',
    consequence: 'The kubelet cannot reach the API server and does not register.',
    fix: 'Copy endpoint of `aws eks describe-cluster` as it is.',
    source: 'EKS API, Cluster',
    bad: { text: nodeConfig().replace('https://example.com', 'example.com') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC005',
    title: 'A later part sets a field to empty, which does not unset it',
    severity: 'warning',
    consequence:
      'The earlier value stays in effect: an empty text, an empty list or false does not override it.',
    fix: 'Remove the field from the earlier part.',
    source: 'amazon-eks-ami, nodeadm/internal/api/merge.go, measured',
    bad: {
      text: mime(
        part(nodeType, nodeConfig('  instance:', '    localStorage:', '      strategy: RAID0')),
        part(nodeType, nodeConfigOf('  instance:', '    localStorage:', '      strategy: ""')),
      ),
    },
    good: {
      text: mime(
        part(nodeType, nodeConfig('  instance:', '    localStorage:', '      strategy: RAID0')),
        part(nodeType, nodeConfigOf('  instance:', '    localStorage:', '      strategy: Mount')),
      ),
    },
  },
  {
    id: 'NC006',
    title: 'A NodeConfig part that does not decode',
    severity: 'error',
    consequence: skipped,
    fix: 'Fix the value at the reported position.',
    source: 'amazon-eks-ami, nodeadm/internal/configprovider/chain.go',
    bad: { text: nodeConfig().replace(exampleAuthority, `${exampleAuthority}=`) },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC007',
    title: 'A scalar that YAML 1.1 and 1.2 read differently',
    severity: 'warning',
    consequence: 'nodeadm reads another value than most editors and tools.',
    fix: 'Put a text into quotes; write true, false and decimal numbers.',
    source: 'measured on Go’s YAML reader',
    bad: {
      text: nodeConfig(
        '  kubelet:',
        '    config:',
        '      cpuManagerPolicyOptions:',
        '        full-pcpus-only: on',
      ),
    },
    good: {
      text: nodeConfig(
        '  kubelet:',
        '    config:',
        '      cpuManagerPolicyOptions:',
        '        full-pcpus-only: "true"',
      ),
    },
  },
  {
    id: 'NC008',
    title: 'A value that nodeadm does not support',
    severity: 'warning',
    consequence: 'nodeadm ignores it.',
    fix: 'Use one of the values that the finding names.',
    source: 'amazon-eks-ami, nodeadm/internal/api',
    bad: { text: nodeConfig('  featureGates:', '    FastImagePulls: true') },
    good: { text: nodeConfig('  featureGates:', '    FastImagePull: true') },
  },
  {
    id: 'NC009',
    title: 'The service CIDR is invalid',
    severity: 'error',
    consequence: 'nodeadm cannot determine the cluster’s DNS address and ends.',
    fix: 'Copy kubernetesNetworkConfig.serviceIpv4Cidr of `aws eks describe-cluster`.',
    source: 'amazon-eks-ami, nodeadm/internal/api/net.go',
    bad: { text: nodeConfig().replace('10.100.0.0/16', '10.100.0.0') },
    good: { text: nodeConfig() },
  },
  {
    id: 'DNS001',
    title: 'The cluster’s DNS address lies outside its service CIDR',
    severity: 'warning',
    consequence:
      'Pods query an address at which nothing answers, unless it is a DNS cache on the node.',
    fix: 'Give an address of the service CIDR, or let nodeadm compute it.',
    source: 'EKS user guide; NodeLocal DNSCache uses 169.254.20.10',
    bad: {
      text: nodeConfig('  kubelet:', '    config:', '      clusterDNS:', '      - 172.20.0.10'),
    },
    good: {
      text: nodeConfig('  kubelet:', '    config:', '      clusterDNS:', '      - 10.100.0.10'),
    },
  },
  {
    id: 'DNS002',
    title: 'The DNS address and the cluster are of different IP families',
    severity: 'warning',
    consequence: 'Pods cannot reach the address.',
    fix: 'Give an address of the family of the service CIDR.',
    source: 'EKS user guide, IPv6 clusters',
    bad: {
      text: nodeConfig('  kubelet:', '    config:', '      clusterDNS:', '      - fd00:10::a'),
    },
    good: {
      text: nodeConfig('  kubelet:', '    config:', '      clusterDNS:', '      - 10.100.0.10'),
    },
  },
  {
    id: 'BR001',
    title: 'TOML that EKS’ own reader refuses',
    severity: 'warning',
    consequence:
      'A managed group is not created: "User data was not in a TOML format that could be ' +
      'processed".',
    fix: 'Write dotted keys in place of quoted headers, no escaped quotes, lists of one type.',
    source: 'EKS user guide, launch templates with Bottlerocket',
    bad: { text: settings('[settings.kernel.sysctl]', '"a" = "b"', '[settings."x.y"]', 'z = 1') },
    good: { text: settings('[settings.kernel.sysctl]', '"a" = "b"') },
  },
  {
    id: 'BR002',
    title: 'A setting that settings.kubernetes does not have',
    severity: 'warning',
    consequence: 'Bottlerocket refuses the settings; Karpenter drops the key with only a log line.',
    fix: 'Use Bottlerocket’s spelling of the setting; the finding names the nearest one.',
    source: 'Karpenter, golden br_userdata; Bottlerocket settings reference',
    bad: { text: settings('max-pod = 20') },
    good: { text: settings('max-pods = 20') },
  },
  {
    id: 'BR003',
    title: 'A setting of the wrong type',
    severity: 'error',
    consequence: 'Bottlerocket refuses the settings as a whole: no node appears.',
    fix: 'Use the type that the finding names.',
    source: 'bottlerocket-os/bottlerocket#2057; settings-sdk',
    bad: { text: settings('[settings.kubernetes.max-pods]', 'value = 20') },
    good: { text: settings('max-pods = 20') },
  },
  {
    id: 'BR004',
    title: 'The cluster settings are incomplete',
    severity: 'error',
    consequence: 'The kubelet is not started: no node appears.',
    fix: 'Set cluster-name, api-server and cluster-certificate, which EKS adds only if the launch template names no image.',
    source: 'Bottlerocket, EKS quick start',
    bad: { text: settings().replace('api-server = "https://example.com"\n', '') },
    good: { text: settings() },
  },
  {
    id: 'BR005',
    title: 'A setting that EKS adds to a managed group',
    severity: 'warning',
    consequence:
      'This value takes precedence over EKS’: with another cluster’s value, the node joins that cluster or none.',
    fix: 'Leave cluster-name, api-server, cluster-certificate and cluster-dns-ip to EKS.',
    source: 'EKS user guide, launch templates with Bottlerocket; eksctl refuses them',
    bad: { text: settings('max-pods = 20'), options: { launchedBy: 'managed' } },
    good: {
      text: lines('[settings.kubernetes]', 'max-pods = 20'),
      options: { launchedBy: 'managed' },
    },
  },
  {
    id: 'BR006',
    title: 'Settings that are not valid TOML',
    severity: 'error',
    consequence: 'early-boot-config ends: no node appears.',
    fix: 'Fix the TOML at the reported position; merge tables, not their texts.',
    source: 'bottlerocket-os/bottlerocket#2024',
    bad: { text: `${settings()}\n${lines('[settings.kubernetes]', 'max-pods = 20')}` },
    good: { text: settings('max-pods = 20') },
  },
];
