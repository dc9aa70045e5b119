// Informers of @kubernetes/client-node during an hour of world time: streams that the server ends,
// expired resource versions, a world that is killed and restarted. At the end each cache equals a
// fresh list. The informers retry the errors that they report themselves.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  ListWatch,
  Watch,
} from '@kubernetes/client-node';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);

/**
 * The number of changes of a kind that the server keeps; more of them in one pause expire a
 * version.
 */
const historySize = 8192;

type List = KubernetesListObject<KubernetesObject>;

/** client-node's own watch, which also counts the events that it received. */
class CountingWatch extends Watch {
  readonly opened: string[] = [];
  bookmarks = 0;
  /** Resource versions that had expired, reported in a stream or as an answer. */
  gone = 0;
  readonly #more: Readonly<Record<string, string>>;

  constructor(config: KubeConfig, more: Readonly<Record<string, string>>) {
    super(config);
    this.#more = more;
  }

  override watch(
    path: string,
    query: Parameters<Watch['watch']>[1],
    callback: Parameters<Watch['watch']>[2],
    done: Parameters<Watch['watch']>[3],
  ): ReturnType<Watch['watch']> {
    this.opened.push(String(query.resourceVersion ?? ''));
    const count: typeof callback = (phase, object, whole) => {
      if (phase === 'BOOKMARK') this.bookmarks += 1;
      if (phase === 'ERROR' && object?.code === 410) this.gone += 1;
      callback(phase, object, whole);
    };
    return super.watch(path, { ...query, ...this.#more }, count, done);
  }
}

interface Informing {
  readonly name: string;
  readonly informer: ListWatch<KubernetesObject>;
  readonly watch: CountingWatch;
  readonly list: () => Promise<List>;
  readonly errors: string[];
  /** Closes its stream; its cache and resource version remain. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

interface Wanted {
  readonly name: string;
  readonly path: string;
  readonly list: () => Promise<List>;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Parameters in addition to those that client-node sends itself. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Restarted when it reports an error, as its documentation recommends. */
const inform = async (config: KubeConfig, wanted: Wanted): Promise<Informing> => {
  const watch = new CountingWatch(config, wanted.query ?? {});
  const { path, list, labelSelector, fieldSelector } = wanted;
  const informer = new ListWatch(path, watch, list, false, labelSelector, fieldSelector, {
    delayFn: () => new Promise((resolve) => setTimeout(resolve, 20)),
  });
  const errors: string[] = [];
  let paused = false;
  informer.on('error', (error: unknown) => {
    if (paused) return;
    errors.push(String(error));
    setTimeout(() => {
      if (!paused) void informer.start();
    }, 100).unref();
  });
  await informer.start();
  return {
    name: wanted.name,
    informer,
    watch,
    list,
    errors,
    pause: async () => {
      paused = true;
      await informer.stop();
    },
    resume: async () => {
      paused = false;
      await informer.start();
    },
  };
};

const keysOf = (objects: readonly KubernetesObject[]): readonly string[] =>
  objects
    .map(({ metadata = {} }) =>
      [metadata.namespace ?? '', metadata.name, metadata.uid, metadata.resourceVersion].join('/'),
    )
    .sort();

const namespaceOfChurn = 'churn';

const wantedOf = (config: KubeConfig): readonly Wanted[] => {
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);
  const nodegroups = { group: 'drover.dev', version: 'v1alpha1', plural: 'nodegroups' };
  const labelSelector = 'app=nginx-demo';
  const fieldSelector = 'status.phase=Running';
  const churned = { namespace: namespaceOfChurn };
  return [
    { name: 'nodes', path: '/api/v1/nodes', list: () => core.listNode() },
    { name: 'pods', path: '/api/v1/pods', list: () => core.listPodForAllNamespaces() },
    {
      name: 'pods by label',
      path: '/api/v1/pods',
      labelSelector,
      list: () => core.listPodForAllNamespaces({ labelSelector }),
    },
    {
      name: 'running pods, with bookmarks',
      path: '/api/v1/pods',
      fieldSelector,
      list: () => core.listPodForAllNamespaces({ fieldSelector }),
      query: { allowWatchBookmarks: 'true' },
    },
    {
      name: 'node groups',
      path: '/apis/drover.dev/v1alpha1/nodegroups',
      list: async () => (await custom.listClusterCustomObject(nodegroups)) as List,
    },
    {
      name: 'pods of one namespace',
      path: `/api/v1/namespaces/${namespaceOfChurn}/pods`,
      list: () => core.listNamespacedPod(churned),
    },
  ];
};

/** Pods that are never scheduled: each is one change when created and one when deleted. */
const gated = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: gated, namespace: ${namespaceOfChurn}}
spec:
  replicas: 3
  selector: {matchLabels: {app: gated}}
  template:
    metadata: {labels: {app: gated}}
    spec:
      schedulingGates: [{name: example.org/wait}]
      containers: [{name: c, image: busybox}]
`;

describe('informers of @kubernetes/client-node', {
  skip: skipWhen('informers of @kubernetes/client-node', whyNot),
  timeout: 300_000,
}, () => {
  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  let world: ServedWorld;
  let kubectl: Steps;
  const informing: Informing[] = [];

  before(async () => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    await kubectl.ok(`create namespace ${namespaceOfChurn}`);
    await kubectl.okWith(gated, 'apply -f -');
    assert.equal((await world.drover('world', 'advance', '10s')).code, 0);
    const config = new KubeConfig();
    config.loadFromFile(String(world.env.KUBECONFIG));
    for (const wanted of wantedOf(config)) informing.push(await inform(config, wanted));
  });
  // Before the world stops, so that no informer sends requests to it.
  after(() => Promise.all(informing.map(({ pause }) => pause())));

  const of = (name: string): Informing => {
    const found = informing.find((one) => one.name === name);
    return found ?? assert.fail(`no informer of ${name}`);
  };

  const allCaughtUp = async (): Promise<void> => {
    for (const { name, informer, list } of informing) {
      await eventually(`the informer of ${name} to hold what a list shows`, async () => {
        const fresh = keysOf((await list()).items);
        return isDeepStrictEqual(keysOf(informer.list()), fresh) ? true : undefined;
      });
    }
  };

  /** Five minutes of world time, with changes before and after it. */
  const fiveMinutes = async (step: number): Promise<void> => {
    await kubectl.ok(`label nodes --all step=${step} --overwrite`);
    await kubectl.ok(`scale deployment nginx-demo-deployment -n demo --replicas=${2 + (step % 4)}`);
    assert.equal((await world.drover('world', 'advance', '5m')).code, 0);
    await kubectl.ok(`annotate nodegroups --all step=${step} --overwrite`);
  };

  it('hold what a list shows at once, each with its selector', async () => {
    await allCaughtUp();
    assert.ok(of('nodes').informer.list().length >= 3);
    assert.ok(of('node groups').informer.list().length >= 2);
    const [all, labelled] = [of('pods'), of('pods by label')].map((one) => one.informer.list());
    assert.ok((labelled?.length ?? 0) > 0 && (labelled?.length ?? 0) < (all?.length ?? 0));
  });

  it('follow half an hour of changes, and are reported by bookmarks where they are', async () => {
    for (let step = 1; step <= 6; step++) await fiveMinutes(step);
    await allCaughtUp();
    assert.ok(of('running pods, with bookmarks').watch.bookmarks >= 20);
    assert.equal(of('nodes').watch.bookmarks, 0, 'nobody asked for these');
  });

  it('list again when the world was killed and knows their versions no longer', async () => {
    await world.kill();
    await world.restart();
    // The informers must not miss changes that were made while they were disconnected.
    await kubectl.ok('delete pods -n demo -l app=nginx-demo --wait=false');
    await fiveMinutes(7);
    await allCaughtUp();
    for (const { name, errors } of informing) {
      assert.ok(errors.length > 0, `the informer of ${name} noticed nothing of the restart`);
    }
    assert.ok(of('pods').watch.gone > 0, 'the pods of before the restart were still known');
  });

  it('list again when more has changed meanwhile than the server remembers', async () => {
    const away = of('pods of one namespace');
    const before = away.watch.gone;
    await away.pause();
    const scale = `scale deployment gated -n ${namespaceOfChurn}`;
    for (const replicas of [historySize / 2 + 100, 2]) {
      await kubectl.ok(`${scale} --replicas=${replicas}`);
      assert.equal((await world.drover('world', 'advance', '2m')).code, 0);
    }
    await away.resume();
    await allCaughtUp();
    assert.equal(away.watch.gone, before + 1);
    assert.equal(away.informer.list().length, 2);
  });

  it('end the hour with what a list shows, after every stream was ended at least once', async () => {
    for (let step = 8; step <= 13; step++) await fiveMinutes(step);
    await allCaughtUp();
    for (const { name, watch } of informing) {
      assert.ok(watch.opened.length >= 3, `${name}: ${watch.opened.length} streams in an hour`);
    }
  });
});
