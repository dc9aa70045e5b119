// The initial content of an account, and networks that a configuration names by id: the world
// creates those on demand, since its account cannot contain them already.
import { layMessaging } from '../demo/foundation.ts';
import type { SubnetRow, VpcRow } from '../ec2/network.ts';
import type { AwsParts } from '../parts.ts';
import { refuse } from '../scope.ts';
import { ensureImages } from './cluster-versions.ts';

const zoneLetters = ['a', 'b', 'c'] as const;
/** AWS' default VPC: a /16 with one /20 per zone. */
const defaultBlock = '172.31.0.0/16';

const serviceRoles = [
  { name: 'AWSServiceRoleForAmazonEKSNodegroup', service: 'eks-nodegroup.amazonaws.com' },
  { name: 'AWSServiceRoleForAutoScaling', service: 'autoscaling.amazonaws.com' },
];

export const addServiceRoles = ({ identity }: AwsParts): void => {
  for (const { name, service } of serviceRoles) {
    identity.addRole({ name, path: `/aws-service-role/${service}/`, service });
  }
};

/** Creates images, a default VPC, service roles, and the queue that Drover's controller reads. */
export const layAccount = (parts: AwsParts, kubernetesVersion: string): void => {
  const { network, images, scope } = parts;
  images.ensure(kubernetesVersion);
  ensureImages(images, kubernetesVersion.split('.').slice(0, 2).join('.'));
  addServiceRoles(parts);
  layMessaging(parts);
  const vpc = network.addVpc(defaultBlock, {}, { isDefault: true });
  network.addSecurityGroup({
    name: 'default',
    description: 'default VPC security group',
    vpcId: vpc.vpcId,
    tags: {},
  });
  zoneLetters.forEach((letter, index) => {
    const zone = `${scope.region}${letter}`;
    network.addSubnet({
      vpcId: vpc.vpcId,
      cidr: `172.31.${index * 16}.0/20`,
      zone,
      zoneId: network.zoneIdOf(zone),
      isPublic: true,
      tags: {},
    });
  });
};

export interface NamedSubnet {
  readonly subnetId: string;
  readonly isPublic: boolean;
  /** A zone of any region: only its last letter counts. Default: zones in rotation. */
  readonly zone?: string;
  readonly cidr?: string;
}

export interface NamedNetwork {
  readonly vpcId: string;
  readonly cidr?: string;
  readonly subnets: readonly NamedSubnet[];
}

/**
 * Creates the missing parts of a VPC and of subnets named by id; existing parts stay unchanged.
 * Refuses a subnet that belongs to another VPC.
 */
export const ensureNetwork = (
  { network, scope }: AwsParts,
  wanted: NamedNetwork,
): { readonly vpc: VpcRow; readonly subnets: readonly SubnetRow[] } => {
  const elsewhere = wanted.subnets
    .map((one) => network.subnet(one.subnetId))
    .find((row) => row !== undefined && row.vpcId !== wanted.vpcId);
  if (elsewhere !== undefined) {
    throw refuse(
      'InvalidParameterValue',
      `Subnet ${elsewhere.subnetId} stands in VPC ${elsewhere.vpcId}, not in ${wanted.vpcId}`,
    );
  }
  const vpc =
    network.vpcs().find((row) => row.vpcId === wanted.vpcId) ??
    network.addVpc(wanted.cidr ?? '192.168.0.0/16', {}, { vpcId: wanted.vpcId });
  const inside = () => network.subnets().filter((row) => row.vpcId === vpc.vpcId);
  const prefix = vpc.cidr.split('.').slice(0, 2).join('.');
  const subnets = wanted.subnets.map((one) => {
    const known = network.subnet(one.subnetId);
    if (known !== undefined) return known;
    const taken = inside();
    const letter = one.zone?.at(-1) ?? zoneLetters[taken.length % zoneLetters.length] ?? 'a';
    const zone = `${scope.region}${letter}`;
    const free = Array.from({ length: 256 }, (_, index) => `${prefix}.${index}.0/24`);
    const cidr = one.cidr ?? free.find((block) => taken.every((row) => row.cidr !== block));
    return network.addSubnet(
      {
        vpcId: vpc.vpcId,
        cidr: cidr ?? '',
        zone,
        zoneId: network.zoneIdOf(zone),
        isPublic: one.isPublic,
        tags: {},
      },
      one.subnetId,
    );
  });
  return { vpc, subnets };
};
