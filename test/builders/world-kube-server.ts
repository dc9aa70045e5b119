// Builders for tests of world/kube/server: a server with a few namespaces, requests in a client's
// form, and a watch whose frames are collected. Used by tests only.
import { defined } from '../../src/api/defined.ts';
import type { Json, JsonObject } from '../../src/api/json.ts';
import type { ApiRequest, ApiResponse, WatchFrame } from '../../world/contracts.ts';
import { Kernel, microsPerSecond } from '../../world/kernel/index.ts';
import { metadataOf, type Stored } from '../../world/kube/server/objects.ts';
import { createKubeApiServer } from '../../world/kube/server/server.ts';
import { defaultPrinter, printers } from '../../world/kube/tables/index.ts';

export const startAt = Date.parse('2026-01-01T00:00:00Z') * 1000;

export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CollectedWatch {
  readonly frames: WatchFrame[];
  /** `ADDED n1`, in order. */
  readonly lines: () => readonly string[];
  readonly ended: () => boolean;
  readonly stop: () => void;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export class TestWorld {
  readonly kernel: Kernel;
  readonly audit: JsonObject[] = [];
  readonly api;

  constructor(
    options: {
      readonly watchHistory?: number;
      readonly managers?: boolean;
      readonly kernel?: Kernel;
    } = {},
  ) {
    this.kernel = options.kernel ?? new Kernel({ seed: 7, startAt });
    this.api = createKubeApiServer({
      kernel: this.kernel,
      audit: (event) => this.audit.push(event),
      version: () => ({ gitVersion: 'v1.32.5-eks-1', major: '1', minor: '32' }),
      printers,
      defaultPrinter,
      ...defined({ watchHistory: options.watchHistory, managers: options.managers }),
    });
    if (options.kernel === undefined) {
      for (const name of ['default', 'demo']) this.post('/api/v1/namespaces', named(name));
    }
  }

  raw(
    method: ApiRequest['method'],
    url: string,
    more: Partial<Pick<ApiRequest, 'body' | 'contentType' | 'accept' | 'user'>> = {},
  ): ApiResponse {
    const [path = '', query = ''] = url.split('?', 2);
    return this.api.handle({
      method,
      path,
      query: new URLSearchParams(query),
      contentType: 'application/json',
      accept: 'application/json',
      user: { username: 'tester', groups: ['system:masters'] },
      userAgent: 'test/1',
      sourceIp: '127.0.0.1',
      ...more,
    });
  }

  send(
    method: ApiRequest['method'],
    url: string,
    more: Parameters<TestWorld['raw']>[2] = {},
  ): Answer {
    const response = this.raw(method, url, more);
    if (response.kind !== 'object') throw new Error(`${url} answered ${response.kind}`);
    return { code: response.status, body: response.body, headers: response.headers ?? {} };
  }

  get(url: string, accept = 'application/json'): Answer {
    return this.send('GET', url, { accept });
  }
  post(url: string, body: Json): Answer {
    return this.send('POST', url, { body });
  }
  put(url: string, body: Json): Answer {
    return this.send('PUT', url, { body });
  }
  patch(url: string, body: Json, type: keyof typeof patchTypes = 'merge'): Answer {
    return this.send('PATCH', url, { body, contentType: patchTypes[type] });
  }
  delete(url: string, body?: JsonObject): Answer {
    return this.send('DELETE', url, body === undefined ? {} : { body });
  }

  /** The stored pod, or undefined when it does not exist. */
  pod(name: string): Stored | undefined {
    return this.api.read({ group: '', resource: 'pods' }, { namespace: 'demo', name });
  }

  watch(url: string, accept = 'application/json'): CollectedWatch {
    const response = this.raw('GET', url, { accept });
    if (response.kind !== 'watch') throw new Error(`${url}: ${JSON.stringify(response)}`);
    const frames: WatchFrame[] = [];
    let over = false;
    const stop = response.open({
      frame: (frame) => frames.push(frame),
      end: () => {
        over = true;
      },
    });
    const line = (frame: WatchFrame): string =>
      `${frame.type} ${String(metadataOf(frame.object).name ?? frame.object.code ?? '')}`.trim();
    return { frames, lines: () => frames.map(line), ended: () => over, stop };
  }

  /** Runs everything due in the next `seconds` and advances the clock. */
  advance(seconds: number): void {
    const end = this.kernel.now() + seconds * microsPerSecond;
    for (let next = this.kernel.nextAt(); next !== undefined && next <= end; ) {
      this.kernel.step();
      next = this.kernel.nextAt();
    }
    this.kernel.advanceTo(end);
  }

  /** A pod in namespace demo; bound and Running by default. */
  aPod(
    name: string,
    more: {
      readonly labels?: JsonObject;
      readonly ready?: boolean;
      readonly phase?: string;
      readonly node?: string | null;
      readonly grace?: number;
      readonly finalizers?: readonly string[];
    } = {},
  ): Stored {
    const { labels = { app: 'web' }, ready = true, phase = 'Running', node = 'n1' } = more;
    const finalizers = more.finalizers === undefined ? {} : { finalizers: more.finalizers };
    const grace = more.grace === undefined ? {} : { terminationGracePeriodSeconds: more.grace };
    expectCode(
      this.post('/api/v1/namespaces/demo/pods', {
        metadata: { name, labels, ...finalizers },
        spec: { containers: [{ name: 'c', image: 'nginx' }], ...grace },
      }),
      201,
    );
    const item = `/api/v1/namespaces/demo/pods/${name}`;
    if (node !== null) {
      const target = { kind: 'Node', name: node };
      expectCode(this.post(`${item}/binding`, { metadata: { name }, target }), 201);
    }
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    expectCode(this.patch(`${item}/status`, { status: { phase, conditions } }), 200);
    const stored = this.pod(name);
    if (stored === undefined) throw new Error(`pod ${name} was not stored`);
    return stored;
  }

  /** A budget over app=web with the status that a disruption controller would write. */
  aBudget(name: string, status: JsonObject, spec: JsonObject = { maxUnavailable: 1 }): void {
    const url = '/apis/policy/v1/namespaces/demo/poddisruptionbudgets';
    const selector = { matchLabels: { app: 'web' } };
    expectCode(this.post(url, { metadata: { name }, spec: { selector, ...spec } }), 201);
    const full = { observedGeneration: 1, currentHealthy: 0, desiredHealthy: 0, ...status };
    expectCode(this.patch(`${url}/${name}/status`, { status: full }), 200);
  }

  budget(name: string): JsonObject {
    return this.get(`/apis/policy/v1/namespaces/demo/poddisruptionbudgets/${name}`).body;
  }
}

export const named = (name: string, more: JsonObject = {}): JsonObject => ({
  metadata: { name },
  ...more,
});

function expectCode(answer: Answer, code: number): void {
  if (answer.code !== code) throw new Error(`${answer.code}: ${JSON.stringify(answer.body)}`);
}
