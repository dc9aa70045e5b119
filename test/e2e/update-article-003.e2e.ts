// Article 003's update with the real aws and kubectl: five nodes, at most one unavailable. It
// compares the audit log and the scaling activities, phase by phase, and then the effect of force.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { inWorld, skipWhen } from '../support/stories.ts';
import {
  bindingsOf,
  budget,
  type Deed,
  deedsOf,
  isWhole,
  UpdateStory,
  webApp,
} from '../support/update-stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const namesIn = (deeds: readonly Deed[]): readonly string[] => [
  ...new Set(deeds.map(({ node }) => node)),
];

/** Run lengths of equal words: `launch launch end` gives 2 launches, then one end. */
const runsOf = (words: readonly string[]): readonly (readonly [string, number])[] => {
  const runs: [string, number][] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.[0] === word) last[1] += 1;
    else runs.push([word, 1]);
  }
  return runs;
};

interface NodeStory {
  readonly node: string;
  readonly steps: readonly { readonly at: string; readonly kind: string }[];
  readonly findings: readonly { readonly kind: string }[];
}
interface Journal {
  readonly spec: { readonly causes: readonly { readonly kind: string }[] };
  readonly status: {
    readonly node: { readonly name: string };
    /**
     * The drain is the first episode; the hook of the drained node's termination starts the second.
     */
    readonly previous?: {
      readonly episode: number;
      readonly outcome: string;
      readonly startedAt: string;
      readonly endedAt: string;
    };
  };
}

/** For each node that an update terminated, `drover logs story` agrees with its NodeDisruption. */
const holdStoriesAgainstJournal = async (
  world: ServedWorld,
  names: readonly string[],
): Promise<void> => {
  const journal = await world.kubectl('get', 'nodedisruption', '-o', 'json');
  const { items } = JSON.parse(journal.stdout) as { items: readonly Journal[] };
  let all = 0;
  for (const name of names) {
    const ran = await world.drover('logs', 'story', '--node', name, '-o', 'json');
    assert.equal(ran.code, 0, ran.stderr);
    const [story] = (JSON.parse(ran.stdout) as { items: readonly NodeStory[] }).items;
    const told = items.find(({ status }) => status.node.name === name);
    assert.ok(story !== undefined && told !== undefined, name);
    assert.ok(
      told.spec.causes.some(({ kind }) => kind === 'Update'),
      name,
    );
    const drain = told.status.previous;
    assert.deepEqual([drain?.episode, drain?.outcome], [1, 'Drained'], name);
    // The journal has whole seconds.
    const [from, to] = [
      Date.parse(drain?.startedAt ?? ''),
      Date.parse(drain?.endedAt ?? '') + 1000,
    ];
    const times = (kind: string) =>
      story.steps.filter((step) => step.kind === kind).map(({ at }) => Date.parse(at));
    const [excluded = 0, cordoned = 0, deleted = 0] = ['excluded', 'cordoned', 'deleted'].flatMap(
      (kind) => times(kind).slice(0, 1),
    );
    const evicted = times('evicted');
    all += evicted.length;
    assert.ok(excluded >= from && excluded <= cordoned, `${name}: marks`);
    assert.ok(
      evicted.every((at) => at >= cordoned && at < to),
      `${name}: evictions`,
    );
    assert.ok(deleted >= to - 1000, `${name}: deleted after its drain`);
    assert.deepEqual(
      story.findings.filter(({ kind }) => kind === 'order'),
      [],
    );
  }
  assert.ok(all > 0, 'pods were evicted');
};

const minutes = (ms: number): number => ms / 60_000;

describe('an update of a managed node group, as article 003 tells it', {
  skip: skipWhen('article 003', whyNot),
  timeout: 600_000,
}, () => {
  it('goes through its phases in order, and every node is another one', async () => {
    await inWorld({ judged: { settled: true } }, async (world) => {
      const story = await UpdateStory.begin(world);
      await story.createGroup({ nodes: 5, zones: 3 });
      await story.apply([webApp(10), budget('web', { maxUnavailable: 2 })]);
      const before = (await story.nodes()).map(({ metadata }) => metadata.name);
      const [sizes, launched] = [await story.sizes(), (await story.activities()).length];
      const begunAt = world.audit().length;

      await story.succeeds(story.newest);
      await story.atRest(5);
      assert.deepEqual(await story.sizes(), sizes);
      const after = (await story.nodes()).map(({ metadata }) => metadata.name);
      assert.deepEqual(
        after.filter((name) => before.includes(name)),
        [],
      );

      // Auto Scaling: first twice as many launches as zones; then each old node terminated and
      // replaced; then the surplus.
      const activities = (await story.activities()).slice(launched);
      const kinds = activities.map(({ Description }) => Description.split(' ')[0] ?? '');
      const runs = runsOf(kinds);
      assert.deepEqual(runs[0], ['Launching', 6]);
      assert.deepEqual(
        runs.slice(1, -1),
        Array.from({ length: 10 }, (_, i) => [i % 2 === 0 ? 'Terminating' : 'Launching', 1]),
      );
      assert.deepEqual(runs.at(-1), ['Terminating', 6]);
      assert.ok(activities.every(({ StatusCode }) => StatusCode === 'Successful'));

      // Kubernetes: label, then cordon of each old node, before the first eviction; one node after
      // the other.
      const bound = bindingsOf(world.audit());
      const events = world.audit().slice(begunAt);
      const deeds = deedsOf(events, (pod) => bound.get(pod) ?? '').filter(({ node }) =>
        before.includes(node),
      );
      const first = deeds.findIndex(({ what }) => what === 'evict');
      const marks = deeds.slice(0, first);
      assert.equal(marks.length, 10);
      for (const name of before) {
        const ones = marks.filter(({ node }) => node === name).map(({ what }) => what);
        assert.deepEqual(ones, ['label', 'cordon'], name);
      }
      const evictions = deeds.slice(first).filter(({ what }) => what === 'evict');
      assert.equal(runsOf(evictions.map(({ node }) => node)).length, namesIn(evictions).length);
      assert.deepEqual(
        deeds.slice(first).filter(({ what }) => what !== 'evict'),
        [],
      );

      await holdStoriesAgainstJournal(world, before);

      // One minute between the drain's end and the termination.
      const ends = activities.filter(({ Description }) => Description.startsWith('Terminating'));
      const nodes = namesIn(evictions);
      for (const [i, name] of nodes.entries()) {
        const last = evictions.findLast(({ node }) => node === name)?.at ?? 0;
        const terminated = Date.parse(ends[i]?.StartTime ?? '');
        const waited = (terminated - last) / 1000;
        assert.ok(
          waited >= 59 && waited < 180,
          `${name}: ended ${waited} s after its last eviction`,
        );
      }
    });
  });

  it('fails after 15 minutes at a budget; asked with force it deletes after 15 minutes', async () => {
    const none = 'the only budget lets no pod go';
    const exempt = { 'evictions-within-budgets': none, 'evictions-sent-once': none };
    await inWorld({ judged: { settled: true, exempt } }, async (world) => {
      const story = await UpdateStory.begin(world);
      await story.createGroup({ nodes: 1, zones: 1 });
      await story.apply([webApp(2), budget('web', { maxUnavailable: 0 })]);
      const [sizes, nodes] = [await story.sizes(), await story.nodes()];
      const words = [/default\/web-\S+ of ReplicaSet\/web-\S+ \(budget default\/web\)/];
      await story.fails(story.newest, { code: 'PodEvictionFailure', words });
      await story.atRest(1);
      assert.deepEqual(await story.sizes(), sizes);
      assert.deepEqual(
        (await story.nodes()).map(({ metadata }) => metadata.name),
        [nodes[0]?.metadata.name],
      );

      const from = world.audit().length;
      await story.succeeds(story.newest, '--force');
      await story.atRest(1);
      assert.ok((await story.nodes()).every(isWhole));
      const mine = world.audit().slice(from);
      const marked = deedsOf(mine, () => '').find(({ what }) => what === 'cordon');
      const deleted = mine.filter(
        ({ verb, objectRef, user }) =>
          verb === 'delete' &&
          objectRef?.resource === 'pods' &&
          user.username === 'eks:node-manager',
      );
      // With force, no budget holds the surplus either: Auto Scaling terminates it after its drain.
      assert.ok(deleted.length >= 2);
      for (const { requestReceivedTimestamp } of deleted.slice(0, 2)) {
        const waited = minutes(Date.parse(requestReceivedTimestamp) - (marked?.at ?? 0));
        assert.ok(waited >= 15 && waited < 17, `deleted ${waited} minutes after the marks`);
      }
    });
  });
});
