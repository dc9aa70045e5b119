// EC2's instance metadata service, version 2: gets a token first, then the value. Never uses
// version 1, nor any host except the service's own addresses and loopback.
import { HostError, type MetadataApi } from '../../ports/index.ts';

const usual = 'http://169.254.169.254';
/** Link-local addresses of the service, and loopback for test doubles. */
const allowed: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '[fd00:ec2::254]',
  '127.0.0.1',
  '[::1]',
  'localhost',
]);

const tokenTtlSeconds = 300;
/** The service answers in milliseconds or does not exist. */
const answerTimeoutMs = 5_000;
/** The service may not be available yet while an instance boots. */
const attempts = 3;
const mostBytes = 1024 * 1024;

/** Why `endpoint` is not allowed; undefined when it is. */
export const endpointFault = (endpoint: string): string | undefined => {
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    return `${endpoint} is no URL`;
  }
  return url.protocol === 'http:' && allowed.has(url.hostname)
    ? undefined
    : `${endpoint} is no metadata service: http and ${[...allowed].join(', ')} only`;
};

const read = async (body: AsyncIterable<Uint8Array>, path: string): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > mostBytes) {
        throw new HostError(
          'no-metadata',
          `${path} of the metadata service is over ${mostBytes} bytes`,
        );
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HostError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const what = `${path} of the metadata service ends within its answer (${why})`;
    throw new HostError('no-metadata', what, { cause: error });
  }
  return Buffer.concat(chunks);
};

export const createMetadata = (endpoint: string = usual): MetadataApi => {
  const origin = endpoint.replace(/\/+$/, '');
  const ask = async (
    method: 'GET' | 'PUT',
    path: string,
    headers: Readonly<Record<string, string>>,
  ) => {
    for (let attempt = 1; ; attempt++) {
      try {
        // Only few processes need it: the others avoid undici's memory.
        const { request } = await import('undici');
        return await request(`${origin}/latest/${path}`, {
          method,
          headers,
          headersTimeout: answerTimeoutMs,
          bodyTimeout: answerTimeoutMs,
        });
      } catch (error) {
        if (attempt < attempts) continue;
        const why = error instanceof Error ? error.message : String(error);
        throw new HostError('no-metadata', `${origin} does not answer (${why})`, { cause: error });
      }
    }
  };
  let token: Promise<string> | undefined;
  const fetchToken = async (): Promise<string> => {
    const { statusCode, body } = await ask('PUT', 'api/token', {
      'x-aws-ec2-metadata-token-ttl-seconds': String(tokenTtlSeconds),
    });
    const bytes = await read(body, 'api/token');
    if (statusCode === 200) return new TextDecoder().decode(bytes);
    throw new HostError('metadata-refused', `${origin} gives no token (${statusCode})`);
  };
  return {
    get: async (path) => {
      token ??= fetchToken();
      const { statusCode, body } = await ask('GET', path, {
        'x-aws-ec2-metadata-token': await token,
      });
      const bytes = await read(body, path);
      if (statusCode === 200) return bytes;
      if (statusCode === 404) return undefined;
      throw new HostError('metadata-refused', `${origin} refuses ${path} (${statusCode})`);
    },
  };
};
