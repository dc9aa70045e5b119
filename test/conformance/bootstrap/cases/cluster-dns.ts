// The cluster DNS address of pods, derived from the service CIDR as text, including unusual ones.
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly family: 'al2023' | 'al2' | 'bottlerocket' | 'windows';
  readonly cidr?: string;
  readonly vpcCidr?: string;
}

const nodeadm = (cidr: string, dns: string): Case<Given, readonly string[]> => ({
  name: `${cidr}: ${dns}`,
  given: { family: 'al2023', cidr },
  expected: [dns],
});
const guessed = (
  family: Given['family'],
  vpcCidr: string,
  dns: string,
): Case<Given, readonly string[]> => ({
  name: `${family} that knows no CIDR, in a VPC of ${vpcCidr}: ${dns}`,
  given: { family, vpcCidr },
  expected: [dns],
});
const known = (family: Given['family'], cidr: string, dns: string) => ({
  name: `${family} of a cluster with ${cidr}: ${dns}`,
  given: { family, cidr },
  expected: [dns],
});

export const clusterDns: Topic<Given, readonly string[]> = {
  topic: 'Cluster DNS',
  upstream:
    'amazon-eks-ami: nodeadm/internal/api/net.go; bootstrap.sh; bottlerocket: sources/api/pluto',
  behaviour:
    'IPv4: the text up to its last dot and .10, whatever the mask; IPv6: the address’s text and an a. ' +
    'Where no CIDR is known: 172.20.0.10 in a VPC whose address begins with 10., else 10.100.0.10',
  differences: ['an address outside its CIDR is what the node takes, too; lint names it (DNS001)'],
  cases: [
    nodeadm('10.100.0.0/16', '10.100.0.10'),
    nodeadm('172.20.0.0/16', '172.20.0.10'),
    nodeadm('172.16.0.0/12', '172.16.0.10'),
    nodeadm('192.168.0.0/24', '192.168.0.10'),
    nodeadm('10.100.0.128/25', '10.100.0.10'),
    nodeadm('10.100.0.0/29', '10.100.0.10'),
    nodeadm('10.0.0.0/8', '10.0.0.10'),
    nodeadm('fc00::/7', 'fc00::a'),
    nodeadm('fd12:3456:789a::/108', 'fd12:3456:789a::a'),
    nodeadm('fd30:1c53:5f8a::/108', 'fd30:1c53:5f8a::a'),
    known('al2', '10.50.0.0/16', '10.50.0.10'),
    known('bottlerocket', '10.50.0.0/16', '10.50.0.10'),
    known('windows', '10.50.0.0/16', '10.50.0.10'),
    guessed('al2', '10.0.0.0/16', '172.20.0.10'),
    guessed('al2', '192.168.0.0/16', '10.100.0.10'),
    guessed('al2', '100.64.0.0/16', '10.100.0.10'),
    guessed('bottlerocket', '10.0.0.0/16', '172.20.0.10'),
    guessed('bottlerocket', '172.31.0.0/16', '10.100.0.10'),
    guessed('windows', '10.0.0.0/16', '172.20.0.10'),
    guessed('windows', '192.168.0.0/16', '10.100.0.10'),
  ],
};
