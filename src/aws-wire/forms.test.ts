// query and ec2 form fields to inputs, and outputs to XML, without a server.
import { describe, expect, it } from 'vitest';
import { AwsError } from './aws-error.ts';
import { loadModel, type Protocol, type ServiceModel, type Shape, shapeOf } from './model.ts';
import { parseForm } from './parse-form.ts';
import { escapeXml, renderMembers } from './render-xml.ts';

const malformed = (message: string) => new AwsError({ code: 'Malformed', message });

function parse(model: ServiceModel, shape: string | undefined, body: string) {
  return parseForm({ model, malformed }, shape, new URLSearchParams(body));
}

/** A model of one structure `S`, for traits that no committed model uses in a form. */
function modelWith(protocol: Protocol, shapes: Readonly<Record<string, Shape>>): ServiceModel {
  return {
    source: { package: 'test', version: '0', file: 'test', license: 'none' },
    metadata: { apiVersion: '1', protocol, serviceFullName: 'Test' },
    operations: {},
    omittedOperations: [],
    shapes: { String: { type: 'string' }, Integer: { type: 'integer' }, ...shapes },
  };
}

const flattened = modelWith('query', {
  Plain: { type: 'list', member: { shape: 'String' }, flattened: true },
  Renamed: { type: 'list', member: { shape: 'String', locationName: 'One' }, flattened: true },
  Map: {
    type: 'map',
    key: { shape: 'String', locationName: 'Name' },
    value: { shape: 'String', locationName: 'Value' },
    flattened: true,
  },
  S: {
    type: 'structure',
    members: {
      Plain: { shape: 'Plain' },
      Renamed: { shape: 'Renamed' },
      Map: { shape: 'Map', locationName: 'Attribute' },
    },
  },
});

const autoscaling = await loadModel('autoscaling');
const ec2 = await loadModel('ec2');
const sns = await loadModel('sns');
const cloudformation = await loadModel('cloudformation');

describe('query fields', () => {
  it.each([
    ['no fields', 'AutoScalingGroupNamesType', 'Action=X&Version=1', {}],
    [
      'an empty list',
      'AutoScalingGroupNamesType',
      'AutoScalingGroupNames=',
      { AutoScalingGroupNames: [] },
    ],
    [
      'list indexes in numeric order',
      'AutoScalingGroupNamesType',
      ['10=c', '2=b', '1=a'].map((item) => `AutoScalingGroupNames.member.${item}`).join('&'),
      { AutoScalingGroupNames: ['a', 'b', 'c'] },
    ],
    [
      'structures in lists',
      'CreateOrUpdateTagsType',
      'Tags.member.1.Key=k&Tags.member.1.PropagateAtLaunch=true&Tags.member.2.Key=',
      { Tags: [{ Key: 'k', PropagateAtLaunch: true }, { Key: '' }] },
    ],
    [
      'plus, percent and UTF-8',
      'DescribeLifecycleHooksType',
      'AutoScalingGroupName=a+b%2Bc%26%C3%BC',
      { AutoScalingGroupName: 'a b+c&ü' },
    ],
    [
      'ISO timestamps as epoch milliseconds',
      'PutScheduledUpdateGroupActionType',
      'StartTime=2024-12-28T14:06:13.5Z&EndTime=2024-12-28T15:06:13%2B01:00',
      { StartTime: 1_735_394_773_500, EndTime: 1_735_394_773_000 },
    ],
    [
      'unknown fields',
      'AutoScalingGroupNamesType',
      'Nonsense.1.x=y&MaxRecords=5',
      { MaxRecords: 5 },
    ],
    [
      'signature fields of a presigned URL',
      'AutoScalingGroupNamesType',
      'X-Amz-Signature=a&MaxRecords=1',
      { MaxRecords: 1 },
    ],
  ])('are read: %s', (_, shape, body, expected) => {
    expect(parse(autoscaling, shape, body)).toEqual(expected);
  });

  it('make maps of entry pairs', () => {
    const body = 'Attributes.entry.1.key=A&Attributes.entry.1.value=1&Name=t';
    expect(parse(sns, 'CreateTopicInput', body)).toEqual({ Name: 't', Attributes: { A: '1' } });
  });

  it('make flattened lists and maps', () => {
    const body = 'Plain.1=a&Plain.2=b&One.1=c&Attribute.1.Name=k&Attribute.1.Value=v';
    expect(parse(flattened, 'S', body)).toEqual({
      Plain: ['a', 'b'],
      Renamed: ['c'],
      Map: { k: 'v' },
    });
  });

  it('cannot reach inherited names', () => {
    const body = 'Attributes.entry.1.key=__proto__&Attributes.entry.1.value=x&__proto__.y=1';
    const input = parse(sns, 'CreateTopicInput', body);
    expect(Object.keys(input)).toEqual(['Attributes']);
    expect(({} as Readonly<Record<string, unknown>>).y).toBeUndefined();
  });

  it.each([
    ['MaxRecords=many', "MaxRecords: 'many' is not an Integer"],
    ['MaxRecords=3000000000', "MaxRecords: '3000000000' is not an Integer"],
    ['MaxRecords=', "MaxRecords: '' is not an Integer"],
    ['MaxRecords.1=3', 'Unexpected nested parameter at MaxRecords'],
    ['IncludeInstances=maybe', "IncludeInstances: 'maybe' is not a Boolean"],
    ['AutoScalingGroupNames=a', 'Expected a list at AutoScalingGroupNames'],
    ['AutoScalingGroupNames.member.x=a', 'Expected an index at AutoScalingGroupNames.x'],
    [`AutoScalingGroupNames${'.a'.repeat(40)}=a`, 'nested too deep'],
  ])('are refused: %s', (body, message) => {
    expect(() => parse(autoscaling, 'AutoScalingGroupNamesType', body)).toThrow(message);
  });
});

describe('ec2 fields', () => {
  it('use capitalised location names, query names, and bare lists', () => {
    const body =
      'Filter.1.Name=n&Filter.1.Value.1=a&Filter.1.Value.2=b' +
      '&InstanceId.1=i-1&DryRun=false&MaxResults=5';
    expect(parse(ec2, 'DescribeInstancesRequest', body)).toEqual({
      Filters: [{ Name: 'n', Values: ['a', 'b'] }],
      InstanceIds: ['i-1'],
      DryRun: false,
      MaxResults: 5,
    });
  });

  it('reach into nested launch template data', () => {
    const body =
      'LaunchTemplateName=lt&LaunchTemplateData.TagSpecification.1.ResourceType=instance' +
      '&LaunchTemplateData.TagSpecification.1.Tag.1.Key=k' +
      '&LaunchTemplateData.TagSpecification.1.Tag.1.Value=v' +
      '&LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=20' +
      '&LaunchTemplateData.SecurityGroupId.1=sg-1';
    expect(parse(ec2, 'CreateLaunchTemplateRequest', body)).toEqual({
      LaunchTemplateName: 'lt',
      LaunchTemplateData: {
        TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'k', Value: 'v' }] }],
        BlockDeviceMappings: [{ Ebs: { VolumeSize: 20 } }],
        SecurityGroupIds: ['sg-1'],
      },
    });
  });

  it('are refused when EC2 does not know them', () => {
    const asked = () => parse(ec2, 'DescribeInstancesRequest', 'InstanceIds.1=i-1');
    expect(asked).toThrow('The parameter InstanceIds is not recognized');
    expect(asked).toThrow(expect.objectContaining({ code: 'UnknownParameter' }));
  });
});

describe('XML', () => {
  const render = (model: ServiceModel, shape: string, value: Readonly<Record<string, unknown>>) =>
    renderMembers(model, shapeOf(model, shape), value);

  it.each([
    [
      'an empty list',
      autoscaling,
      'DescribeLifecycleHooksAnswer',
      { LifecycleHooks: [] },
      '<LifecycleHooks/>',
    ],
    [
      'a list of structures',
      autoscaling,
      'DescribeLifecycleHooksAnswer',
      { LifecycleHooks: [{ LifecycleHookName: 'h', HeartbeatTimeout: 30 }] },
      '<LifecycleHooks><member><LifecycleHookName>h</LifecycleHookName>' +
        '<HeartbeatTimeout>30</HeartbeatTimeout></member></LifecycleHooks>',
    ],
    [
      'absent and unknown members as nothing',
      autoscaling,
      'Activity',
      { Details: undefined, X: 1 },
      '',
    ],
    [
      'timestamps with milliseconds',
      cloudformation,
      'StackResourceSummary',
      { LastUpdatedTimestamp: 1_672_488_414_122 },
      '<LastUpdatedTimestamp>2022-12-31T12:06:54.122Z</LastUpdatedTimestamp>',
    ],
    [
      'maps as entries',
      sns,
      'GetTopicAttributesResponse',
      { Attributes: { A: '1' } },
      '<Attributes><entry><key>A</key><value>1</value></entry></Attributes>',
    ],
    [
      'ec2 names and items',
      ec2,
      'DescribeInstanceStatusResult',
      { InstanceStatuses: [{ InstanceId: 'i-1', Events: [] }], NextToken: 't' },
      '<instanceStatusSet><item><eventsSet/>' +
        '<instanceId>i-1</instanceId></item></instanceStatusSet>' +
        '<nextToken>t</nextToken>',
    ],
    [
      'flattened lists and maps',
      flattened,
      'S',
      { Plain: ['a', 'b'], Renamed: ['c'], Map: { k: 'v' } },
      '<Plain>a</Plain><Plain>b</Plain><One>c</One>' +
        '<Attribute><Name>k</Name><Value>v</Value></Attribute>',
    ],
  ])('renders %s', (_, model, shape, value, xml) => {
    expect(render(model, shape, value)).toBe(xml);
  });

  it.each([
    ['a & <b> "c"', 'a &amp; &lt;b&gt; &quot;c&quot;'],
    ['line\r\nline\tend', 'line&#xD;\nline\tend'],
    ['\u0000\u0007\u001f', '\uFFFD\uFFFD\uFFFD'],
    ['\uD800 \u{1F600} \uFFFF', '\uFFFD \u{1F600} \uFFFD'],
  ])('escapes %j', (text, escaped) => {
    expect(escapeXml(text)).toBe(escaped);
  });
});
