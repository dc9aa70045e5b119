// Listing EKS access entries from a server on this machine: a few at a time, retries when
// throttled, policies for every type of entry.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { Clock } from '../../ports/index.ts';
import { createAwsProvisioning } from './index.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const arnOf = (n: number): string => `arn:aws:iam::111122223333:role/r${n}`;
const json = (response: ServerResponse, body: object, status = 200, type = ''): void => {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
    .end(JSON.stringify(body));
};
type Kind = 'list' | 'describe' | 'policies';
const kindOf = (path: string): Kind => {
  if (path.endsWith('/access-policies')) return 'policies';
  return path.endsWith('/access-entries') ? 'list' : 'describe';
};

const afterTurns = (turns: number, then: () => void): void =>
  void setImmediate(() => (turns === 0 ? then() : afterTurns(turns - 1, then)));

/** `refusal` may answer in place of the server. */
const eksWith = async (facts: {
  readonly entries: number;
  readonly type: string;
  readonly policies?: readonly object[];
  readonly refusal?: (kind: Kind, response: ServerResponse) => boolean;
}) => {
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const kind = kindOf(path);
    open += 1;
    most = Math.max(most, open);
    // Delays the answer, so that all concurrent requests are present together.
    afterTurns(100, () => {
      open -= 1;
      if (facts.refusal?.(kind, response) === true) return;
      if (kind === 'policies') return json(response, { associatedAccessPolicies: facts.policies });
      if (kind === 'list') {
        const accessEntries = Array.from({ length: facts.entries }, (_, n) => arnOf(n));
        return json(response, { accessEntries });
      }
      json(response, { accessEntry: { type: facts.type, username: 'u' } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const slept: number[] = [];
  const clock: Clock = {
    now: () => epochMs(0),
    sleep: async (duration) => void slept.push(duration),
  };
  const api = createAwsProvisioning(
    {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    },
    clock,
  );
  return { api, slept, most: () => most };
};

const throttle = (response: ServerResponse): void =>
  json(response, { message: 'Rate exceeded' }, 429, 'ThrottlingException');

describe('a list of access entries', () => {
  it('asks for a few entries at a time and keeps their order', async () => {
    const { api, most } = await eksWith({ entries: 30, type: 'STANDARD', policies: [] });
    const found = await api.listAccessEntries('c');
    expect(found?.map(({ principalArn }) => principalArn)).toEqual(
      Array.from({ length: 30 }, (_, n) => arnOf(n)),
    );
    expect(most()).toBeLessThanOrEqual(4);
  });

  it.each(['list', 'describe', 'policies'] as const)(
    'asks again, later each time, for what is throttled: %s',
    async (throttled) => {
      let left = 3;
      const { api, slept } = await eksWith({
        entries: 1,
        type: 'STANDARD',
        policies: [],
        refusal: (kind, response) => {
          if (kind !== throttled || left === 0) return false;
          left -= 1;
          throttle(response);
          return true;
        },
      });
      expect(await api.listAccessEntries('c')).toHaveLength(1);
      expect(slept).toEqual([500, 1_000, 2_000]);
    },
  );

  it('gives up on what stays throttled, and asks never again for what is refused', async () => {
    const refusing = (refuse: (response: ServerResponse) => void) =>
      eksWith({
        entries: 1,
        type: 'STANDARD',
        refusal: (_, response) => {
          refuse(response);
          return true;
        },
      });
    const busy = await refusing(throttle);
    await expect(busy.api.listAccessEntries('c')).rejects.toMatchObject({ code: 'Throttled' });
    expect(busy.slept).toHaveLength(5);
    const shut = await refusing((response) =>
      json(response, { message: 'no' }, 403, 'AccessDeniedException'),
    );
    await expect(shut.api.listAccessEntries('c')).rejects.toMatchObject({ code: 'AccessDenied' });
    expect(shut.slept).toEqual([]);
  });

  it.each(['STANDARD', 'EC2'])('shows the policies of an entry of type %s', async (type) => {
    const policyArn = 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy';
    const { api } = await eksWith({
      entries: 1,
      type,
      policies: [{ policyArn, accessScope: { type: 'cluster', namespaces: [] } }],
    });
    expect(await api.listAccessEntries('c')).toMatchObject([
      { type, policies: [{ policyArn, scope: 'cluster' }] },
    ]);
  });

  it('has no policies where EKS says that a type of entry takes none', async () => {
    const { api } = await eksWith({
      entries: 1,
      type: 'EC2_LINUX',
      refusal: (kind, response) => {
        if (kind !== 'policies') return false;
        json(response, { message: 'not for this type' }, 400, 'InvalidRequestException');
        return true;
      },
    });
    expect(await api.listAccessEntries('c')).toMatchObject([{ type: 'EC2_LINUX', policies: [] }]);
  });
});
