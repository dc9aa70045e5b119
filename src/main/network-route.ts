// World control: creates networks that a configuration names by id. In a real account they exist;
// the world creates missing ones. Only parses the request; the world implements networks.

import type { NamedNetwork, NamedSubnet } from '../../world/aws/index.ts';
import type { World } from '../../world/index.ts';
import { isIpv4Block } from '../api/addresses.ts';
import { defined } from '../api/defined.ts';
import { isObject, type JsonObject } from '../api/json.ts';
import { AwsError } from '../aws-wire/index.ts';
import type { ControlAnswer } from '../serve/index.ts';

const refused = (message: string): ControlAnswer => ({ kind: 'error', status: 400, message });

const vpcPattern = /^vpc-[0-9a-f]+$/;
const subnetPattern = /^subnet-[0-9a-f]+$/;
const anyBlock = { shortest: 0, longest: 32 } as const;

const textIn = (input: JsonObject, name: string): string | undefined => {
  const value = input[name];
  return typeof value === 'string' ? value : undefined;
};

/** The subnet, or what is wrong with it. */
const readSubnet = (value: unknown): NamedSubnet | string => {
  if (!isObject(value)) return 'every subnet must be an object with id, zone, cidr, public';
  const id = textIn(value, 'id') ?? '';
  if (!subnetPattern.test(id)) return `subnet id ${id} must look like subnet-0a1b2c3d`;
  const cidr = textIn(value, 'cidr');
  if (cidr !== undefined && !isIpv4Block(cidr, anyBlock))
    return `cidr ${cidr} of ${id} is no block`;
  const zone = textIn(value, 'zone');
  if (zone !== undefined && !/[a-f]$/.test(zone)) return `zone ${zone} of ${id} is no zone's name`;
  return {
    subnetId: id,
    isPublic: value.public === true,
    ...defined({ zone, cidr }),
  };
};

/** `{vpcId, cidr?, subnets: [{id, zone?, cidr?, public?}]}`; answers with the resulting network. */
export const ensureNetwork = (world: World, input: JsonObject): ControlAnswer => {
  const vpcId = textIn(input, 'vpcId') ?? '';
  if (!vpcPattern.test(vpcId)) return refused(`vpcId ${vpcId} must look like vpc-0a1b2c3d`);
  const cidr = textIn(input, 'cidr');
  if (cidr !== undefined && !isIpv4Block(cidr, anyBlock))
    return refused(`cidr ${cidr} is no block`);
  if (!Array.isArray(input.subnets)) return refused('subnets must be a list');
  const subnets: NamedSubnet[] = [];
  for (const value of input.subnets) {
    const subnet = readSubnet(value);
    if (typeof subnet === 'string') return refused(subnet);
    subnets.push(subnet);
  }
  const wanted: NamedNetwork = { vpcId, subnets, ...defined({ cidr }) };
  try {
    const made = world.aws.ensureNetwork(wanted);
    return {
      kind: 'ok',
      body: {
        vpcId: made.vpcId,
        cidr: made.cidr ?? '',
        subnets: made.subnets.map((one) => ({
          id: one.subnetId,
          zone: one.zone ?? '',
          cidr: one.cidr ?? '',
          public: one.isPublic,
        })),
      },
    };
  } catch (error) {
    if (error instanceof AwsError) return refused(error.message);
    throw error;
  }
};
