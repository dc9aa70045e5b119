// What a group launches and where, from the request: a launch template, plain or in a mixed
// instances policy, and subnets or zones. Refuses what the service refuses, with its messages.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Images } from '../ec2/images.ts';
import type { LaunchTemplates, TemplateReference } from '../ec2/launch-templates.ts';
import type { Network } from '../ec2/network.ts';
import { refuse, sentence, validationError } from '../scope.ts';
import type { GroupRow, TemplateUse } from './rows.ts';

const readReference = (input: AwsInput): TemplateReference => ({
  id: optionalText(input, 'LaunchTemplateId'),
  name: optionalText(input, 'LaunchTemplateName'),
  version: optionalText(input, 'Version'),
});

interface SourceParts {
  readonly templates: LaunchTemplates;
  readonly images: Images;
}

const readTemplate = ({ templates, images }: SourceParts, input: AwsInput): TemplateUse => {
  const reference = readReference(input);
  if ((reference.id === undefined) === (reference.name === undefined)) {
    throw validationError(
      'Valid requests must contain either launchTemplateId or LaunchTemplateName',
    );
  }
  try {
    const template = templates.find(reference);
    const { data } = templates.version(reference);
    const noImage = images.refusal(optionalText(data, 'ImageId'));
    if (noImage !== undefined) throw refuse(noImage.code, noImage.message);
    const { version } = reference;
    return { id: template.id, name: template.name, ...defined({ version }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw validationError(`You must use a valid fully-formed launch template. ${why}`);
  }
};

/**
 * The launch template, plain or in a mixed instances policy; undefined if none is given. Fields
 * that an update of a policy omits stay unchanged.
 */
export const readSource = (
  parts: SourceParts,
  input: AwsInput,
  now?: GroupRow['mixed'],
): Pick<GroupRow, 'template' | 'mixed'> | undefined => {
  const plain = optionalStructure(input, 'LaunchTemplate');
  if (plain !== undefined) return { template: readTemplate(parts, plain) };
  const policy = optionalStructure(input, 'MixedInstancesPolicy');
  if (policy === undefined) return undefined;
  const launch = optionalStructure(policy, 'LaunchTemplate') ?? {};
  const distribution = optionalStructure(policy, 'InstancesDistribution') ?? {};
  const specification = optionalStructure(launch, 'LaunchTemplateSpecification') ?? {};
  return {
    template: readTemplate(parts, specification),
    mixed: {
      ...readOverrides(structures(launch, 'Overrides')),
      onDemandBase: optionalNumber(distribution, 'OnDemandBaseCapacity') ?? now?.onDemandBase ?? 0,
      onDemandAbove:
        optionalNumber(distribution, 'OnDemandPercentageAboveBaseCapacity') ??
        now?.onDemandAbove ??
        100,
      onDemandStrategy:
        optionalText(distribution, 'OnDemandAllocationStrategy') ??
        now?.onDemandStrategy ??
        'prioritized',
      spotStrategy:
        optionalText(distribution, 'SpotAllocationStrategy') ?? now?.spotStrategy ?? 'lowest-price',
      ...spotLimits(distribution, now),
    },
  };
};

const spotLimits = (distribution: AwsInput, now: GroupRow['mixed']) => {
  const spotPools = optionalNumber(distribution, 'SpotInstancePools') ?? now?.spotPools;
  const spotMaxPrice = optionalText(distribution, 'SpotMaxPrice') ?? now?.spotMaxPrice;
  return {
    ...defined({ spotPools, spotMaxPrice }),
  };
};

/** A policy has weights for all of its types or for none (EC2 Auto Scaling user guide). */
const readOverrides = (overrides: readonly AwsInput[]) => {
  const instanceTypes = overrides.map(overrideType);
  const weights = overrides.flatMap((one) => optionalText(one, 'WeightedCapacity') ?? []);
  if (weights.length === 0) return { instanceTypes };
  if (weights.length < overrides.length) {
    throw validationError(
      'Either all or none of the overrides must specify a WeightedCapacity value.',
    );
  }
  const wrong = weights.find((weight) => !/^[1-9]\d{0,2}$/.test(weight));
  if (wrong !== undefined) {
    throw validationError(`WeightedCapacity ${wrong} is invalid: it takes 1 to 999.`);
  }
  const entries = instanceTypes.map((type, index) => [type, Number(weights[index])] as const);
  return { instanceTypes, weights: Object.fromEntries(entries) };
};

const overrideType = (override: AwsInput): string => {
  const type = optionalText(override, 'InstanceType');
  const others = Object.keys(override).filter(
    (name) => name !== 'InstanceType' && name !== 'WeightedCapacity',
  );
  if (type !== undefined && others.length === 0) return type;
  throw validationError(
    `Overrides take an InstanceType in Drover's world, not ${others.join(', ') || 'nothing'}`,
  );
};

/** Subnets, or zones: an instance then starts in the zone's default subnet. */
export const readPlaces = (
  network: Network,
  input: AwsInput,
): Pick<GroupRow, 'subnetIds' | 'zones'> | undefined => {
  const subnetIds = readSubnets(network, input);
  const zones = texts(input, 'AvailabilityZones');
  if (zones.length === 0) return subnetIds === undefined ? undefined : { subnetIds };
  const known = network.zones().map(({ zone }) => zone);
  const unknown = zones.find((zone) => !known.includes(zone));
  if (unknown !== undefined) {
    throw validationError(
      sentence(
        `Invalid Availability Zone: ${unknown}. The valid Availability Zones are`,
        `[${known.join(', ')}].`,
      ),
    );
  }
  if (subnetIds !== undefined) {
    const own = new Set(subnetIds.map((id) => network.subnet(id)?.zone ?? ''));
    if (own.size === new Set(zones).size && zones.every((zone) => own.has(zone))) {
      return { subnetIds };
    }
    throw validationError(
      'The availability zones of the specified subnets and the Auto Scaling group do not match',
    );
  }
  return { subnetIds: zones.map((zone) => defaultSubnet(network, zone)), zones };
};

const defaultSubnet = (network: Network, zone: string): string => {
  const vpc = network.vpcs().find((one) => one.isDefault === true);
  if (vpc === undefined) {
    throw validationError('No default VPC for this user: name subnets in VPCZoneIdentifier.');
  }
  const subnet = network.subnets().find((one) => one.vpcId === vpc.vpcId && one.zone === zone);
  if (subnet !== undefined) return subnet.subnetId;
  throw validationError(`No default subnet for availability zone: '${zone}'.`);
};

const readSubnets = (network: Network, input: AwsInput): readonly string[] | undefined => {
  const given = optionalText(input, 'VPCZoneIdentifier');
  if (given === undefined || given.trim() === '') return undefined;
  const ids = given.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => network.subnet(id) === undefined);
  if (unknown === undefined) return ids;
  throw validationError(
    sentence(
      `The subnet ID '${unknown}' does not exist. (Service: AmazonEC2; Status Code:`,
      '400; Error Code: InvalidSubnetID.NotFound)',
    ),
  );
};
