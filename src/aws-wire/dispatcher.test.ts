// Calls that succeed, fail with an AwsError, or hit a handler's defect, in every protocol.
import { describe, expect, it } from 'vitest';
import {
  checkEnvelope,
  dispatcher,
  form,
  json,
  NOW,
  principal,
  queryError,
  rest,
  SECRET,
} from '../../test/builders/wire.ts';
import { AwsError } from './aws-error.ts';
import { md5Hex } from './digest.ts';
import { type AwsHandlers, createAwsDispatcher } from './dispatcher.ts';

describe('an answered call', () => {
  it('in query is wrapped, with namespace and request id', async () => {
    const { handle } = dispatcher({
      autoscaling: { DescribeLifecycleHooks: () => ({ LifecycleHooks: [] }) },
    });
    const body = 'Action=DescribeLifecycleHooks&Version=2011-01-01&AutoScalingGroupName=g';
    const response = await handle(form('autoscaling', body));
    checkEnvelope(response);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('text/xml');
    expect(response.body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<DescribeLifecycleHooksResponse ' +
        'xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/">' +
        '<DescribeLifecycleHooksResult><LifecycleHooks/></DescribeLifecycleHooksResult>' +
        '<ResponseMetadata><RequestId>req-1</RequestId></ResponseMetadata>' +
        '</DescribeLifecycleHooksResponse>',
    );
  });

  it('goes to the API version that it names, where services share their signing name', async () => {
    const { handle } = dispatcher({
      elb: { DescribeLoadBalancers: () => ({ LoadBalancerDescriptions: [] }) },
      elbv2: { DescribeLoadBalancers: () => ({ LoadBalancers: [] }) },
    });
    const described = async (version: string): Promise<unknown> => {
      const body = `Action=DescribeLoadBalancers&Version=${version}`;
      return (await handle(form('elasticloadbalancing', body))).body;
    };
    expect(await described('2012-06-01')).toContain('<LoadBalancerDescriptions/>');
    expect(await described('2015-12-01')).toContain('<LoadBalancers/>');
  });

  it('in ec2 has the request id at its root', async () => {
    const { handle } = dispatcher({ ec2: { DescribeVpcs: () => ({ Vpcs: [] }) } });
    const response = await handle(form('ec2', 'Action=DescribeVpcs&Version=2016-11-15'));
    checkEnvelope(response);
    expect(response.body).toContain(
      '<DescribeVpcsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15">' +
        '<requestId>req-1</requestId><vpcSet/></DescribeVpcsResponse>',
    );
  });

  it('in json has epoch seconds, and takes blobs and lists as they are', async () => {
    const { handle, records } = dispatcher({
      sqs: { SendMessage: () => ({ MessageId: 'ü' }) },
      cloudtrail: { LookupEvents: () => ({ Events: [{ EventTime: NOW + 7 }] }) },
    });
    const target = 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents';
    const looked = await handle(json('cloudtrail', target, '{"StartTime":1735394773.5}'));
    checkEnvelope(looked);
    expect(looked.body).toBe('{"Events":[{"EventTime":1735394773.007}]}');
    expect(looked.headers['content-type']).toBe('application/x-amz-json-1.1');
    expect(records[0]?.input).toEqual({ StartTime: NOW + 500 });
    const attributes = '{"a":{"DataType":"Binary","BinaryValue":"AQI="}}';
    const message = `{"QueueUrl":"q","MessageBody":"m","MessageAttributes":${attributes},"New":1}`;
    const sent = await handle(json('sqs', 'AmazonSQS.SendMessage', message));
    checkEnvelope(sent);
    expect(sent.headers['content-type']).toBe('application/x-amz-json-1.0');
    expect(records[1]?.input).toEqual({
      QueueUrl: 'q',
      MessageBody: 'm',
      MessageAttributes: { a: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2]) } },
    });
  });

  it.each(['AttributeNames', 'MessageSystemAttributeNames'])(
    'of ReceiveMessage takes the names of a message’s attributes in %s, and no others',
    async (member) => {
      const { handle } = dispatcher({ sqs: { ReceiveMessage: () => ({}) } });
      const receive = (name: string) => {
        const body = JSON.stringify({ QueueUrl: 'q', [member]: [name] });
        return handle(json('sqs', 'AmazonSQS.ReceiveMessage', body));
      };
      for (const name of ['All', 'SentTimestamp', 'ApproximateReceiveCount', 'SenderId']) {
        expect(await receive(name)).toMatchObject({ status: 200 });
      }
      const refused = await receive('RedrivePolicy');
      expect(refused.status).toBe(400);
      expect(refused.body).toContain('Unknown Attribute RedrivePolicy.');
    },
  );

  it('in rest-json takes labels, query string and body together', async () => {
    const { handle, records } = dispatcher({
      eks: { ListUpdates: () => ({ updateIds: [] }), UpdateNodegroupConfig: () => ({}) },
    });
    const query = 'nodegroupName=ng&maxResults=3';
    const listed = await handle(rest('GET', '/clusters/a%20b%2Fc/updates', { query }));
    checkEnvelope(listed);
    expect(listed.headers['content-type']).toBe('application/json');
    expect(records[0]?.input).toEqual({ name: 'a b/c', nodegroupName: 'ng', maxResults: 3 });
    const body = '{"scalingConfig":{"minSize":1},"labels":null,"clusterName":"body"}';
    await handle(rest('POST', '/clusters/c/node-groups/n/update-config', { body }));
    expect(records[1]?.input).toEqual({
      clusterName: 'c',
      nodegroupName: 'n',
      scalingConfig: { minSize: 1 },
    });
  });

  it('is recorded with time, input, output and caller', async () => {
    const { handle, records } = dispatcher({
      eks: { ListClusters: async () => ({ clusters: [] }) },
    });
    await handle(rest('GET', '/clusters', { headers: { 'user-agent': 'me' } }));
    const ctx = {
      service: 'eks',
      operation: 'ListClusters',
      region: 'eu-west-1',
      requestId: 'req-1',
      principal,
      accessKeyId: 'AKID',
      userAgent: 'me',
      sourceIp: '127.0.0.1',
    };
    expect(records).toEqual([
      {
        time: NOW,
        moments: { input: new Set(), output: new Set() },
        service: 'eks',
        operation: 'ListClusters',
        input: {},
        output: { clusters: [] },
        ctx,
      },
    ]);
  });
});

describe('a thrown AwsError', () => {
  const failing = (error: AwsError): AwsHandlers => {
    const fail = (): never => {
      throw error;
    };
    return {
      autoscaling: { DescribeLifecycleHooks: fail },
      ec2: { DescribeVpcs: fail },
      eks: { ListNodegroups: fail },
      sqs: { GetQueueUrl: fail },
    };
  };

  it.each([
    ['by shape name', 'LimitExceededFault', 400, 'LimitExceeded', 'Sender'],
    ['by wire code', 'ResourceContention', 500, 'ResourceContention', 'Sender'],
    ['that no model has', 'ValidationError', 400, 'ValidationError', 'Sender'],
  ])('in query, %s, has the modelled status', async (_, code, status, wire, type) => {
    const { handle, records } = dispatcher(failing(new AwsError({ code, message: 'a<b' })));
    const body = 'Action=DescribeLifecycleHooks&AutoScalingGroupName=g';
    const response = await handle(form('autoscaling', body));
    checkEnvelope(response);
    expect(response.status).toBe(status);
    expect(response.body).toMatch(queryError(wire, type));
    expect(response.body).toContain(
      '<Message>a&lt;b</Message></Error><RequestId>req-1</RequestId>',
    );
    expect(records[0]?.error).toEqual({ code: wire, message: 'a<b', httpStatus: status });
  });

  it('in ec2 is in Response and Errors', async () => {
    const error = new AwsError({ code: 'InvalidVpcID.NotFound', message: 'no vpc' });
    const response = await dispatcher(failing(error)).handle(form('ec2', 'Action=DescribeVpcs'));
    checkEnvelope(response);
    expect(response.status).toBe(400);
    expect(response.body).toContain(
      '<Response><Errors><Error><Code>InvalidVpcID.NotFound</Code><Message>no vpc</Message>' +
        '</Error></Errors><RequestID>req-1</RequestID></Response>',
    );
  });

  it('in rest-json has header, modelled status and members', async () => {
    const members = { clusterName: 'c', unknown: 1 };
    const error = new AwsError({ code: 'ResourceNotFoundException', message: 'gone', members });
    const response = await dispatcher(failing(error)).handle(
      rest('GET', '/clusters/c/node-groups'),
    );
    checkEnvelope(response);
    expect(response.status).toBe(404);
    expect(response.headers['x-amzn-errortype']).toBe('ResourceNotFoundException');
    expect(JSON.parse(String(response.body))).toEqual({
      __type: 'ResourceNotFoundException',
      message: 'gone',
      clusterName: 'c',
    });
  });

  it.each(['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue'])(
    'in SQS, thrown as %s, carries both of its codes',
    async (code) => {
      const { handle } = dispatcher(failing(new AwsError({ code, message: 'gone' })));
      const response = await handle(json('sqs', 'AmazonSQS.GetQueueUrl', '{"QueueName":"q"}'));
      expect(response.headers['x-amzn-query-error']).toBe(
        'AWS.SimpleQueueService.NonExistentQueue;Sender',
      );
      expect(JSON.parse(String(response.body))).toEqual({
        __type: 'com.amazonaws.sqs#QueueDoesNotExist',
        message: 'gone',
      });
    },
  );
});

describe('a defect of a handler', () => {
  it('that throws is reported, and answered without its text', async () => {
    const { handle, defects, records } = dispatcher({
      eks: {
        ListClusters: () => {
          throw new TypeError('secret detail');
        },
      },
    });
    const response = await handle(rest('GET', '/clusters'));
    expect(response.status).toBe(500);
    expect(response.body).toContain('InternalFailure');
    expect(response.body).not.toContain('secret detail');
    expect(defects).toEqual(['secret detail']);
    expect(records[0]?.error?.code).toBe('InternalFailure');
  });

  it('that answers more than the model knows is reported, the call answered', async () => {
    const { handle, defects } = dispatcher({ eks: { ListClusters: () => ({ cluster: [] }) } });
    const response = await handle(rest('GET', '/clusters'));
    expect(response.body).toBe('{}');
    expect(defects).toEqual(['eks:ListClusters: output.cluster is not in the model']);
  });

  it('in the recorder does not undo the call', async () => {
    const { handle } = createAwsDispatcher({
      handlers: { eks: { ListClusters: () => ({ clusters: ['c'] }) } },
      authenticate: () => ({ secretAccessKey: SECRET, principal }),
      now: () => NOW,
      nextRequestId: () => 'req-1',
      onCall: () => {
        throw new Error('disk full');
      },
    });
    expect((await handle(rest('GET', '/clusters'))).body).toBe('{"clusters":["c"]}');
  });
});

it('md5Hex is what SQS clients expect', () => {
  expect(md5Hex('hello')).toBe('5d41402abc4b2a76b9719d911017c592');
  expect(md5Hex(new Uint8Array())).toBe('d41d8cd98f00b204e9800998ecf8427e');
});
