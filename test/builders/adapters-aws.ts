// For the tests of the AWS adapter only: the provisioning port before a server on loopback that
// answers as AWS does, and what was asked of it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAwsProvisioning } from '../../src/adapters/aws/index.ts';
import type { Clock } from '../../src/ports/index.ts';

export interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** `end` closes the server and its connections. */
export const provisioningBefore = async (
  answer: (response: ServerResponse, asked: Asked) => void,
) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const one = { headers: request.headers, body: Buffer.concat(parts).toString() };
    asked.push(one);
    answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  const options = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 'b', sessionToken: 'token' },
  };
  return { api: createAwsProvisioning(options, {} as Clock), asked, port, end };
};
