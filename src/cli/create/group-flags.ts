// Converts eksctl's flags of `create nodegroup` (and of the first group of `create cluster`) to a
// group's configuration: the same type as from a ClusterConfig, with the same defaults and rules.

import type { Command } from 'commander';
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type GroupConfig, readGroup } from '../../formats/index.ts';
import { CommandError, exitCodes } from '../context.ts';

export interface GroupFlags {
  readonly name?: string;
  readonly managed: boolean | string;
  readonly nodes?: string;
  readonly nodesMin?: string;
  readonly nodesMax?: string;
  readonly nodeType?: string;
  readonly instanceTypes?: string;
  readonly nodeVolumeSize?: string;
  readonly nodeVolumeType?: string;
  readonly nodeAmi?: string;
  readonly nodeAmiFamily?: string;
  readonly nodeLabels?: string;
  readonly nodeZones?: string;
  readonly nodePrivateNetworking: boolean;
  readonly maxPodsPerNode?: string;
  readonly sshAccess: boolean;
  readonly sshPublicKey?: string;
  readonly spot: boolean;
  readonly subnetIds?: string;
  readonly tags?: string;
}

/** Adds eksctl's flags of a node group. `name` differs between the commands that use them. */
export const addGroupFlags = (command: Command): Command =>
  command
    .option(
      '--managed [bool]',
      'managed node group; false: a self-managed Auto Scaling group',
      true,
    )
    .option('-N, --nodes <number>', 'desired number of nodes (default: 2)')
    .option('-m, --nodes-min <number>', 'minimum size (default: --nodes)')
    .option('-M, --nodes-max <number>', 'maximum size (default: --nodes)')
    .option('-t, --node-type <type>', 'instance type (default: m5.large)')
    .option('--instance-types <types>', 'instance types, separated by commas')
    .option('--node-volume-size <GiB>', 'size of the root volume (default: 80)')
    .option('--node-volume-type <type>', 'type of the root volume (default: gp3)')
    .option('--node-ami <id>', 'ID of a custom image')
    .option('--node-ami-family <family>', 'image family as in eksctl, e.g. Bottlerocket')
    .option('--node-labels <labels>', 'labels of the nodes, key=value,...')
    .option('--node-zones <zones>', 'availability zones, separated by commas')
    .option('-P, --node-private-networking', 'give nodes no public addresses', false)
    .option(
      '--max-pods-per-node <number>',
      'maximum pods per node; for self-managed groups or with --node-ami',
    )
    .option('--ssh-access', 'allow SSH access', false)
    .option('--ssh-public-key <name>', 'name of the EC2 key pair')
    .option('--spot', 'use spot instances (managed node groups)', false)
    .option('--subnet-ids <ids>', 'subnets, separated by commas')
    .option('--tags <tags>', 'tags, key=value,...');

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

const wholeNumber = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw usage(`${flag} takes a whole number, not ${text}`);
};

const split = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const pairs = (flag: string, text: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    split(text).map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw usage(`${flag} takes key=value pairs, separated by commas, not ${pair}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

const managedOf = (value: boolean | string): boolean => {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw usage(`--managed takes true or false, not ${value}`);
};

/** Converts the flags to a ClusterConfig, so that both have one meaning. */
const asConfig = (flags: GroupFlags, name: string): JsonObject => {
  const numbers = {
    desiredCapacity: wholeNumber('--nodes', flags.nodes),
    minSize: wholeNumber('--nodes-min', flags.nodesMin),
    maxSize: wholeNumber('--nodes-max', flags.nodesMax),
    volumeSize: wholeNumber('--node-volume-size', flags.nodeVolumeSize),
    maxPodsPerNode: wholeNumber('--max-pods-per-node', flags.maxPodsPerNode),
  };
  const texts = {
    instanceType: flags.nodeType,
    volumeType: flags.nodeVolumeType,
    ami: flags.nodeAmi,
    amiFamily: flags.nodeAmiFamily,
  };
  const given = Object.entries({ ...numbers, ...texts }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as JsonObject),
    name,
    ...(flags.instanceTypes === undefined
      ? {}
      : { instanceTypes: [...split(flags.instanceTypes)] }),
    ...(flags.spot ? { spot: true } : {}),
    privateNetworking: flags.nodePrivateNetworking,
    availabilityZones: [...split(flags.nodeZones)],
    subnets: [...split(flags.subnetIds)],
    labels: pairs('--node-labels', flags.nodeLabels),
    tags: pairs('--tags', flags.tags),
    ssh: {
      // As in eksctl, naming a key also enables access.
      allow: flags.sshAccess || flags.sshPublicKey !== undefined,
      ...defined({ publicKeyName: flags.sshPublicKey }),
    },
  };
};

/** The flag for a field of a ClusterConfig. */
const flagOf: Readonly<Record<string, string>> = {
  name: '--name',
  desiredCapacity: '--nodes',
  minSize: '--nodes-min',
  maxSize: '--nodes-max',
  volumeSize: '--node-volume-size',
  volumeType: '--node-volume-type',
  maxPodsPerNode: '--max-pods-per-node',
  instanceType: '--node-type',
  instanceTypes: '--instance-types',
  ami: '--node-ami',
  amiFamily: '--node-ami-family',
  labels: '--node-labels',
  availabilityZones: '--node-zones',
  privateNetworking: '--node-private-networking',
  subnets: '--subnet-ids',
  spot: '--spot',
  tags: '--tags',
};

/** `labels.a b` is the member `a b` of --node-labels. */
const inFlags = (path: string, message: string): string => {
  const [, field = '', rest = ''] = /^(\w*)\.?(.*)$/s.exec(path) ?? [];
  const flag = flagOf[field];
  if (flag === undefined) return `${path} ${message}`;
  // Replaces field names by flags, except names such as `name` and `tags`, which are English words.
  const told = Object.entries(flagOf).filter(([name]) => /[A-Z]|^subnets$/.test(name));
  const mine = told.reduce(
    (text, [name, its]) => text.replaceAll(new RegExp(`(?<=^| )${name}(?=[ ;,]|$)`, 'g'), its),
    message,
  );
  return `${flag}${rest === '' ? '' : `: ${rest}`} ${mine}`;
};

/** Throws a usage error that names the flag. */
export const groupOfFlags = (flags: GroupFlags, name: string): GroupConfig => {
  const kind = managedOf(flags.managed) ? 'managed' : 'self-managed';
  const read = readGroup(asConfig(flags, name), kind);
  if (read.kind === 'ok') return read.group;
  const [fault] = read.faults;
  if (fault?.path === 'name') {
    const letters = kind === 'managed' ? 'lower case letters' : 'letters';
    const rule = `up to 63 ${letters}, digits and -, with a letter or digit at both ends`;
    throw usage(`${name} is no name of a ${kind} node group: ${rule}`);
  }
  if (fault === undefined || fault.path === '') {
    throw usage(`node group ${name} ${fault?.message ?? 'cannot be read'}`);
  }
  throw usage(inFlags(fault.path, fault.message));
};
