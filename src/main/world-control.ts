// Client of world control: HTTP to a running embedded world, with errors that name a remedy.
import { json } from 'node:stream/consumers';
import { type Json, type JsonObject, objectOr } from '../api/json.ts';
import { CommandError, exitCodes, type WorldControl } from '../cli/context.ts';

/** An import as a module also loads fetch and HTTP/2, which takes longer than the call. */
const http = process.getBuiltinModule('node:http');

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Without a time limit: an advance may take long and answers at its end. */
const exchange = (
  url: string,
  call: { readonly method: string; readonly token: string; readonly body: string | undefined },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${call.token}`, 'content-type': 'application/json' };
    const open = http.request(url, { method: call.method, headers }, (response) => {
      const status = response.statusCode ?? 0;
      json(response).then((body) => resolve({ status, body: objectOr(body) }), reject);
    });
    open.on('error', reject);
    open.end(call.body);
  });

/** `url`: DROVER_URL with the token as password. Throws CommandError unless it is http. */
export const createWorldControl = (url: string): WorldControl => {
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:') {
    throw new CommandError(
      exitCodes.usage,
      `DROVER_URL begins with ${parsed.protocol}//: an embedded world is served over http:// only`,
    );
  }
  const token = decodeURIComponent(parsed.password);
  const origin = `${parsed.protocol}//${parsed.host}`;
  const call = async (method: 'GET' | 'POST', path: string, body?: Json): Promise<JsonObject> => {
    let answer: Answer;
    try {
      answer = await exchange(`${origin}/drover/v1/${path}`, {
        method,
        token,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      throw new CommandError(
        exitCodes.failed,
        `no world answers at ${origin}: start one with \`drover up\`, or name its directory with ` +
          '--data-dir',
        { cause: error },
      );
    }
    const { status, body: told } = answer;
    if (status < 300) return told;
    const code = status === 400 ? exitCodes.usage : exitCodes.failed;
    throw new CommandError(code, String(told.error ?? `the world answered ${status}`));
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
