// Inputs against the models' constraints, and outputs against the models.
import { describe, expect, it } from 'vitest';
import { outputDefects } from './check-output.ts';
import { loadModel } from './model.ts';
import { redact } from './redact.ts';
import { SERVICES } from './services.ts';
import { invalid } from './style.ts';
import { validateInput } from './validate.ts';

const services = new Map(
  await Promise.all(
    SERVICES.map(
      async (entry) => [entry.name, { entry, model: await loadModel(entry.name) }] as const,
    ),
  ),
);

function refusal(name: string, operation: string, input: Readonly<Record<string, unknown>>) {
  const service = services.get(name);
  if (service === undefined) throw new Error(name);
  const shape = service.model.operations[operation]?.input;
  const violations = validateInput(service.model, shape, input);
  if (violations.length === 0) return undefined;
  const { code, message } = invalid(service.entry, violations);
  return `${code}: ${message}`;
}

const NODEGROUP = { clusterName: 'c', nodegroupName: 'n', subnets: ['s'], nodeRole: 'r' };

describe('an input that breaks its model', () => {
  it.each([
    [
      'length and pattern, both told',
      ['autoscaling', 'PutLifecycleHook', { LifecycleHookName: '', AutoScalingGroupName: 'g' }],
      "ValidationError: 2 validation errors detected: Value '' at 'lifecycleHookName' failed to " +
        'satisfy constraint: Member must have length greater than or equal to 1; ' +
        "Value '' at 'lifecycleHookName' failed to satisfy constraint: " +
        'Member must satisfy regular expression pattern: [A-Za-z0-9\\-_\\/]+',
    ],
    [
      'a member of a list element',
      [
        'autoscaling',
        'CreateOrUpdateTags',
        { Tags: [{ Key: 'a'.repeat(129) }, { ResourceId: 'g' }] },
      ],
      `ValidationError: 2 validation errors detected: Value '${'a'.repeat(129)}' at ` +
        "'tags.1.member.key' failed to satisfy constraint: Member must have length less than or " +
        "equal to 128; Value null at 'tags.2.member.key' failed to satisfy constraint: " +
        'Member must not be null',
    ],
    [
      'an enum',
      ['eks', 'CreateNodegroup', { ...NODEGROUP, capacityType: 'NOPE' }],
      "InvalidParameterException: 1 validation error detected: Value 'NOPE' at 'capacityType' " +
        'failed to satisfy constraint: Member must satisfy enum value set: ' +
        '[ON_DEMAND, SPOT, CAPACITY_BLOCK]',
    ],
    [
      'a range',
      ['eks', 'CreateNodegroup', { ...NODEGROUP, updateConfig: { maxUnavailablePercentage: 133 } }],
      "InvalidParameterException: 1 validation error detected: Value '133' at " +
        "'updateConfig.maxUnavailablePercentage' failed to satisfy constraint: Member must have " +
        'value less than or equal to 100',
    ],
    [
      'a map key',
      ['eks', 'CreateNodegroup', { ...NODEGROUP, labels: { '': 'v' } }],
      "InvalidParameterException: 1 validation error detected: Value '' at 'labels..key' " +
        'failed to ' +
        'satisfy constraint: Member must have length greater than or equal to 1',
    ],
    [
      'a pattern, which holds for the whole value',
      [
        'eks',
        'CreateCluster',
        { name: 'a b', roleArn: 'r', resourcesVpcConfig: { subnetIds: ['s'] } },
      ],
      "InvalidParameterException: 1 validation error detected: Value 'a b' at 'name' failed to " +
        'satisfy constraint: Member must satisfy regular expression pattern: ' +
        '^[0-9A-Za-z][A-Za-z0-9\\-_]*',
    ],
    [
      'a required parameter of EC2',
      ['ec2', 'TerminateInstances', {}],
      'MissingParameter: The request must contain the parameter InstanceId',
    ],
    [
      'a length of EC2',
      ['ec2', 'CreateLaunchTemplate', { LaunchTemplateName: 'x', LaunchTemplateData: {} }],
      "InvalidParameterValue: Value ('x') for parameter LaunchTemplateName is invalid. " +
        'Member must have length greater than or equal to 3.',
    ],
    [
      'a required parameter of SQS',
      ['sqs', 'SendMessage', { MessageBody: 'm' }],
      'MissingParameter: The request must contain the parameter QueueUrl.',
    ],
    [
      'an attribute name of SQS',
      ['sqs', 'CreateQueue', { QueueName: 'q', Attributes: { Nonsense: '1' } }],
      'InvalidAttributeName: Unknown Attribute Nonsense.',
    ],
    [
      'a pattern of logs',
      ['logs', 'CreateLogGroup', { logGroupName: 'a b' }],
      "InvalidParameterException: 1 validation error detected: Value 'a b' at 'logGroupName' " +
        'failed to ' +
        'satisfy constraint: Member must satisfy regular expression pattern: [\\.\\-_/#A-Za-z0-9]+',
    ],
  ] as const)(
    "is refused in the service's words: %s",
    (_, [service, operation, input], expected) => {
      expect(refusal(service, operation, input)).toBe(expected);
    },
  );

  it('does not show a sensitive value', () => {
    const input = { RoleArn: 'r'.repeat(20), RoleSessionName: 'rs', WebIdentityToken: 'abc' };
    expect(refusal('sts', 'AssumeRoleWithWebIdentity', input)).toBe(
      "ValidationError: 1 validation error detected: Value at 'webIdentityToken' failed to " +
        'satisfy constraint: Member must have length greater than or equal to 4',
    );
  });
});

describe('an output', () => {
  const defects = (name: string, shape: string | undefined, output: unknown) => {
    const service = services.get(name);
    if (service === undefined) throw new Error(name);
    return outputDefects(service.model, shape, output);
  };

  it.each([
    ['eks', 'ListNodegroupsResponse', { nodegroups: ['a'], nextToken: undefined }, []],
    ['eks', 'ListNodegroupsResponse', { nodegroup: [] }, ['output.nodegroup is not in the model']],
    ['eks', 'ListNodegroupsResponse', { nodegroups: 'a' }, ['output.nodegroups is no list']],
    ['eks', 'ListNodegroupsResponse', { nodegroups: [1] }, ['output.nodegroups[0] is no string']],
    [
      'eks',
      'DescribeNodegroupResponse',
      { nodegroup: { status: 'Active', createdAt: '2024-12-28T14:06:13Z' } },
      [
        "output.nodegroup.status 'Active' is not in enum NodegroupStatus",
        'output.nodegroup.createdAt is no timestamp',
      ],
    ],
    ['autoscaling', undefined, undefined, []],
    ['autoscaling', undefined, { a: 1 }, ['the operation has no output']],
  ])('of %s %s %j has the defects %j', (name, shape, output, expected) => {
    expect(defects(name, shape, output)).toEqual(expected);
  });
});

describe('a record for people', () => {
  const ec2 = services.get('ec2')?.model;
  const ssm = services.get('ssm')?.model;

  it('has no sensitive value, and the original keeps it', () => {
    if (ec2 === undefined || ssm === undefined) throw new Error('no model');
    const input = {
      LaunchTemplateName: 'lt1',
      LaunchTemplateData: { UserData: 'c2VjcmV0', ImageId: 'ami-1' },
    };
    expect(redact(ec2, 'CreateLaunchTemplateRequest', input)).toEqual({
      LaunchTemplateName: 'lt1',
      LaunchTemplateData: { UserData: '<sensitiveDataRemoved>', ImageId: 'ami-1' },
    });
    expect(input.LaunchTemplateData.UserData).toBe('c2VjcmV0');
    const output = { Parameters: [{ Name: 'n', Value: 'secret' }] };
    expect(redact(ssm, 'GetParametersResult', output)).toEqual({
      Parameters: [{ Name: 'n', Value: '<sensitiveDataRemoved>' }],
    });
  });

  it('is the very value where nothing in it is sensitive', () => {
    if (ec2 === undefined) throw new Error('no model');
    const input = { Filters: [{ Name: 'n' }] };
    expect(redact(ec2, 'DescribeSubnetsRequest', input)).toBe(input);
  });
});
