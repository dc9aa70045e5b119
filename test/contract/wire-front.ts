// The dispatcher of wire behind a plain HTTP server with fixed answers, as an endpoint for real
// clients. Records the requests; knows nothing of a world.
import { createServer } from 'node:http';
import { type AwsCallRecord, createAwsDispatcher } from '../../src/aws-wire/index.ts';
import { CANNED } from './wire-canned.ts';

export const accessKey = 'AKIDWIRETEST';
export const secretKey = 'wire/Secret+Key=1';
export const account = '123456789012';
export const principal = {
  type: 'IAMUser',
  accountId: account,
  arn: `arn:aws:iam::${account}:user/tester`,
  principalId: 'AIDATESTER',
  userName: 'tester',
} as const;

export interface WireFront {
  readonly endpoint: string;
  readonly calls: readonly AwsCallRecord[];
  /** Canned answers that do not match their model. */
  readonly defects: readonly string[];
  /** HTTP requests per marker `wire-test-...` in the user agent. */
  readonly requestCounts: ReadonlyMap<string, number>;
  /** The input of the last call of an operation. */
  lastInput(operation: string): unknown;
  stop(): Promise<void>;
}

export const startWireFront = async (handlers = CANNED): Promise<WireFront> => {
  const calls: AwsCallRecord[] = [];
  const defects: string[] = [];
  const requestCounts = new Map<string, number>();
  let serial = 0;
  const dispatcher = createAwsDispatcher({
    handlers,
    authenticate: (key) =>
      key === accessKey ? { secretAccessKey: secretKey, principal } : undefined,
    now: () => 1_735_394_773_000,
    nextRequestId: () => `00000000-0000-4000-8000-${String(serial++).padStart(12, '0')}`,
    onCall: (record) => calls.push(record),
    onDefect: (error) => defects.push(error.message),
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const agent = headers['x-test'] ?? headers['user-agent'] ?? '';
      const marker = /wire-test-[\w-]+/.exec(agent)?.[0];
      if (marker !== undefined) requestCounts.set(marker, (requestCounts.get(marker) ?? 0) + 1);
      const answer = await dispatcher.handle({
        method: request.method ?? 'GET',
        path,
        query,
        headers,
        body: Buffer.concat(chunks),
        remoteAddress: '127.0.0.1',
      });
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    calls,
    defects,
    requestCounts,
    lastInput: (operation) => calls.findLast((call) => call.operation === operation)?.input,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
