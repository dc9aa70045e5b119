// The stories of a version update, run in every arrangement with kubectl and drover only: the
// order of taints, labels and evictions, and two kinds of failure. The arrangement determines how
// time passes.

import assert from 'node:assert/strict';
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { type Arrangement, inArrangement, type Stage } from './arrangements.ts';
import { eventually, type ServedWorld } from './demo-world.ts';
import { type Steps, stepsOf } from './steps.ts';
import {
  bindingsOf,
  budget,
  type Deed,
  deedsOf,
  groupName,
  isWhole,
  type NodeTold,
  webApp,
} from './update-stories.ts';

export type Strategy = 'DEFAULT' | 'MINIMAL' | 'SURGE';

/** By the wall clock a node takes about two minutes; an upper bound, not a wait. */
const patienceMs = 1_200_000;
const maxRounds = 150;
const oneStep = 30;
const nodeCount = 3;
const drainSeconds = 60;
/** The demo's namespace, which is deleted from an existing cluster after the story. */
const namespace = 'demo';
/** How long a node may take to join, plus a margin. */
const joinMs = 16 * 60_000;

interface Group {
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Ended {
  readonly status: string;
  readonly errors?: readonly { readonly code: string; readonly message: string }[];
}

interface Began {
  readonly status: { readonly phases: readonly { readonly phase: string; readonly at: string }[] };
}

class StagedUpdate {
  readonly stage: Stage;
  readonly world: ServedWorld;
  readonly kubectl: Steps;
  readonly drover: Steps;

  constructor(stage: Stage) {
    const { world } = stage;
    this.stage = stage;
    this.world = world;
    this.kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    this.drover = stepsOf('drover', (args) => world.drover(...args));
  }

  async until<T>(what: string, holds: () => Promise<T | undefined>): Promise<T> {
    try {
      if (this.stage.arrangement !== 'one process') {
        return await eventually(what, holds, patienceMs);
      }
      for (let round = 0; round < maxRounds; round++) {
        const found = await holds();
        if (found !== undefined) return found;
        await this.stage.pass(oneStep);
      }
      throw new Error(`it did not come to be that ${what}`);
    } catch (error) {
      const { stdout } = await this.world.kubectl(
        'get',
        'nodegroups,nodegroupupdates',
        '-o',
        'yaml',
      );
      process.stderr.write(`${stdout}\n`);
      throw error;
    }
  }

  async json<T>(what: string): Promise<T> {
    return JSON.parse(await this.kubectl.ok(`get ${what} -o json`));
  }

  async nodes(): Promise<readonly NodeTold[]> {
    const list = await this.json<{ readonly items: readonly NodeTold[] }>(
      `nodes -l eks.amazonaws.com/nodegroup=${groupName}`,
    );
    return list.items;
  }

  async atRest(nodes: number): Promise<void> {
    await this.until(`${groupName} rests with ${nodes} nodes`, async () => {
      const { status } = await this.json<{ status?: { state?: string } }>(`nodegroup ${groupName}`);
      const all = await this.nodes();
      const rests = status?.state === 'ACTIVE' && all.length === nodes && all.every(isWhole);
      return rests ? true : undefined;
    });
  }

  /** Three nodes in one zone, a release behind, with six pods, of which two may be unavailable. */
  async begin(strategy: Strategy, more: object): Promise<readonly string[]> {
    const { spec } = await this.json<Group>('nodegroup demo-ng');
    const { nodeRole, subnets, clusterName, releaseVersion, version } = spec;
    const group = {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeGroup',
      metadata: { name: groupName },
      spec: {
        ...{ nodeRole, clusterName, releaseVersion, version },
        amiType: 'AL2_x86_64',
        capacityType: 'ON_DEMAND',
        subnets: (subnets as readonly string[]).slice(0, 1),
        instanceTypes: ['m5.large'],
        scaling: { minSize: 0, maxSize: nodeCount + 2, desired: nodeCount },
        updateConfig: { maxUnavailable: 1, updateStrategy: strategy },
        ...more,
      },
    };
    await this.kubectl.okWith(JSON.stringify(group), 'apply -f -');
    await this.atRest(nodeCount);
    return (await this.nodes()).map(({ metadata }) => metadata.name);
  }

  /** The pods of the nodes, and their budget. */
  async apply(bound: JsonObject): Promise<void> {
    const app = webApp(2 * nodeCount, {}, namespace);
    await this.stage.make([app, budget('web', bound, namespace)]);
    await this.until('its pods run', async () => {
      const { status } = await this.json<{ status: { readyReplicas?: number } }>(
        `deployment web -n ${namespace}`,
      );
      return status.readyReplicas === 2 * nodeCount ? true : undefined;
    });
  }

  /** Requests the update with `drover update`; returns its id. */
  async update(): Promise<string> {
    await this.drover.ok(`update nodegroup ${groupName} --no-wait`);
    const query = '-o jsonpath={.items[*].metadata.name}';
    return (await this.kubectl.ok(`get nodegroupupdates ${query}`)).trim();
  }

  async ended(id: string): Promise<Ended> {
    return this.until(`update ${id} ends`, async () => {
      const { status } = await this.json<{ status?: Ended }>(`nodegroupupdate ${id}`);
      return status === undefined || status.status === 'InProgress' ? undefined : status;
    });
  }
}

/**
 * Names nodes by the order in which they are drained, which is random, and merges repeated actions.
 * Marks of several nodes between two evictions are sorted by node.
 */
const orderOf = (deeds: readonly Deed[]): readonly string[] => {
  const evicted = deeds.filter(({ what }) => what === 'evict').map(({ node }) => node);
  const names = [...new Set([...evicted, ...deeds.map(({ node }) => node)])];
  let round = 0;
  const placed = deeds.map(({ what, node }, index) => {
    const isNext = (what === 'evict') !== (deeds[index - 1]?.what === 'evict');
    if (isNext) round += 1;
    return { what, round, rank: names.indexOf(node) };
  });
  return placed
    .toSorted((one, other) => one.round - other.round || one.rank - other.rank)
    .map(({ what, rank }) => `${what} ${rank + 1}`)
    .filter((line, index, all) => line !== all[index - 1]);
};

const oldDeeds = (world: ServedWorld, old: readonly string[]): readonly Deed[] => {
  const bound = bindingsOf(world.audit());
  const deeds = deedsOf(world.audit(), (pod) => bound.get(pod) ?? '');
  return deeds.filter(({ node }) => old.includes(node));
};

const judged = (arrangement: Arrangement, exempt?: Readonly<Record<string, string>>) => ({
  settled: true,
  byWallClock: arrangement !== 'one process',
  ...defined({ exempt }),
});

const nothing = 'the update ends before any pod is evicted';
const noEviction = {
  'evictions-within-budgets': nothing,
  'nothing-forced-early': nothing,
  'marks-before-eviction': nothing,
  'evictions-sent-once': nothing,
  'only-drainable-pods': nothing,
  'marks-undone': nothing,
  'intent-before-effect': nothing,
};

const kept = new Map<string, Map<Arrangement, readonly string[]>>();

const untouched = 'no old node is touched, and what is written by then is the update’s own';
const noDrain = {
  'fixed-state-writes-nothing': untouched,
  'journal-economics': untouched,
};

/** Replaces every node, and stores the order of taints, labels and evictions for comparison. */
export const goesThrough = async (arrangement: Arrangement, strategy: Strategy): Promise<void> => {
  await inArrangement({ arrangement, judged: judged(arrangement) }, async (stage) => {
    const story = new StagedUpdate(stage);
    const old = await story.begin(strategy, {});
    await story.apply({ maxUnavailable: 2 });
    const { status, errors = [] } = await story.ended(await story.update());
    assert.deepEqual([status, errors], ['Successful', []]);
    await story.atRest(nodeCount);
    const left = (await story.nodes()).map(({ metadata }) => metadata.name);
    assert.deepEqual(
      left.filter((name) => old.includes(name)),
      [],
    );
    const order = orderOf(oldDeeds(story.world, old));
    assert.equal(order.filter((line) => line.startsWith('evict')).length, nodeCount);
    const ofStrategy = kept.get(strategy) ?? new Map<Arrangement, readonly string[]>();
    kept.set(strategy, ofStrategy.set(arrangement, order));
  });
};

/**
 * A budget never allows evictions: the update fails with the error code and the blocking budgets;
 * the nodes stay, and their taints and labels are removed.
 */
export const failsAtBudget = async (arrangement: Arrangement): Promise<void> => {
  await inArrangement({ arrangement, judged: judged(arrangement, noEviction) }, async (stage) => {
    const story = new StagedUpdate(stage);
    const old = await story.begin('MINIMAL', { drain: { timeoutSeconds: drainSeconds } });
    await story.apply({ maxUnavailable: 0 });
    const { status, errors = [] } = await story.ended(await story.update());
    assert.equal(status, 'Failed');
    assert.equal(errors[0]?.code, 'PodEvictionFailure');
    const culprit = /demo\/web-\S+ of ReplicaSet\/web-\S+ \(budget demo\/web\)/;
    assert.match(errors[0].message, culprit);
    await story.atRest(nodeCount);
    assert.deepEqual((await story.nodes()).map(({ metadata }) => metadata.name).toSorted(), [
      ...old.toSorted(),
    ]);
  });
};

/**
 * New nodes never join: the code, article 003's message, no old node changed. By the wall clock the
 * wait is shortened: the status is edited to say that it began earlier, as after a controller's
 * outage.
 */
export const failsAtJoining = async (arrangement: Arrangement): Promise<void> => {
  await inArrangement(
    {
      arrangement,
      judged: {
        ...judged(arrangement, { ...noEviction, ...noDrain }),
        // By the wall clock the last new node may still be terminating.
        settled: arrangement === 'one process',
      },
    },
    async (stage) => {
      const story = new StagedUpdate(stage);
      const old = await story.begin('DEFAULT', {});
      await story.drover.ok('world inject never-join');
      const id = await story.update();
      const isScalingUp = async () => {
        const phase = await story.kubectl.ok(
          `get nodegroupupdate ${id} -o jsonpath={.status.phase}`,
        );
        return phase.includes('ScalingUp') ? true : undefined;
      };
      await story.until('it waits for its nodes', isScalingUp);
      if (arrangement !== 'one process') {
        const { status } = await story.json<Began>(`nodegroupupdate ${id}`);
        const at = new Date(Date.now() - joinMs).toISOString();
        const phases = status.phases.map((entered) =>
          entered.phase === 'ScalingUp' ? { ...entered, at } : entered,
        );
        const patch = JSON.stringify({ status: { phases } });
        const update = `patch nodegroupupdate ${id} --subresource=status --type=merge -p`;
        await story.kubectl.ok(update, patch);
      }
      const { status, errors = [] } = await story.ended(id);
      assert.equal(status, 'Failed');
      assert.equal(errors[0]?.code, 'NodeCreationFailure');
      const words =
        /^Couldn't proceed with upgrade process as new nodes are not joining node group ng-v1/;
      assert.match(errors[0].message, words);
      await story.atRest(nodeCount);
      assert.deepEqual((await story.nodes()).map(({ metadata }) => metadata.name).toSorted(), [
        ...old.toSorted(),
      ]);
      assert.deepEqual(oldDeeds(story.world, old), []);
    },
  );
};

/** Asserts that all arrangements marked and evicted in the same order with this strategy. */
export const assertSameOrder = (strategy: Strategy): void => {
  const [first, ...others] = [...(kept.get(strategy) ?? [])];
  assert.ok(first !== undefined && others.length > 0, `${strategy} was told once only`);
  for (const [arrangement, order] of others) {
    assert.deepEqual(order, first[1], `${strategy}: ${first[0]} (expected), ${arrangement}`);
  }
};
