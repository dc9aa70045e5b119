// Writes src/aws-wire/models/*.json: botocore's published service models without prose, reduced to
// the operations Drover's world may ever answer and the shapes these reach. Run by hand when a
// newer botocore is wanted: node scripts/prune-aws-models.ts --botocore DIR (the installed
// package). It never downloads anything, and it stops at a trait it does not know instead of
// dropping it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { gunzipSync } from 'node:zlib';
import { defined } from '../src/api/defined.ts';

type Json = Readonly<Record<string, unknown>>;

const ALL = 'all';

/** Which operations stay, per botocore service name. The names of all others are kept as a list. */
const KEEP: Readonly<Record<string, typeof ALL | readonly string[]>> = {
  eks: ALL,
  autoscaling: ALL,
  sqs: ALL,
  sns: ALL,
  sts: ALL,
  cloudformation: [
    ...['CreateStack', 'UpdateStack', 'DeleteStack', 'DescribeStacks', 'ListStacks'],
    ...['DescribeStackEvents', 'DescribeStackResource', 'DescribeStackResources'],
    ...['ListStackResources', 'GetTemplate', 'GetTemplateSummary', 'ValidateTemplate'],
    ...['ListExports', 'UpdateTerminationProtection', 'CreateChangeSet', 'DescribeChangeSet'],
    ...['ExecuteChangeSet', 'DeleteChangeSet', 'ListChangeSets'],
  ],
  cloudtrail: ['LookupEvents', 'DescribeTrails', 'ListTrails', 'GetTrailStatus'],
  events: [
    ...['PutEvents', 'PutRule', 'DeleteRule', 'DescribeRule', 'ListRules', 'EnableRule'],
    ...['DisableRule', 'PutTargets', 'RemoveTargets', 'ListTargetsByRule'],
  ],
  logs: [
    ...['StartQuery', 'StopQuery', 'GetQueryResults', 'DescribeQueries', 'CreateLogGroup'],
    ...['DescribeLogGroups', 'DescribeLogStreams', 'FilterLogEvents', 'GetLogEvents'],
    ...['DeleteLogGroup', 'PutRetentionPolicy', 'GetLogRecord', 'GetLogGroupFields'],
  ],
  'service-quotas': [
    ...['GetServiceQuota', 'ListServiceQuotas', 'ListServices', 'GetAWSDefaultServiceQuota'],
    ...['ListAWSDefaultServiceQuotas', 'RequestServiceQuotaIncrease'],
    'GetRequestedServiceQuotaChange',
  ],
  ssm: ['GetParameter', 'GetParameters', 'GetParametersByPath', 'DescribeParameters'],
  iam: [
    ...['GetRole', 'CreateServiceLinkedRole', 'GetInstanceProfile', 'GetUser', 'ListRoles'],
    ...['ListAttachedRolePolicies', 'ListInstanceProfilesForRole', 'ListAccountAliases'],
    ...['CreateRole', 'DeleteRole', 'AttachRolePolicy', 'DetachRolePolicy', 'PutRolePolicy'],
    ...['GetRolePolicy', 'DeleteRolePolicy', 'ListRolePolicies', 'CreateInstanceProfile'],
    ...['DeleteInstanceProfile', 'AddRoleToInstanceProfile', 'ListInstanceProfiles'],
    ...['RemoveRoleFromInstanceProfile', 'GetOpenIDConnectProvider'],
    ...['ListOpenIDConnectProviders', 'UpdateAssumeRolePolicy'],
  ],
  ec2: [
    ...['DescribeInstances', 'DescribeInstanceStatus', 'RunInstances', 'TerminateInstances'],
    ...['RebootInstances', 'StopInstances', 'StartInstances', 'GetConsoleOutput'],
    ...['DescribeInstanceAttribute', 'ModifyInstanceAttribute', 'ModifyInstanceMetadataOptions'],
    ...['CreateLaunchTemplate', 'CreateLaunchTemplateVersion', 'DescribeLaunchTemplates'],
    ...['DescribeLaunchTemplateVersions', 'ModifyLaunchTemplate', 'DeleteLaunchTemplate'],
    ...['DeleteLaunchTemplateVersions', 'GetLaunchTemplateData', 'DescribeSubnets'],
    ...['DescribeVpcs', 'DescribeSecurityGroups', 'DescribeImages', 'DescribeInstanceTypes'],
    ...['DescribeInstanceTypeOfferings', 'DescribeAvailabilityZones', 'DescribeRegions'],
    'GetInstanceTypesFromInstanceRequirements',
    ...['DescribeKeyPairs', 'CreateTags', 'DeleteTags', 'DescribeTags', 'DescribeVolumes'],
    ...['DescribeNetworkInterfaces', 'DescribeRouteTables', 'DescribeAccountAttributes'],
    ...['CreateKeyPair', 'ImportKeyPair', 'DeleteKeyPair', 'CreateSecurityGroup'],
    ...['DeleteSecurityGroup', 'AuthorizeSecurityGroupIngress', 'RevokeSecurityGroupIngress'],
    ...['AuthorizeSecurityGroupEgress', 'RevokeSecurityGroupEgress', 'DescribeInternetGateways'],
    ...['DescribeNatGateways', 'DescribeAddresses', 'CreateVpc', 'CreateSubnet', 'DeleteVpc'],
    ...['DeleteSubnet', 'DescribeSecurityGroupRules'],
  ],
  elb: [
    ...['CreateLoadBalancer', 'DeleteLoadBalancer', 'DescribeLoadBalancers'],
    ...['RegisterInstancesWithLoadBalancer', 'DeregisterInstancesFromLoadBalancer'],
    ...['DescribeInstanceHealth', 'ConfigureHealthCheck', 'AddTags', 'RemoveTags', 'DescribeTags'],
  ],
  elbv2: [
    ...['CreateTargetGroup', 'DeleteTargetGroup', 'ModifyTargetGroup', 'DescribeTargetGroups'],
    ...['DescribeTargetGroupAttributes', 'ModifyTargetGroupAttributes', 'RegisterTargets'],
    ...['DeregisterTargets', 'DescribeTargetHealth', 'DescribeLoadBalancers', 'DescribeListeners'],
    ...['DescribeTags', 'AddTags', 'RemoveTags'],
  ],
};

const SHAPE_TRAITS = new Set([
  ...['type', 'members', 'member', 'key', 'value', 'required', 'min', 'max', 'pattern', 'enum'],
  ...['flattened', 'locationName', 'exception', 'error', 'fault', 'sensitive', 'union'],
  ...['timestampFormat'],
]);
const REF_TRAITS = new Set([
  ...['shape', 'location', 'locationName', 'queryName', 'flattened', 'idempotencyToken'],
  ...['timestampFormat'],
]);
const DROPPED = new Set([
  ...['documentation', 'deprecated', 'deprecatedMessage', 'deprecatedSince', 'box'],
  'contextParam',
]);
/** Longer enumerations (EC2's instance types) age within weeks; the world checks those itself. */
const MAX_ENUM_VALUES = 150;
/** Article 002 prints role names of 68 characters, which must pass although IAM's limit is 64. */
const MAX_OVERRIDES: Readonly<Record<string, number>> = { roleNameType: 128 };
/**
 * The model names the type of queue attributes here, but SQS accepts the message attributes that
 * its user guide lists.
 */
const REF_OVERRIDES: Readonly<Record<string, string>> = {
  'ReceiveMessageRequest.AttributeNames': 'MessageSystemAttributeList',
};

function record(value: unknown, what: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} is no object`);
  }
  return value as Json;
}

function keepTraits(source: Json, traits: ReadonlySet<string>, what: string): Json {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    if (traits.has(key)) kept[key] = value;
    else if (!DROPPED.has(key)) throw new Error(`${what}: unknown trait ${key}`);
  }
  return kept;
}

function pruneRef(value: unknown, what: string): Json {
  const ref = keepTraits(record(value, what), REF_TRAITS, what);
  const shape = REF_OVERRIDES[what];
  return shape === undefined ? ref : { ...ref, shape };
}

function pruneShape(source: Json, name: string): Json {
  const shape: Record<string, unknown> = { ...keepTraits(source, SHAPE_TRAITS, name) };
  for (const key of ['member', 'key', 'value']) {
    if (shape[key] !== undefined) shape[key] = pruneRef(shape[key], `${name}.${key}`);
  }
  if (shape.members !== undefined) {
    const members = Object.entries(record(shape.members, name));
    shape.members = Object.fromEntries(
      members.map(([key, ref]) => [key, pruneRef(ref, `${name}.${key}`)]),
    );
  }
  if (MAX_OVERRIDES[name] !== undefined) shape.max = MAX_OVERRIDES[name];
  if (Array.isArray(shape.enum) && shape.enum.length > MAX_ENUM_VALUES) delete shape.enum;
  return shape;
}

function shapeNames(shape: Json): readonly string[] {
  const members = Object.values((shape.members ?? {}) as Json);
  return [...members, shape.member, shape.key, shape.value]
    .filter((ref) => ref !== undefined)
    .map((ref) => String(record(ref, 'ref').shape));
}

function pruneOperation(source: Json, name: string, isRest: boolean): Json {
  const ref = (key: string): string | undefined =>
    source[key] === undefined ? undefined : String(record(source[key], name).shape);
  const output = source.output === undefined ? {} : record(source.output, name);
  const errors = ((source.errors ?? []) as readonly unknown[]).map((error) =>
    String(record(error, name).shape),
  );
  return {
    ...(isRest ? { http: source.http } : {}),
    ...(ref('input') === undefined ? {} : { input: ref('input') }),
    ...(ref('output') === undefined ? {} : { output: ref('output') }),
    ...defined({ resultWrapper: output.resultWrapper }),
    ...(errors.length === 0 ? {} : { errors }),
  };
}

function reach(operations: readonly Json[], all: Json): Readonly<Record<string, Json>> {
  const kept = new Map<string, Json>();
  const pending = operations.flatMap((operation) => [
    ...[operation.input, operation.output].filter((name) => name !== undefined),
    ...((operation.errors ?? []) as readonly unknown[]),
  ]);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const name = String(next);
    if (kept.has(name)) continue;
    const shape = pruneShape(record(all[name], name), name);
    kept.set(name, shape);
    pending.push(...shapeNames(shape));
  }
  return Object.fromEntries([...kept].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function prune(service: string, path: string, botocore: string, version: string): Json {
  const file = join(botocore, 'data', path);
  const source = record(JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')), file);
  const metadata = record(source.metadata, service);
  const operations = record(source.operations, service);
  const wanted = KEEP[service] ?? [];
  const names = wanted === ALL ? Object.keys(operations) : [...wanted].sort();
  const kept = Object.fromEntries(
    names.map((name) => {
      const isRest = String(metadata.protocol).startsWith('rest');
      return [name, pruneOperation(record(operations[name], name), name, isRest)];
    }),
  );
  return {
    source: { package: 'botocore', version, file: `data/${path}`, license: 'Apache-2.0' },
    metadata: Object.fromEntries(
      ['apiVersion', 'protocol', 'jsonVersion', 'targetPrefix', 'xmlNamespace', 'serviceFullName']
        .filter((key) => metadata[key] !== undefined)
        .map((key) => [key, metadata[key]]),
    ),
    operations: kept,
    omittedOperations: Object.keys(operations).filter((name) => kept[name] === undefined),
    shapes: reach(Object.values(kept), record(source.shapes, service)),
  };
}

/** One line per operation and shape, so that the difference between two versions can be read. */
function print(model: Json): string {
  const block = (key: string): string => {
    const lines = Object.entries(record(model[key], key)).map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return `${JSON.stringify(key)}:{\n${lines.join(',\n')}\n}`;
  };
  const line = (key: string): string => `${JSON.stringify(key)}:${JSON.stringify(model[key])}`;
  const parts = [line('source'), line('metadata'), line('omittedOperations')];
  return `{\n${[...parts, block('operations'), block('shapes')].join(',\n')}\n}\n`;
}

function main(): void {
  const botocore = argv[argv.indexOf('--botocore') + 1];
  if (!argv.includes('--botocore') || botocore === undefined) {
    throw new Error('usage: node scripts/prune-aws-models.ts --botocore DIR');
  }
  const init = readFileSync(join(botocore, '__init__.py'), 'utf8');
  const version = /^__version__ = '([^']+)'/m.exec(init)?.[1];
  if (version === undefined) throw new Error(`${botocore}/__init__.py names no version`);
  const target = join(import.meta.dirname, '..', 'src', 'aws-wire', 'models');
  mkdirSync(target, { recursive: true });
  for (const service of Object.keys(KEEP)) {
    const newest = readdirSync(join(botocore, 'data', service))
      .sort()
      .at(-1);
    const path = `${service}/${newest}/service-2.json.gz`;
    const text = print(prune(service, path, botocore, version));
    writeFileSync(join(target, `${service}.json`), text);
    console.log(`${service}: ${Math.round(text.length / 1024)} KB`);
  }
}

main();
