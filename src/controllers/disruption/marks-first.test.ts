// Many nodes are disrupted at once, in virtual time: all of them are tainted and labelled before
// the first eviction, and the allocations grow with the number of changes only.
import { describe, expect, it } from 'vitest';
import { anInstance, setUpControllers } from '../../../test/builders/controllers.ts';
import { formatTime } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { resourceTypes } from '../../api/kube.ts';
import { noMemory } from '../../core/termination/index.ts';
import { DrainTable, type RowSource } from './drain-table.ts';
import { createDisruptionController } from './index.ts';

const manual = (at: string) => ({
  kind: 'Manual' as const,
  id: 'm',
  receivedAt: at,
  onDeadline: 'fail' as const,
  followUp: 'Release' as const,
});

const setUp = () => {
  const base = setUpControllers();
  const { kube, clock } = base;
  const ask = (n: number): void => {
    base.putNode(`n${n}`, { instanceId: anInstance(n) });
    const spec = { instanceId: anInstance(n), causes: [manual(formatTime(clock.now()))] };
    kube.put(resourceTypes.nodedisruptions, { name: anInstance(n), spec });
  };
  const controller = createDisruptionController({ ...base, compat: 'eks' });
  const start = async () => {
    void controller.run(base.stop.signal);
    await base.startInformers();
  };
  /** Requests about nodes and pods in order, shortened to `what of`. */
  const story = () =>
    kube.requests
      .filter(({ verb, resource }) =>
        resource === 'nodes' ? verb === 'patch' : resource === 'pods' && verb === 'watch',
      )
      .map(({ verb, resource }) => `${verb} ${resource}`);
  return { ...base, ask, start, story };
};

describe('many nodes at once', () => {
  it('has every node marked before the pods of any are read', async () => {
    const { ask, start, story, clock, kube } = setUp();
    const patch = kube.patch.bind(kube);
    kube.patch = async (...args) => {
      await clock.sleep(5 as never);
      return patch(...args) as never;
    };
    for (let n = 1; n <= 100; n++) ask(n);
    await start();
    await clock.advance(20);
    for (let n = 101; n <= 200; n++) ask(n);
    await clock.advance(500);
    expect(story().filter((line) => line === 'patch nodes')).toHaveLength(400);
    expect(story().indexOf('watch pods')).toBe(400);
    expect(story()).toHaveLength(600);
  });

  it('marks a node that comes while others are at work on their pods', async () => {
    const { ask, start, clock, kube } = setUp();
    for (let n = 1; n <= 100; n++) ask(n);
    await start();
    await clock.advance(1_000);
    ask(101);
    await clock.settle();
    expect(kube.peek(resourceTypes.nodes, 'n101')?.spec).toMatchObject({ unschedulable: true });
  });
});

describe('the rows of an allocation', () => {
  const row = (): { source: RowSource; table: DrainTable; made: () => number } => {
    const disruption: NodeDisruption = {
      apiVersion: 'drover.dev/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'i-1', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
      spec: { causes: [manual('2026-01-01T00:00:00.000Z')] },
    };
    let made = 0;
    const source: RowSource = {
      disruption,
      node: undefined,
      group: undefined,
      podsVersion: undefined,
      daemonSetVersion: 0,
      hooksVersion: 0,
    };
    const at = { source, table: undefined as unknown as DrainTable, made: () => made };
    at.table = new DrainTable({
      compat: 'eks',
      source: () => at.source,
      targets: () => undefined,
      observe: (of) => {
        made++;
        const options = { compat: 'eks', drainTimeoutMs: 1 as never } as const;
        const none = { node: undefined, pods: undefined, blockers: undefined, group: undefined };
        return { disruption: of, ...none, memory: noMemory, now: 0 as never, options };
      },
    });
    at.table.add('i-1');
    return at;
  };
  const changes: readonly [string, (source: RowSource) => Partial<RowSource>][] = [
    ['the disruption', ({ disruption }) => ({ disruption: { ...disruption } })],
    ['its pods', () => ({ podsVersion: 1 })],
    ['a DaemonSet that came or went', () => ({ daemonSetVersion: 1 })],
    ['an answer about a hook', () => ({ hooksVersion: 1 })],
  ];
  it.each(changes)('are made again for %s, and for nothing else', (_what, change) => {
    const at = row();
    at.table.entries(1 as never);
    at.table.entries(2 as never);
    expect(at.made()).toBe(1);
    at.source = { ...at.source, ...change(at.source) };
    at.table.entries(3 as never);
    at.table.entries(4 as never);
    expect(at.made()).toBe(2);
  });
});
