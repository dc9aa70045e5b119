// The connection to the server: exchanges the link's key for a cookie, loads the snapshot, follows
// the stream, and reconnects after a loss: from the last position in the stream, else with a new
// snapshot.
import { signal } from '@preact/signals';
import type { PageDelta, PageSnapshot, PageTime } from '../../src/api/page.ts';
import { setTime } from './clock.ts';
import { applyDelta, applySnapshot } from './store.ts';

export type Connection = 'connecting' | 'live' | 'stale' | 'lost' | 'refused';
export const connection = signal<Connection>('connecting');
/** Why the connection is not live. */
export const problem = signal('');
/** How a reader signs in: by the link with its key, or with a token. */
export const signIn = signal<'link' | 'token'>('link');
/** performance.now() of the last message from the server. */
export const heardAt = signal(0);

const base = '/page/v1/';
/** The server beats every two seconds. */
const staleAfterMs = 6_000;
const lostAfterMs = 15_000;
const firstRetryMs = 500;
const longestRetryMs = 5_000;
/** The version of the server's documents that this page understands. */
const ownVersion = 1;

let stream: EventSource | undefined;
let retryMs = firstRetryMs;
let retryTimer: ReturnType<typeof setTimeout> | undefined;

export class Refused extends Error {
  readonly status: number;
  readonly signIn: 'link' | 'token';
  constructor(status: number, message: string, how: 'link' | 'token' = 'link') {
    super(message);
    this.status = status;
    this.signIn = how;
  }
}

const answerOf = async <T>(response: Response): Promise<T> => {
  if (response.ok) return (await response.json()) as T;
  const text = await response.text();
  let answer: { error?: string; signIn?: 'link' | 'token' } = {};
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    // The answer is not JSON, so its text is the reason.
  }
  throw new Refused(response.status, String(answer.error ?? text), answer.signIn);
};

export const read = async <T>(name: string, query: Record<string, string> = {}): Promise<T> => {
  const text = new URLSearchParams(query).toString();
  const address = `${base}${name}${text === '' ? '' : `?${text}`}`;
  return answerOf<T>(await fetch(address, { cache: 'no-store' }));
};

/** `bearer`: the caller's own token, where the server asks for one. */
export const write = async <T>(name: string, body: object, bearer?: string): Promise<T> => {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-drover-page': '1',
  };
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`;
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return answerOf<T>(await fetch(`${base}${name}`, init));
};

const heard = (): void => {
  heardAt.value = performance.now();
  if (connection.peek() !== 'live') {
    connection.value = 'live';
    problem.value = '';
  }
  retryMs = firstRetryMs;
};

const close = (): void => {
  stream?.close();
  stream = undefined;
};

const again = (why: string): void => {
  close();
  connection.value = 'lost';
  problem.value = why;
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => void load(), retryMs);
  retryMs = Math.min(longestRetryMs, retryMs * 2);
};

const follow = (id: string): void => {
  close();
  const source = new EventSource(`${base}events?from=${encodeURIComponent(id)}`);
  stream = source;
  source.addEventListener('open', heard);
  source.addEventListener('delta', ({ data }: MessageEvent<string>) => {
    heard();
    applyDelta(JSON.parse(data) as PageDelta);
  });
  source.addEventListener('beat', ({ data }: MessageEvent<string>) => {
    heard();
    setTime(JSON.parse(data) as PageTime);
  });
  source.addEventListener('resync', () => {
    close();
    void load();
  });
  source.addEventListener('error', () => {
    if (stream !== source) return;
    // The browser reconnects by itself, from the last position, unless the server refused.
    if (source.readyState === EventSource.CLOSED) again('the server closed the stream');
    else {
      connection.value = 'lost';
      problem.value = 'no answer from the server';
    }
  });
};

const load = async (): Promise<void> => {
  try {
    const snapshot = await read<PageSnapshot>('snapshot');
    if (snapshot.version !== ownVersion) {
      // Another version of Drover answers: it brings its own page.
      location.reload();
      return;
    }
    applySnapshot(snapshot);
    heard();
    follow(snapshot.id);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      close();
      connection.value = 'refused';
      signIn.value = error.signIn;
      problem.value = error.message;
      return;
    }
    again(error instanceof Refused ? error.message : 'no answer from the server');
  }
};

/** Signs in with the reader's own token; puts the reason for a refusal in `problem`. */
export const signInWith = async (token: string): Promise<void> => {
  try {
    await write('session', {}, token);
    connection.value = 'connecting';
    await load();
  } catch (error) {
    problem.value = error instanceof Error ? error.message : 'no answer from the server';
  }
};

/** The key is removed from the address before any other script can read it. */
const exchangeKey = async (): Promise<void> => {
  const key = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  history.replaceState(null, '', '#/');
  try {
    await write('session', {}, key);
  } catch (error) {
    problem.value = error instanceof Error ? error.message : '';
  }
};

const watch = (): void => {
  setInterval(() => {
    const silentMs = performance.now() - heardAt.peek();
    const state = connection.peek();
    if (state === 'live' && silentMs > staleAfterMs) connection.value = 'stale';
    if (state === 'stale' && silentMs > lostAfterMs) again('the server has fallen silent');
  }, 1_000);
};

export const connect = async (): Promise<void> => {
  await exchangeKey();
  watch();
  await load();
};
