// Rules on NodeConfigs, Bottlerocket's settings and the cluster in them.
import { exampleAuthority } from '../../../formats/index.ts';
import type { Rule } from '../rule.ts';
import { lines, mime, nodeConfig, nodeConfigOf, part, settings } from './samples.ts';

const nodeType = 'application/node.eks.aws';
const skipped =
  'nodeadm takes nothing of the user data, other parts included: it ends, and no node appears.';

export const nodeRules: readonly Rule[] = [
  {
    id: 'NC001',
    title: 'A field that NodeConfig does not have',
    severity: 'error',
    consequence: 'nodeadm drops it without a word: the setting has no effect.',
    fix: 'Spell the field as the schema has it; the nearest one is named.',
    source: 'amazon-eks-ami, nodeadm/internal/api/bridge/decode.go (decoding is not strict)',
    bad: { text: nodeConfig().replace('apiServerEndpoint', 'clusterEndpoint') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC002',
    title: 'The cluster is not, or not wholly, named',
    severity: 'error',
    consequence: 'nodeadm ends with the sentence that is quoted: it asks nobody for the cluster.',
    fix: 'Set name, apiServerEndpoint, certificateAuthority and cidr below spec.cluster.',
    source: 'amazon-eks-ami, nodeadm/internal/api/validation.go; #2123',
    bad: { text: nodeConfig().replace('    cidr: 10.100.0.0/16\n', '') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC003',
    title: 'The certificate authority is none',
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
    consequence: 'The kubelet finds no API server and does not register.',
    fix: 'Copy endpoint of `aws eks describe-cluster` as it is.',
    source: 'EKS API, Cluster',
    bad: { text: nodeConfig().replace('https://example.com', 'example.com') },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC005',
    title: 'A later part sets to empty what it cannot unset',
    severity: 'warning',
    consequence:
      'The earlier value stays in force: an empty text, list or false does not override.',
    fix: 'Take the field out of the earlier part.',
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
    fix: 'Mend the value at the place that is named.',
    source: 'amazon-eks-ami, nodeadm/internal/configprovider/chain.go',
    bad: { text: nodeConfig().replace(exampleAuthority, `${exampleAuthority}=`) },
    good: { text: nodeConfig() },
  },
  {
    id: 'NC007',
    title: 'A scalar that YAML 1.1 and 1.2 read differently',
    severity: 'warning',
    consequence: 'nodeadm’s reader takes another value than most editors and tools.',
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
    title: 'A value that nodeadm does not know',
    severity: 'warning',
    consequence: 'nodeadm ignores it.',
    fix: 'Use one of the values that are named.',
    source: 'amazon-eks-ami, nodeadm/internal/api',
    bad: { text: nodeConfig('  featureGates:', '    FastImagePulls: true') },
    good: { text: nodeConfig('  featureGates:', '    FastImagePull: true') },
  },
  {
    id: 'NC009',
    title: 'The service CIDR is none',
    severity: 'error',
    consequence: 'nodeadm cannot tell the cluster’s DNS address and ends.',
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
      'Pods ask an address at which nobody answers, unless it is a DNS cache on the node.',
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
    consequence:
      'Bottlerocket refuses the settings; Karpenter drops the key without more than a log line.',
    fix: 'Spell the setting as Bottlerocket has it; the nearest one is named.',
    source: 'Karpenter, golden br_userdata; Bottlerocket settings reference',
    bad: { text: settings('max-pod = 20') },
    good: { text: settings('max-pods = 20') },
  },
  {
    id: 'BR003',
    title: 'A setting of another type',
    severity: 'error',
    consequence: 'Bottlerocket refuses the settings as a whole: no node appears.',
    fix: 'Write the type that is named.',
    source: 'bottlerocket-os/bottlerocket#2057; settings-sdk',
    bad: { text: settings('[settings.kubernetes.max-pods]', 'value = 20') },
    good: { text: settings('max-pods = 20') },
  },
  {
    id: 'BR004',
    title: 'The cluster is not wholly named',
    severity: 'error',
    consequence: 'The kubelet is not started: no node appears.',
    fix:
      'Set cluster-name, api-server and cluster-certificate, which EKS adds only without an ' +
      'image of one’s own.',
    source: 'Bottlerocket, EKS quick start',
    bad: { text: settings().replace('api-server = "https://example.com"\n', '') },
    good: { text: settings() },
  },
  {
    id: 'BR005',
    title: 'A setting that EKS adds to a managed group',
    severity: 'warning',
    consequence: 'This value wins over EKS’: with another cluster’s the node joins that, or none.',
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
    title: 'Settings that are no TOML',
    severity: 'error',
    consequence: 'early-boot-config ends: no node appears.',
    fix: 'Mend the TOML at the place that is named; merge tables, never their texts.',
    source: 'bottlerocket-os/bottlerocket#2024',
    bad: { text: `${settings()}\n${lines('[settings.kubernetes]', 'max-pods = 20')}` },
    good: { text: settings('max-pods = 20') },
  },
];
