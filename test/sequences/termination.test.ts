// A complete termination in the embedded world, in virtual time. The real controllers run over the
// world's API server and Auto Scaling and are observed through its audit log.
import { describe, expect, it } from 'vitest';
import type { DisruptionCause } from '../../src/api/disruption.ts';
import { explainDisruption } from '../../src/core/explain/index.ts';
import { TerminationLife } from '../support/termination-world.ts';

const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';
const manual: DisruptionCause = {
  kind: 'Manual',
  id: 'manual/1',
  receivedAt: '2026-01-01T00:01:30.000Z',
  onDeadline: 'fail',
  followUp: 'Release',
  requestedBy: 'somebody',
};
/**
 * Prefers demo-ng's node for every pod of `web`, so that one drain meets many pods of one budget.
 */
const onDemoNode = { affinity: preferring('demo-ng') };
function preferring(group: string) {
  const expression = { key: 'eks.amazonaws.com/nodegroup', operator: 'In', values: [group] };
  const preference = { matchExpressions: [expression] };
  return {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }],
    },
  };
}
const stillWaits = 'the instance still waits in its hook when the story ends';
const hookStaysOpen = {
  'hooks-never-run-out': stillWaits,
  'hooks-complete-when-empty': stillWaits,
};
const drainsByHand = 'nobody terminates an instance, so no hook opens and no message comes';
const byHand = {
  'hooks-never-run-out': drainsByHand,
  'hooks-complete-when-empty': drainsByHand,
  'foreign-hooks-left-alone': drainsByHand,
  'messages-are-durable': drainsByHand,
};
const notBegun = 'the node is never seen as marked, so its drain does not begin';
const neverBegun = {
  'evictions-within-budgets': notBegun,
  'nothing-forced-early': notBegun,
  'marks-before-eviction': notBegun,
  'evictions-sent-once': notBegun,
  'only-drainable-pods': notBegun,
};
const evictions = (life: TerminationLife) => life.writes('pods', 'eviction');

describe('article 001 in the world', () => {
  it('marks with two patches, evicts nginx and CoreDNS and nothing else, and lets go', async () => {
    const life = await TerminationLife.begin();
    expect(life.podsOn(life.node, 'nginx')).toHaveLength(1);
    life.terminate();
    await life.ended();
    expect(life.disruption()?.status).toMatchObject({ outcome: 'Drained', podsTotal: 2 });
    expect(life.writes('nodes').map(({ code, body }) => [code, body])).toEqual([
      [200, { metadata: { labels: { [exclude]: 'true' } } }],
      [200, { spec: { unschedulable: true } }],
    ]);
    expect(life.writes('pods').map(({ subresource, code }) => [subresource, code])).toEqual([
      ['eviction', 201],
      ['eviction', 201],
    ]);
    const owners = evictions(life).map(({ name }) => name.replace(/-.*/, ''));
    expect(owners.toSorted()).toEqual(['coredns', 'nginx']);
    expect(life.writes('nodedisruptions', 'status')).toHaveLength(4);
    const lists = life.audited.filter(
      ({ verb, resource }) => `${verb} ${resource}` === 'list pods',
    );
    expect(lists).toHaveLength(1);
    await life.until(() => life.instanceState() === undefined, 600);
    await life.end({ settled: true });
  });
  it('does the same with one patch of its own marks, and takes no one’s taints', async () => {
    const life = await TerminationLife.begin({ tuning: { compat: 'native' } });
    life.terminate();
    await life.ended();
    expect(life.writes('nodes')).toMatchObject([
      {
        code: 200,
        body: {
          metadata: { uid: expect.any(String), resourceVersion: expect.any(String) },
          spec: { unschedulable: true },
        },
      },
    ]);
    await life.end();
  });
});

describe('budgets', () => {
  it('of one at a time: no eviction is refused, never fewer Ready than asked', async () => {
    const life = await TerminationLife.begin();
    life.deploy(8, onDemoNode);
    life.budget('web', { maxUnavailable: 1 });
    await life.driver.advance(60);
    const before = life.podsOn(life.node, 'web').length;
    expect(before).toBeGreaterThanOrEqual(4);
    life.terminate();
    let least = 8;
    await life.until(() => {
      least = Math.min(least, life.budgetObject('web')?.status.currentHealthy ?? 8);
      return life.disruption()?.status?.phase === 'Ended';
    }, 600);
    expect(least).toBeGreaterThanOrEqual(7);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    const codes = evictions(life).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set([201]));
    expect(codes).toHaveLength(before + 2);
    expect(life.writes('nodedisruptions', 'status').length).toBeLessThanOrEqual(8);
    await life.end({ settled: true });
  });
  it('that never allow are named within seconds, the pod forced in its time', async () => {
    const life = await TerminationLife.begin();
    life.deploy(2, onDemoNode);
    life.budget('web', { maxUnavailable: 0 });
    life.drainPolicy({ timeoutSeconds: 300 });
    await life.driver.advance(30);
    const held = life.podsOn(life.node, 'web');
    expect(held).not.toEqual([]);
    life.terminate();
    await life.until(() => (life.disruption()?.status?.waitingOn?.length ?? 0) > 0, 5);
    const disruption = life.disruption();
    if (disruption === undefined) throw new Error('no disruption');
    const lines = explainDisruption(disruption).join('\n');
    expect(lines).toMatch(
      /pod default\/web-\S+ of ReplicaSet\/web-\S+ waits for budget default\/web .* never allows/,
    );
    const { startedAt = '', deadline = '' } = disruption.status ?? {};
    expect(Date.parse(deadline) - Date.parse(startedAt)).toBeGreaterThan(295_000);
    const begun = life.seconds;
    await life.ended(400);
    expect(life.disruption()?.status).toMatchObject({ outcome: 'Forced' });
    const deletions = life.writes('pods').filter(({ verb }) => verb === 'delete');
    expect(deletions.map(({ name }) => name).toSorted()).toEqual(held.toSorted());
    for (const { seconds, code } of deletions) {
      // Deadline - 10 s - 30 s of grace, counted from a few seconds after the start.
      expect(seconds - begun).toBeGreaterThan(250);
      expect(code).toBe(200);
    }
    expect(life.writes('nodedisruptions', 'status').length).toBeLessThanOrEqual(8);
    await life.end();
  });
  it('two on one pod are named, not fought; and emulated where that is asked for', async () => {
    for (const multiBudget of ['block', 'emulate'] as const) {
      const life = await TerminationLife.begin({ tuning: { limits: { multiBudget } } });
      life.deploy(3, onDemoNode);
      life.budget('a', { maxUnavailable: 1 });
      life.budget('b', { minAvailable: 2 });
      await life.driver.advance(30);
      life.terminate();
      await life.driver.advance(120);
      const { outcome, waitingOn = [] } = life.disruption()?.status ?? {};
      if (multiBudget === 'block') {
        expect(waitingOn.map(({ kind }) => kind)).toContain('multiplePdbs');
        expect(evictions(life).filter(({ name }) => name.startsWith('web'))).toEqual([]);
        const exempt = { ...hookStaysOpen, 'foreign-hooks-left-alone': stillWaits };
        await life.end({ exempt });
      } else {
        expect(outcome).toBe('Drained');
        // The oracle forbids what this case requests, so it must report it.
        await expect(life.end()).rejects.toThrow(
          /breaks 2 rules:\nnothing-forced-early: .*\nintent-before-effect: .* said that it forces/,
        );
      }
    }
  });
  it('that hold a node whose group must not be forced: kept, with heartbeats', async () => {
    const life = await TerminationLife.begin();
    life.deploy(1, onDemoNode);
    life.budget('web', { maxUnavailable: 0 });
    life.drainPolicy({ timeoutSeconds: 60, onDeadline: 'fail' });
    await life.driver.advance(30);
    life.terminate();
    await life.driver.advance(7_200);
    expect(life.instanceState()).toBe('Terminating:Wait');
    expect(life.podsOn(life.node, 'web')).toHaveLength(1);
    expect(life.journal.types().filter((type) => type === 'hook:heartbeat')).toHaveLength(11);
    expect(life.writes('pods').filter(({ verb }) => verb === 'delete')).toEqual([]);
    await life.end({ exempt: hookStaysOpen });
  });
});

describe('a watch that shows nothing of what we write', () => {
  it('stops no heartbeat', async () => {
    const life = await TerminationLife.begin();
    life.faults = {
      watchFrame: (resource) => ({
        lagMicros: resource === 'nodes' ? 10_000_000_000 : 0,
        breaks: false,
      }),
    };
    life.terminate();
    await life.driver.advance(7_200);
    expect(life.disruption()?.status?.phase).toBe('Marking');
    expect(life.instanceState()).toBe('Terminating:Wait');
    const beats = life.journal.types().filter((type) => type === 'hook:heartbeat');
    expect(beats).toHaveLength(11);
    life.faults = {};
    await life.end({ exempt: { ...hookStaysOpen, ...neverBegun } });
  });
});

describe('the last replicas of an owner without a budget', () => {
  it.each([false, true])(
    'go one after a replacement of the other: %s',
    async (holdLastReplicas) => {
      const life = await TerminationLife.begin({ tuning: { limits: { holdLastReplicas } } });
      const others = life.allNodes().filter((name) => name !== life.node);
      for (const name of others) life.cordon(name, true);
      life.deploy(2);
      await life.driver.advance(30);
      expect(life.podsOn(life.node, 'web')).toHaveLength(2);
      for (const name of others) life.cordon(name, false);
      life.terminate();
      await life.ended(300);
      const gone = evictions(life).filter(({ name }) => name.startsWith('web'));
      expect(gone).toHaveLength(2);
      const apart = (gone[1]?.seconds ?? 0) - (gone[0]?.seconds ?? 0);
      // A replacement takes longer than this to be pulled, to start and to become Ready.
      expect(apart > 0.3).toBe(holdLastReplicas);
      await life.end();
    },
  );
});

describe('drains by hand', () => {
  it('leave the node cordoned, and undrain gives back what was ours', async () => {
    const life = await TerminationLife.begin();
    life.cause(manual);
    await life.ended();
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    expect(life.nodeObject()).toMatchObject({ spec: { unschedulable: true } });
    expect(life.instanceState()).toBe('InService');
    life.cause({ ...manual, cancelledAt: '2026-01-01T01:00:00.000Z' });
    await life.until(() => life.disruption()?.status?.outcome === 'Cancelled');
    expect(life.nodeObject()).not.toHaveProperty('spec.unschedulable');
    expect(life.nodeObject()).not.toHaveProperty(['metadata', 'labels', exclude]);
    await life.end({ exempt: byHand });
  });
  it('mark every node of a batch before the first eviction', async () => {
    const life = await TerminationLife.begin();
    const nodes = [...life.nodesOf('demo-ng'), ...life.nodesOf('ng1-public-ssh')];
    expect(nodes.length).toBeGreaterThanOrEqual(3);
    for (const node of nodes) {
      const instanceId = life.world.aws.instanceIdOfNode(node) ?? '';
      life.cause(
        { ...manual, receivedAt: new Date(life.seconds * 1000).toISOString() },
        {
          node,
          instanceId,
        },
      );
    }
    await life.driver.advance(10);
    const order = life.audited.filter(({ verb }) => verb === 'patch' || verb === 'create');
    const lastMark = order.findLastIndex(({ resource }) => resource === 'nodes');
    const firstEviction = order.findIndex(({ subresource }) => subresource === 'eviction');
    expect(firstEviction).toBeGreaterThan(lastMark);
    await life.end({ exempt: byHand });
  });
});

describe('a process that is killed', () => {
  it('at any write ends in the same state, with every pod evicted once', async () => {
    const messageIsLate = 'its message may come back only after the hook has been completed';
    const ends = async (seed: number, killAt?: number) => {
      const life = await TerminationLife.begin({ seed });
      let seen = 0;
      life.faults = {
        afterWrite: () => {
          seen++;
          if (seen !== killAt) return;
          life.kill();
          life.world.kernel.after(2_000_000, () => life.start());
        },
      };
      life.terminate();
      await life.ended();
      expect(life.disruption()?.status).toMatchObject({ outcome: 'Drained', episode: 1 });
      expect(life.disruption()?.status?.ownedMarks).toMatchObject({
        excludeLabel: true,
        unschedulable: true,
      });
      expect(seen).toBeGreaterThan(killAt ?? 0);
      const names = evictions(life).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      await life.until(() => life.instanceState() === undefined, 600);
      await life.driver.advance(60);
      return life.end({ settled: true, exempt: { 'messages-are-durable': messageIsLate } });
    };
    for (let killAt = 1; killAt <= 11; killAt++) {
      expect(await ends(killAt, killAt)).toEqual(await ends(killAt));
    }
  });
  it('while it waits for a budget continues where it was', async () => {
    const life = await TerminationLife.begin();
    life.deploy(4, onDemoNode);
    life.budget('web', { maxUnavailable: 1 });
    await life.driver.advance(30);
    life.terminate();
    for (let i = 0; i < 5; i++) {
      await life.driver.advance(1.3);
      life.kill();
      await life.driver.advance(2);
      life.start();
    }
    await life.ended(300);
    expect(life.disruption()?.status?.outcome).toBe('Drained');
    await life.end();
  });
});

describe('a deadline that passes while no process is there', () => {
  it('is forced by the next one, pods deleted before the hook is completed', async () => {
    const life = await TerminationLife.begin();
    life.deploy(4, onDemoNode);
    life.budget('web', { maxUnavailable: 0 });
    life.drainPolicy({ timeoutSeconds: 120, onDeadline: 'force' });
    await life.driver.advance(30);
    const held = life.podsOn(life.node, 'web');
    expect(held.length).toBeGreaterThan(0);
    life.terminate();
    await life.until(() => life.disruption()?.status?.phase === 'Draining');
    life.kill();
    await life.driver.advance(300);
    life.start();
    await life.ended(60);
    const deleted = life.writes('pods').filter(({ verb }) => verb === 'delete');
    expect(deleted.map(({ name }) => name).toSorted()).toEqual([...held].sort());
    expect(life.disruption()?.status?.outcome).toBe('Forced');
    expect(life.disruption()?.status?.forcingSince).toBeDefined();
    await life.end();
  });
});

describe('a hostile network', () => {
  it('loses answers, refuses calls, breaks watches; everything still ends', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const life = await TerminationLife.begin({ seed });
      const random = life.world.kernel.random('test.faults');
      life.deploy(4, onDemoNode);
      life.budget('web', { maxUnavailable: 1 });
      await life.driver.advance(30);
      const chance = (share: number) => random.next() < share;
      life.faults = {
        kubeCall: () => {
          if (chance(0.1)) return { kind: 'refused', code: 'ServerError' };
          return chance(0.1) ? { kind: 'lost' } : { kind: 'ok' };
        },
        cloudCall: () => {
          if (chance(0.2)) return { kind: 'refused', code: 'Throttled' };
          return chance(0.1) ? { kind: 'lost' } : { kind: 'ok' };
        },
        watchFrame: () => ({ lagMicros: random.below(300_000), breaks: chance(0.05) }),
        watchExpired: () => chance(0.1),
      };
      life.terminate();
      await life.ended(900);
      life.faults = {};
      expect(life.disruption()?.status?.outcome).toBe('Drained');
      await life.until(() => life.instanceState() === undefined, 600);
      await life.end();
    }
  });
});
