// Service Quotas and their usage, from a server that answers as AWS does.
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { provisioningBefore } from '../../../test/builders/adapters-aws.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const apiWith = async (answer: Parameters<typeof provisioningBefore>[0]) => {
  const before = await provisioningBefore(answer);
  cleanups.push(before.end);
  return before;
};
const json =
  (status: number, body: object | string) =>
  (response: ServerResponse): void => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(text);
  };
const standard = { service: 'ec2', code: 'L-1216C47A' };

describe('a service quota', () => {
  it('is asked for in JSON 1.1, signed for Service Quotas', async () => {
    const { api, asked, port } = await apiWith(
      json(200, { Quota: { QuotaCode: 'L-1216C47A', QuotaName: 'Running', Value: 64.0 } }),
    );
    expect(await api.serviceQuota(standard)).toEqual({
      code: 'L-1216C47A',
      name: 'Running',
      value: 64,
    });
    const [{ headers, body } = { headers: {}, body: '' }] = asked;
    expect(JSON.parse(body)).toEqual({ ServiceCode: 'ec2', QuotaCode: 'L-1216C47A' });
    expect(headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'ServiceQuotasV20190624.GetServiceQuota',
      'x-amz-security-token': 'token',
    });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-west-1\/servicequotas\/aws4_request, /,
    );
  });

  it('is undefined where the service has none of the code, or tells no value', async () => {
    const none = await apiWith(
      json(400, { __type: 'com.amazonaws.servicequotas#NoSuchResourceException', Message: 'no' }),
    );
    expect(await none.api.serviceQuota(standard)).toBeUndefined();
    const empty = await apiWith(json(200, {}));
    expect(await empty.api.serviceQuota(standard)).toBeUndefined();
  });

  it.each([
    [400, { __type: 'AccessDeniedException', Message: 'not authorized' }, 'AccessDenied'],
    [429, { __type: 'TooManyRequestsException', Message: 'slow down' }, 'Throttled'],
    [502, '<html>a proxy</html>', 'ServerError'],
  ] as const)('of status %i is an error of the cloud', async (status, body, code) => {
    const { api } = await apiWith(json(status, body));
    const refused = api.serviceQuota(standard);
    await expect(refused).rejects.toMatchObject({ name: 'CloudError', code });
    await expect(refused).rejects.toThrow(/^GetServiceQuota: /);
  });
});

const instance = (type: string, more = ''): string =>
  `<item><instancesSet><item><instanceType>${type}</instanceType>${more}</item></instancesSet></item>`;
const page = (items: string, next = ''): string =>
  `<DescribeInstancesResponse><reservationSet>${items}</reservationSet>${next}</DescribeInstancesResponse>`;

describe('what counts against quotas of vCPUs', () => {
  it('is what is pending or running, page by page, but for hosts and blocks of their own', async () => {
    const { api, asked } = await apiWith((response, { body }) => {
      response.writeHead(200, { 'content-type': 'text/xml' });
      response.end(
        new URLSearchParams(body).has('NextToken')
          ? page(instance('m5.large', '<placement><tenancy>host</tenancy></placement>'))
          : page(
              instance('m5.large', '<placement><tenancy>default</tenancy></placement>') +
                instance('c5.large', '<instanceLifecycle>spot</instanceLifecycle>') +
                instance('p5.48xlarge', '<instanceLifecycle>capacity-block</instanceLifecycle>'),
              '<nextToken>more</nextToken>',
            ),
      );
    });
    expect(await api.countedInstances()).toEqual([
      { instanceType: 'm5.large', isSpot: false },
      { instanceType: 'c5.large', isSpot: true },
    ]);
    expect(asked).toHaveLength(2);
    const query = new URLSearchParams(asked[0]?.body);
    expect(query.get('Filter.1.Name')).toBe('instance-state-name');
    expect([query.get('Filter.1.Value.1'), query.get('Filter.1.Value.2')]).toEqual([
      'pending',
      'running',
    ]);
  });
});
