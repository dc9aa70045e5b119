// Values of a template's properties in the form of API inputs: templates may write numbers and
// flags as text. Never refuses a value: the receiving service does.
import { isObject, type Json, type JsonObject, jsonEqual } from '../../../../src/api/json.ts';
import type { Tags } from '../../filters.ts';

export const textOf = (value: Json | undefined): string | undefined =>
  value === undefined || value === null || typeof value === 'object' ? undefined : String(value);

export const numberOf = (value: Json | undefined): number | undefined => {
  const text = textOf(value);
  return text === undefined || text === '' ? undefined : Number(text);
};

export const flagOf = (value: Json | undefined): boolean | undefined => {
  const text = textOf(value);
  return text === undefined ? undefined : text === 'true';
};

export const textsOf = (value: Json | undefined): readonly string[] =>
  [value ?? []].flat().flatMap((one) => textOf(one as Json) ?? []);

export const objectsOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** `[{Key, Value}]` or `{key: value}`. */
export const tagsOf = (value: Json | undefined): Tags => {
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]));
  }
  return Object.fromEntries(
    objectsOf(value).map((tag) => [String(tag.Key), textOf(tag.Value) ?? '']),
  );
};

const numbers = new Set([
  ...['VolumeSize', 'Iops', 'Throughput', 'HttpPutResponseHopLimit', 'DeviceIndex'],
  ...['NetworkCardIndex', 'CoreCount', 'ThreadsPerCore'],
  ...['HeartbeatTimeout', 'OnDemandBaseCapacity', 'OnDemandPercentageAboveBaseCapacity'],
  ...['SpotInstancePools', 'MinSize', 'MaxSize', 'DesiredSize', 'MaxUnavailable'],
  ...['MaxUnavailablePercentage', 'FromPort', 'ToPort', 'DiskSize', 'Priority'],
  ...['MaxUnhealthyNodeThresholdCount', 'MaxUnhealthyNodeThresholdPercentage'],
  ...['MaxParallelNodesRepairedCount', 'MaxParallelNodesRepairedPercentage'],
  'MinRepairWaitTimeMins',
]);
const flags = new Set([
  ...['DeleteOnTermination', 'Encrypted', 'EbsOptimized', 'AssociatePublicIpAddress'],
  ...['PropagateAtLaunch', 'Enabled', 'DisableApiTermination'],
]);

/** `value` with the members above converted to numbers and flags, at every depth. */
export const typed = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((one) => typed(one as Json));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      if (one === undefined) return [];
      if (typeof one === 'string' && numbers.has(key)) return [[key, Number(one)] as const];
      if (typeof one === 'string' && flags.has(key)) return [[key, one === 'true'] as const];
      return [[key, typed(one)] as const];
    }),
  );
};

/** Whether two values are equal: a template may write a number or a flag as text. */
export const sameValue = (a: unknown, b: unknown): boolean => jsonEqual(asText(a), asText(b));

const asText = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asText);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asText(one)]));
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
};

/** Removes undefined members. */
export const given = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
