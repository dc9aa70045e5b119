// Contract cases: watches from a version, through selectors, to bookmarks and expiry.
import assert from 'node:assert/strict';
import type { KubeObject, ResourceType } from '../../src/api/kube.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import {
  KubeError,
  type ListOptions,
  type WatchEvent,
  type WatchStart,
} from '../../src/ports/index.ts';
import { type ContractCase, type ContractEnv, eventually, fails } from './kube-api-env.ts';
import { serveWidgets } from './kube-api-objects.ts';

const { configmaps } = resourceTypes;
type Event = WatchEvent<KubeObject>;

interface Watching {
  readonly events: readonly Event[];
  /** Waits for `count` changes (without bookmarks) and returns them as `TYPE name`. */
  changes(count: number): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const watching = (
  { api }: ContractEnv,
  type: ResourceType,
  options: Omit<ListOptions, 'resourceVersion'> & WatchStart,
): Watching => {
  const controller = new AbortController();
  const events: Event[] = [];
  let failure: unknown;
  const follow = (async () => {
    try {
      const { signal } = controller;
      for await (const event of api.watch(type, { ...options, signal })) events.push(event);
    } catch (error) {
      if (!controller.signal.aborted) failure = error;
    }
  })();
  const told = (): readonly string[] =>
    events.flatMap((event) =>
      event.type === 'BOOKMARK' ? [] : [`${event.type} ${event.object.metadata.name}`],
    );
  return {
    events,
    changes: async (count) => {
      await eventually(`${count} changes`, async () => {
        if (failure !== undefined) throw failure;
        return told().length >= count ? true : undefined;
      });
      return told();
    },
    stop: async () => {
      controller.abort();
      await follow;
      if (failure !== undefined) throw failure;
    },
  };
};

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'replays what came after a version, then goes on with what comes': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const create = (name: string): Promise<unknown> =>
      api.create(configmaps, { metadata: { name } }, { namespace });
    await create('before');
    const { resourceVersion } = await api.list(configmaps, { namespace });
    await create('a');
    await api.patch(
      configmaps,
      { namespace, name: 'a' },
      { type: 'merge', body: { data: { k: 'v' } } },
    );
    await api.delete(configmaps, { namespace, name: 'a' });
    const fieldSelector = 'metadata.name!=kube-root-ca.crt';
    const watch = watching(env, configmaps, { namespace, resourceVersion, fieldSelector });
    const replayed = await watch.changes(3);
    assert.deepEqual(replayed, ['ADDED a', 'MODIFIED a', 'DELETED a']);
    await create('b');
    assert.deepEqual((await watch.changes(4)).slice(3), ['ADDED b']);
    await watch.stop();
    const versions = watch.events.map((event) =>
      Number(
        event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion,
      ),
    );
    assert.deepEqual(
      versions,
      [...versions].sort((one, other) => one - other),
    );
    const [first] = watch.events;
    assert.ok(first !== undefined && first.type !== 'BOOKMARK');
    assert.equal(first.object.kind, 'ConfigMap');
    assert.ok(Number(first.object.metadata.resourceVersion) > Number(resourceVersion));
  },

  'tells objects that enter and leave a selection as added and deleted': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const { resourceVersion } = await api.list(configmaps, { namespace });
    const labelSelector = 'in=yes';
    const watch = watching(env, configmaps, { namespace, resourceVersion, labelSelector });
    const name = { namespace, name: 'x' };
    const label = (value: string | null): Promise<unknown> =>
      api.patch(configmaps, name, { type: 'merge', body: { metadata: { labels: { in: value } } } });
    await api.create(configmaps, { metadata: { name: 'x' } }, { namespace });
    await label('yes');
    await api.patch(configmaps, name, { type: 'merge', body: { data: { k: 'v' } } });
    await label(null);
    await label('no');
    await label('yes');
    await api.delete(configmaps, name);
    assert.deepEqual(await watch.changes(5), [
      'ADDED x',
      'MODIFIED x',
      'DELETED x',
      'ADDED x',
      'DELETED x',
    ]);
    await watch.stop();
  },

  'begins with the present objects and a bookmark that ends them': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const create = (name: string): Promise<unknown> =>
      api.create(configmaps, { metadata: { name } }, { namespace });
    await create('a');
    await create('b');
    const { resourceVersion } = await api.list(configmaps, { namespace });
    const fieldSelector = 'metadata.name!=kube-root-ca.crt';
    const start = { sendInitialEvents: true, namespace, fieldSelector } as const;
    const watch = watching(env, configmaps, start);
    try {
      await watch.changes(2);
    } catch (error) {
      // An etcd without progress requests, such as Debian's 3.4.23: informers list instead.
      assert.ok(error instanceof KubeError && error.code === 'ServerError', String(error));
      return;
    }
    await create('c');
    const changes = await watch.changes(3);
    await watch.stop();
    assert.deepEqual(changes.slice(0, 2).toSorted(), ['ADDED a', 'ADDED b']);
    assert.equal(changes[2], 'ADDED c');
    const third = watch.events[2];
    assert.ok(third?.type === 'BOOKMARK' && third.endsInitial === true);
    assert.ok(Number(third.resourceVersion) >= Number(resourceVersion));
  },

  'stamps the removal of a pod with its own time': async (env) => {
    const { api } = env;
    const namespace = await env.namespace();
    const { pods, nodes } = resourceTypes;
    const nodeName = `stamps-${namespace}`;
    await api.create(nodes, { metadata: { name: nodeName } });
    const container = { name: 'c', image: 'example/c:1' };
    const spec = { nodeName, containers: [container], terminationGracePeriodSeconds: 30 };
    await api.create(pods, { metadata: { name: 'p' }, spec }, { namespace });
    const fieldSelector = `spec.nodeName=${nodeName}`;
    const { resourceVersion } = await api.list(pods, { namespace });
    const watch = watching(env, pods, { resourceVersion, namespace, fieldSelector });
    const askedAt = Date.now();
    await api.delete(pods, { namespace, name: 'p' });
    await eventually('the next second', async () => Date.now() - askedAt > 1_100 || undefined);
    await api.delete(pods, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await eventually('the removal', async () => {
      const last = watch.events.at(-1);
      return last?.type === 'DELETED' ? true : undefined;
    });
    await watch.stop();
    await api.delete(nodes, { name: nodeName });
    const stamps = watch.events.flatMap((event) => {
      if (event.type === 'BOOKMARK' || event.type === 'ADDED') return [];
      const { deletionTimestamp, deletionGracePeriodSeconds } = event.object.metadata;
      return [Date.parse(deletionTimestamp ?? '') - (deletionGracePeriodSeconds ?? 0) * 1000];
    });
    assert.ok((stamps.at(-1) ?? 0) > (stamps[0] ?? 0), String(stamps));
  },

  'refuses to watch from a version before the kind was served': async (env) => {
    const widgets = await serveWidgets(env);
    await env.api.create(widgets, { metadata: { name: 'w1' }, spec: { size: 1 } });
    const failed = (async () => {
      for await (const _ of env.api.watch(widgets, { resourceVersion: '1' })) break;
    })();
    await fails('Expired', failed);
  },

  'ends a watch that the caller gives up': async ({ api }) => {
    const { resourceVersion } = await api.list(configmaps);
    const controller = new AbortController();
    const options = { resourceVersion, signal: controller.signal };
    const next = api.watch(configmaps, options)[Symbol.asyncIterator]().next();
    controller.abort(new Error('enough'));
    await assert.rejects(next, /enough/);
  },
};

const bookmarks: ContractCase = {
  name: 'sends bookmarks on a quiet watch within two minutes',
  slow: true,
  run: async (env) => {
    const namespace = await env.namespace();
    const { resourceVersion } = await env.api.list(configmaps, { namespace });
    const fieldSelector = 'metadata.name=nothing';
    const signal = AbortSignal.timeout(120_000);
    const options = { namespace, resourceVersion, fieldSelector, signal };
    for await (const event of env.api.watch(configmaps, options)) {
      assert.equal(event.type, 'BOOKMARK');
      assert.ok(event.type === 'BOOKMARK' && Number(event.resourceVersion) > 0);
      return;
    }
    assert.fail('the watch ended without a bookmark');
  },
};

export const watchCases: readonly ContractCase[] = [
  ...Object.entries(cases).map(([name, run]) => ({ name, run })),
  bookmarks,
];
