// Finds a node's user data and the facts of its instance: in a file, the metadata service, or a
// config drive. Facts from flags take precedence over those found. Never guesses a fact that
// identifies a node.

import { isAddress } from '../../api/addresses.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { NodeFacts } from '../../formats/index.ts';
import type { HostApi, MetadataApi } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { usage } from '../userdata/options.ts';

type Facts = Partial<NodeFacts>;

export interface Source {
  readonly userData: Uint8Array;
  readonly facts: Facts;
  /** For messages: `/dev/cdrom of a config drive`. */
  readonly name: string;
}

export interface SourceAccess {
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  readonly host: (root: string) => Promise<HostApi>;
  readonly metadata: () => Promise<MetadataApi>;
}

const numbers: ReadonlySet<string> = new Set(['cpus', 'memory-mib', 'containerd-major']);

const fieldOf: Readonly<Record<string, keyof NodeFacts>> = {
  'instance-id': 'instanceId',
  'instance-type': 'instanceType',
  region: 'region',
  zone: 'zone',
  'private-ip': 'privateIp',
  'private-dns-name': 'privateDnsName',
  ipv6: 'ipv6',
  lifecycle: 'lifecycle',
  'vpc-cidr': 'vpcCidr',
  cpus: 'cpus',
  'memory-mib': 'memoryMiB',
  'containerd-major': 'containerdMajor',
};

/** Allowed characters of a value, which is written to unit files and a command line. */
const plain = /^[A-Za-z0-9._:/-]+$/;

const factOf = (name: string, text: string): string | number => {
  if (numbers.has(name)) {
    const fits = name === 'containerd-major' ? /^[12]$/ : /^[1-9]\d{0,6}$/;
    if (fits.test(text)) return Number(text);
    throw usage(`--fact ${name} takes a whole number from 1, not ${JSON.stringify(text)}`);
  }
  const isFit =
    name === 'private-ip' || name === 'ipv6'
      ? isAddress(text)
      : name === 'lifecycle'
        ? text === 'on-demand' || text === 'spot'
        : plain.test(text);
  if (isFit) return text;
  throw usage(`--fact ${name}: ${JSON.stringify(text)} is no value of that`);
};

/** `instance-type=m5.large` and the like. */
export const factsGiven = (texts: readonly string[]): Facts =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      const name = at < 0 ? text : text.slice(0, at);
      const field = Object.hasOwn(fieldOf, name) ? fieldOf[name] : undefined;
      if (at < 0 || field === undefined) {
        const known = Object.keys(fieldOf).join(', ');
        throw usage(`--fact takes name=value with one of ${known}, not ${text}`);
      }
      return [field, factOf(name, text.slice(at + 1))];
    }),
  );

const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes).trim();

const jsonOf = (bytes: Uint8Array | undefined): JsonObject => {
  try {
    return objectOr(JSON.parse(textOf(bytes) ?? '{}'));
  } catch {
    return {};
  }
};

/** Only texts, under our names; a value with other characters counts as absent. */
const picked = (values: JsonObject, names: Readonly<Record<string, keyof NodeFacts>>): Facts =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, field]) => {
      const value = values[name];
      return typeof value === 'string' && plain.test(value) ? [[field, value]] : [];
    }),
  );

const nothingThere = (where: string, what: string): CommandError =>
  new CommandError(exitCodes.failed, `${where} has no user data: ${what}`);

const fromMetadata = async (metadata: MetadataApi): Promise<Source> => {
  const userData = await metadata.get('user-data');
  if (userData === undefined) {
    throw nothingThere('the instance', 'it was launched without; its launch template says so too');
  }
  const identity = jsonOf(await metadata.get('dynamic/instance-identity/document'));
  const item = async (path: string): Promise<string | undefined> =>
    textOf(await metadata.get(`meta-data/${path}`));
  const lifecycle = await item('instance-life-cycle');
  const dns = await item('local-hostname');
  const ipv6 = await item('ipv6');
  return {
    userData,
    name: 'the instance metadata service',
    facts: {
      ...picked(identity, {
        instanceId: 'instanceId',
        instanceType: 'instanceType',
        region: 'region',
        availabilityZone: 'zone',
        privateIp: 'privateIp',
      }),
      // If the DHCP options contain several names, the first is the instance's.
      ...picked(
        { dns: dns?.split(/\s/)[0] ?? '', ipv6: ipv6 ?? '' },
        {
          dns: 'privateDnsName',
          ipv6: 'ipv6',
        },
      ),
      ...(lifecycle === 'spot' ? { lifecycle } : { lifecycle: 'on-demand' }),
    },
  };
};

/** The paths of OpenStack, EC2 and NoCloud on a drive. */
const driveUserData = ['openstack/latest/user_data', 'ec2/latest/user-data', 'user-data'];

const fromDrive = async (host: HostApi): Promise<Source> => {
  for (const path of driveUserData) {
    const found = await host.read(path);
    if (found === undefined) continue;
    const read = async (name: string): Promise<JsonObject> =>
      jsonOf((await host.read(name))?.bytes);
    const ec2 = await read('ec2/latest/meta-data.json');
    const openstack = await read('openstack/latest/meta_data.json');
    const zone = objectOr(ec2.placement)['availability-zone'];
    return {
      userData: found.bytes,
      name: `${path} of ${host.root}`,
      facts: {
        ...picked(openstack, {
          uuid: 'instanceId',
          hostname: 'privateDnsName',
          availability_zone: 'zone',
        }),
        ...picked(
          { ...ec2, zone: zone ?? '' },
          {
            'instance-id': 'instanceId',
            'instance-type': 'instanceType',
            'local-ipv4': 'privateIp',
            'local-hostname': 'privateDnsName',
            zone: 'zone',
          },
        ),
      },
    };
  }
  throw nothingThere(host.root, `none of ${driveUserData.join(', ')} is there`);
};

export const readSource = async (given: string, access: SourceAccess): Promise<Source> => {
  if (given === 'imds') return fromMetadata(await access.metadata());
  const path = /^(?:file|config-drive):(.+)$/s.exec(given)?.[1];
  if (path === undefined) {
    throw usage(`--config-source takes file:PATH, imds or config-drive:PATH, not ${given}`);
  }
  if (given.startsWith('config-drive:')) return fromDrive(await access.host(path));
  return { userData: await access.readBytes(path), name: path, facts: {} };
};
