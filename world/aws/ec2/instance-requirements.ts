// Selects instance types by attributes, for Auto Scaling and cluster-autoscaler. The world has no
// prices, disks and bandwidths of types and refuses requirements on them.
import {
  type AwsInput,
  notImplemented,
  optionalNumber,
  optionalStructure,
  optionalText,
  texts,
} from '../../../src/aws-wire/index.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import { type InstanceType, instanceTypes } from './instance-types.ts';

const defaultPageSize = 1000;
const mebibytesPerGibibyte = 1024;

/** EC2 API reference, "InstanceRequirementsRequest". */
const known: ReadonlySet<string> = new Set([
  ...['VCpuCount', 'MemoryMiB', 'MemoryGiBPerVCpu', 'NetworkInterfaceCount', 'AcceleratorCount'],
  ...['CpuManufacturers', 'AllowedInstanceTypes', 'ExcludedInstanceTypes', 'InstanceGenerations'],
  ...['BareMetal', 'BurstablePerformance'],
]);

export const requirementHandlers = (): ServiceHandlers => ({
  GetInstanceTypesFromInstanceRequirements: (input) => {
    const found = [...instanceTypes.values()].filter(matcherOf(input));
    const page = pageOf(
      found.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      {
        max: optionalNumber(input, 'MaxResults') ?? defaultPageSize,
        token: optionalText(input, 'NextToken'),
        keyOf: (type) => type.name,
        invalid: () => refuse('InvalidNextToken', 'The specified token is invalid'),
      },
    );
    return {
      InstanceTypes: page.items.map(({ name }) => ({ InstanceType: name })),
      NextToken: page.nextToken,
    };
  },
});

type Matcher = (type: InstanceType) => boolean;

const matcherOf = (input: AwsInput): Matcher => {
  const wanted = optionalStructure(input, 'InstanceRequirements') ?? {};
  const foreign = Object.keys(wanted).find((name) => !known.has(name));
  if (foreign !== undefined) throw notImplemented(`The instance requirement ${foreign}`);
  const architectures = texts(input, 'ArchitectureTypes');
  const isVirtual = texts(input, 'VirtualizationTypes').includes('hvm');
  const all: readonly Matcher[] = [
    (type) => isVirtual && architectures.includes(type.architecture),
    range(wanted, 'VCpuCount', ({ cpus }) => cpus),
    range(wanted, 'MemoryMiB', ({ memoryMiB }) => memoryMiB),
    range(wanted, 'MemoryGiBPerVCpu', (type) => type.memoryMiB / mebibytesPerGibibyte / type.cpus),
    range(wanted, 'NetworkInterfaceCount', ({ interfaces }) => interfaces),
    range(wanted, 'AcceleratorCount', ({ gpus }) => gpus),
    byManufacturer(texts(wanted, 'CpuManufacturers')),
    byName(wanted),
    kind(wanted, 'BurstablePerformance', ({ name }) => name.startsWith('t')),
    kind(wanted, 'BareMetal', ({ name }) => name.includes('.metal')),
    // Every instance type of the world is of the current generation.
    () => isAmong(texts(wanted, 'InstanceGenerations'), 'current'),
  ];
  return (type) => all.every((matches) => matches(type));
};

const isAmong = (values: readonly string[], value: string): boolean =>
  values.length === 0 || values.includes(value);

const range = (wanted: AwsInput, name: string, of: (type: InstanceType) => number): Matcher => {
  const bounds = optionalStructure(wanted, name) ?? {};
  const min = optionalNumber(bounds, 'Min') ?? 0;
  const max = optionalNumber(bounds, 'Max') ?? Number.POSITIVE_INFINITY;
  return (type) => of(type) >= min && of(type) <= max;
};

/** `included`, `required` or `excluded` (the default). */
const kind = (wanted: AwsInput, name: string, isOf: Matcher): Matcher => {
  const asked = optionalText(wanted, name) ?? 'excluded';
  if (asked === 'included') return () => true;
  return (type) => isOf(type) === (asked === 'required');
};

/** The letter after the generation number: `m6g`, `m6a`, `m6i`. */
const manufacturerOf = ({ name, architecture }: InstanceType): string => {
  if (architecture === 'arm64') return 'amazon-web-services';
  return /^[a-z]+\d+a/.test(name) ? 'amd' : 'intel';
};

const byManufacturer =
  (manufacturers: readonly string[]): Matcher =>
  (type) =>
    isAmong(manufacturers, manufacturerOf(type));

const byName = (wanted: AwsInput): Matcher => {
  const allowed = texts(wanted, 'AllowedInstanceTypes');
  const excluded = texts(wanted, 'ExcludedInstanceTypes');
  if (allowed.length > 0 && excluded.length > 0) {
    throw refuse(
      'InvalidParameterCombination',
      'AllowedInstanceTypes and ExcludedInstanceTypes cannot be specified together',
    );
  }
  const isIn = (patterns: readonly string[], name: string): boolean =>
    patterns.some((one) => patternOf(one).test(name));
  return ({ name }) => (allowed.length === 0 || isIn(allowed, name)) && !isIn(excluded, name);
};

/** `m5.*`, `c5*.*`, `m5.large`. */
const patternOf = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
