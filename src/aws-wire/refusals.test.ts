// Requests that are refused before any handler: unknown names, unreadable bodies, credentials.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Asked,
  checkEnvelope,
  dispatcher,
  FORM,
  form,
  json,
  queryError,
  rest,
  SECRET,
  signedRequest,
  unsigned,
} from '../../test/builders/wire.ts';
import type { HttpRequest } from '../api/http.ts';
import { type Signed, signatureOf } from './sigv4.ts';

describe('a request that names nothing the world has', () => {
  const { handle } = dispatcher({});

  it.each([
    [
      'an unknown action',
      form('sts', 'Action=Nope&Version=2011-06-15'),
      400,
      queryError('InvalidAction'),
    ],
    ['no action', form('sts', 'a=b'), 400, queryError('MissingAction')],
    [
      'another version',
      form('elasticloadbalancing', 'Action=DescribeTags&Version=2011-11-15'),
      400,
      queryError('NoSuchVersion'),
    ],
    ['an unknown EC2 action', form('ec2', 'Action=Nope'), 400, /<Code>InvalidAction<\/Code>/],
    ['an inherited name', form('sts', 'Action=constructor'), 400, queryError('InvalidAction')],
    ['an unknown target', json('sqs', 'AmazonSQS.Nope', '{}'), 400, /UnknownOperationException/],
    [
      'a foreign target',
      json('sqs', 'DynamoDB_20120810.ListTables', '{}'),
      400,
      /UnknownOperationException/,
    ],
    [
      'a form where JSON is spoken',
      form('sqs', 'Action=ListQueues'),
      400,
      /^<\?xml[\s\S]*query protocol/,
    ],
    ['an unknown path', rest('GET', '/nope'), 404, /UnknownOperationException/],
    ['a wrong method', rest('PATCH', '/clusters'), 404, /UnknownOperationException/],
    [
      'a modelled operation',
      form('sts', 'Action=GetCallerIdentity'),
      501,
      /NotImplemented<[\s\S]*sts:GetCallerIdentity is not implemented by Drover's world/,
    ],
    ['an omitted operation', form('ec2', 'Action=AllocateAddress'), 501, /ec2:AllocateAddress/],
    [
      'an unknown query service',
      form('rds', 'Action=X'),
      501,
      queryError('NotImplemented', 'Receiver'),
    ],
    [
      'an unknown JSON service',
      json('dynamodb', 'DynamoDB_20120810.ListTables', '{}'),
      501,
      /"__type":"NotImplemented"/,
    ],
    [
      'an unknown REST service',
      signedRequest({ service: 'lambda', path: '/2015-03-31/functions' }),
      501,
      /"__type":"NotImplemented"/,
    ],
    [
      'S3',
      signedRequest({ service: 's3', method: 'GET' }),
      501,
      queryError('NotImplemented', 'Receiver'),
    ],
  ])('is answered in its protocol: %s', async (_, request, status, body) => {
    const response = await handle(request);
    checkEnvelope(response);
    expect(response.status).toBe(status);
    expect(response.body).toMatch(body);
  });
});

describe('a body that cannot be read', () => {
  const { handle } = dispatcher({});
  const target = 'AmazonSQS.ReceiveMessage';

  it.each([
    ['broken JSON', json('sqs', target, '{"a":'), /SerializationException[\s\S]*not valid JSON/],
    ['no object', json('sqs', target, '[]'), /Unexpected START_ARRAY/],
    ['bad UTF-8', json('sqs', target, new Uint8Array([0xff])), /not valid UTF-8/],
    [
      'text for a number',
      json('sqs', target, '{"QueueUrl":"q","WaitTimeSeconds":"x"}'),
      /Invalid value at 'WaitTimeSeconds': STRING_VALUE can not be converted to an Integer/,
    ],
    [
      'a number for a list',
      json('sqs', target, '{"AttributeNames":1}'),
      /Unexpected NUMBER_VALUE at 'AttributeNames': expected START_ARRAY/,
    ],
    ['a null in a list', json('sqs', target, '{"AttributeNames":[null]}'), /NULL_VALUE/],
    ['a bad path', rest('GET', '/clusters/%zz'), /not validly URL-encoded/],
    [
      'bad text in a query string',
      rest('GET', '/clusters', { query: 'maxResults=x' }),
      /'x' is not an Integer/,
    ],
    [
      'a bad form',
      form('autoscaling', 'Action=DescribeAutoScalingGroups&MaxRecords=x'),
      queryError('MalformedInput'),
    ],
  ])('is named: %s', async (_, request, body) => {
    const response = await handle(request);
    checkEnvelope(response);
    expect(response.status).toBe(400);
    expect(response.body).toMatch(body);
  });
});

describe('a caller', () => {
  const { handle, records } = dispatcher({
    sts: { GetCallerIdentity: () => ({}), AssumeRoleWithWebIdentity: () => ({}) },
    sqs: { ListQueues: () => ({}) },
  });
  const identity = 'Action=GetCallerIdentity&Version=2011-06-15';
  const tampered = (request: HttpRequest): HttpRequest => ({ ...request, path: '/other' });
  const bare = (asked: Asked): HttpRequest => unsigned(asked);

  it.each([
    [
      'without signature, in query',
      bare({ headers: FORM, body: identity }),
      403,
      queryError('MissingAuthenticationToken'),
    ],
    [
      'without signature, in JSON',
      bare({ headers: { 'x-amz-target': 'AmazonSSM.GetParameter' } }),
      403,
      /"__type":"MissingAuthenticationTokenException"/,
    ],
    [
      'without signature, at EKS',
      bare({ method: 'GET', path: '/clusters' }),
      403,
      /MissingAuthenticationTokenException/,
    ],
    ['without anything', bare({ method: 'GET' }), 403, /MissingAuthenticationToken/],
    [
      'with half a signature',
      { ...bare({}), headers: { authorization: 'AWS4-HMAC-SHA256 x' } },
      403,
      /IncompleteSignature/,
    ],
    [
      'with an unknown key',
      signedRequest({ service: 'sts', key: 'NOPE', headers: FORM }),
      403,
      queryError('InvalidClientTokenId'),
    ],
    [
      'with an unknown key, at EKS',
      rest('GET', '/clusters', { key: 'NOPE' }),
      403,
      /UnrecognizedClientException/,
    ],
    [
      'with an unknown key, at SQS',
      signedRequest({ service: 'sqs', key: 'NOPE' }),
      403,
      /com.amazonaws.sqs#InvalidClientTokenId/,
    ],
    [
      'without its session token',
      signedRequest({ service: 'sts', key: 'ASIA' }),
      403,
      queryError('InvalidClientTokenId'),
    ],
    [
      'with a wrong signature',
      tampered(form('sts', identity)),
      403,
      queryError('SignatureDoesNotMatch'),
    ],
    [
      'with a wrong signature, at EC2',
      tampered(form('ec2', 'Action=DescribeVpcs')),
      401,
      /<Code>AuthFailure<\/Code>/,
    ],
    [
      'of an unknown service with a wrong signature',
      tampered(form('rds', '')),
      403,
      queryError('SignatureDoesNotMatch'),
    ],
  ])('is refused %s', async (_, request, status, body) => {
    const before = records.length;
    const response = await handle(request);
    checkEnvelope(response);
    expect(response.status).toBe(status);
    expect(response.body).toMatch(body);
    expect(records.length).toBe(before);
  });

  it('with temporary credentials shows its token', async () => {
    const headers = { ...FORM, 'x-amz-security-token': 'tok' };
    const request = signedRequest({ service: 'sts', key: 'ASIA', headers, body: identity });
    expect((await handle(request)).status).toBe(200);
  });

  it('may presign a GET, as `aws eks get-token` does', async () => {
    const scope = encodeURIComponent('AKID/20241228/eu-west-1/sts/aws4_request');
    const query =
      `${identity}&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${scope}` +
      '&X-Amz-Date=20241228T140613Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id';
    const request = unsigned({ method: 'GET', query, headers: { 'x-k8s-aws-id': 'demo' } });
    const signed: Signed = {
      kind: 'signed',
      accessKeyId: 'AKID',
      date: '20241228',
      region: 'eu-west-1',
      service: 'sts',
      timestamp: '20241228T140613Z',
      signedHeaders: ['host', 'x-k8s-aws-id'],
      signature: '',
      sessionToken: undefined,
      presigned: true,
    };
    const payload = createHash('sha256').update('').digest('hex');
    const signature = signatureOf(request, signed, SECRET, payload);
    const asked = { ...request, query: `${query}&X-Amz-Signature=${signature}` };
    expect((await handle(asked)).status).toBe(200);
    const other = { ...asked, headers: { ...asked.headers, 'x-k8s-aws-id': 'other' } };
    expect((await handle(other)).status).toBe(403);
  });

  it('needs no signature for web identities, but for all else of STS', async () => {
    const body =
      'Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName=session' +
      '&RoleArn=arn:aws:iam::123456789012:role/r&WebIdentityToken=token';
    const response = await handle(unsigned({ headers: FORM, body }));
    expect(response.status).toBe(200);
    expect(records.at(-1)?.ctx.principal.type).toBe('Anonymous');
  });
});
