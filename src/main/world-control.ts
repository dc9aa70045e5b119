// Client of world control: HTTP to a running embedded world, with errors that name a remedy.
import { request } from 'undici';
import { type Json, type JsonObject, objectOr } from '../api/json.ts';
import { CommandError, exitCodes, type WorldControl } from '../cli/context.ts';

/** `url`: DROVER_URL with the token as password. */
export const createWorldControl = (url: string): WorldControl => {
  const parsed = new URL(url);
  const token = decodeURIComponent(parsed.password);
  const origin = `${parsed.protocol}//${parsed.host}`;
  const call = async (method: 'GET' | 'POST', path: string, body?: Json): Promise<JsonObject> => {
    let status: number;
    let answer: JsonObject;
    try {
      const response = await request(`${origin}/drover/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // An advance may take long and answers at its end.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      status = response.statusCode;
      answer = objectOr(await response.body.json());
    } catch (error) {
      throw new CommandError(
        exitCodes.failed,
        `no world answers at ${origin}: start one with \`drover up\`, or name its directory with ` +
          '--data-dir',
        { cause: error },
      );
    }
    if (status < 300) return answer;
    const code = status === 400 ? exitCodes.usage : exitCodes.failed;
    throw new CommandError(code, String(answer.error ?? `the world answered ${status}`));
  };
  return {
    status: () => call('GET', 'status'),
    advance: (seconds) => call('POST', 'advance', { seconds }),
    inject: (kind, target) => call('POST', 'inject', { kind, target }),
    clear: (kind) => call('POST', 'clear', kind === undefined ? {} : { kind }),
    network: (network) => call('POST', 'network', network),
    node: (name) => call('GET', `node?${new URLSearchParams({ name })}`),
    faultKinds: () => call('GET', 'faults'),
    page: () => call('GET', 'page'),
    down: () => call('POST', 'down', {}),
  };
};
