// The agent's answer to a request for a log bundle: one collection, one condition, and no
// write without a request.
import { beforeEach, describe, expect, it } from 'vitest';
import { CollectingLog, VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import type { EpochMs } from '../../api/brand.ts';
import { objectOr } from '../../api/json.ts';
import { type Condition, resourceTypes } from '../../api/kube.ts';
import { bundleAnnotation, bundleAnswerOf } from '../../api/log-bundle.ts';
import { NodeHostError } from '../../ports/index.ts';
import { BundleReporter } from './log-bundle.ts';

const { nodes } = resourceTypes;
const request = 'repair/i-1-1/1/2026-01-01T00:30:00Z';
const second = 1_000;

class Life {
  readonly clock = new VirtualClock();
  readonly kube = new FakeKube(this.clock);
  readonly collected: { readonly name: string; readonly leftMs: number }[] = [];
  fails: NodeHostError | undefined;
  #reporter = this.#begin();

  #begin(): BundleReporter {
    const collect = async (name: string, endsAt: EpochMs) => {
      this.collected.push({ name, leftMs: endsAt - this.clock.now() });
      if (this.fails !== undefined) throw this.fails;
      return { path: `/bundles/${name}`, bytes: 4096 };
    };
    return new BundleReporter({
      kube: this.kube,
      clock: this.clock,
      node: 'n1',
      store: { collect },
      log: new CollectingLog(),
    });
  }
  restart(): void {
    this.#reporter = this.#begin();
  }
  ask(value?: string): void {
    const known = objectOr(this.kube.peek(nodes, 'n1')?.status);
    const status = { conditions: [{ type: 'Ready', status: 'True' }], ...known };
    const annotations = value === undefined ? {} : { [bundleAnnotation]: value };
    this.kube.put(nodes, { name: 'n1', annotations, status });
  }
  async look(): Promise<void> {
    await this.clock.advance(15 * second);
    await this.#reporter.pass(new AbortController().signal);
  }
  get conditions(): readonly Condition[] {
    const all = objectOr(this.kube.peek(nodes, 'n1')?.status).conditions;
    return (all ?? []) as unknown as readonly Condition[];
  }
  answer(to = request) {
    return bundleAnswerOf(this.conditions, to);
  }
}

let life: Life;
beforeEach(() => {
  life = new Life();
});

describe('a request for a log bundle', () => {
  it('that nobody makes costs one look in 15 s and writes nothing', async () => {
    life.ask();
    for (let look = 0; look < 4; look++) await life.look();
    expect(life.kube.requests.map(({ verb }) => verb)).toEqual(['get', 'get', 'get', 'get']);
    expect(life.collected).toEqual([]);
  });

  it('is answered once, within 30 s, beside the kubelet’s conditions', async () => {
    life.ask(request);
    for (let look = 0; look < 4; look++) await life.look();
    const name = 'i-1-1_1_2026-01-01T00_30_00Z';
    expect(life.collected).toEqual([{ name, leftMs: 30 * second }]);
    expect(life.answer()).toEqual({ isCollected: true, message: `/bundles/${name} (4 KiB)` });
    expect(life.conditions.map(({ type }) => type).toSorted()).toEqual([
      'LogBundleCollected',
      'Ready',
    ]);
    expect(life.kube.count('patch')).toBe(1);
  });

  it('is answered again without a second collection when the answer is lost', async () => {
    life.ask(request);
    life.kube.fail('patch', 'Unreachable');
    await life.look();
    expect(life.answer()).toBeUndefined();
    await life.look();
    expect(life.answer()?.isCollected).toBe(true);
    expect(life.collected).toHaveLength(1);
  });

  it('is answered by the next agent when this one dies, and not twice', async () => {
    life.ask(request);
    life.kube.fail('patch', 'Unreachable');
    await life.look();
    life.restart();
    await life.look();
    life.restart();
    await life.look();
    expect(life.answer()?.isCollected).toBe(true);
    expect(life.collected).toHaveLength(2);
  });

  it('that cannot be met is answered with the reason', async () => {
    life.fails = new NodeHostError('failed', 'write /bundles/x');
    life.ask(request);
    await life.look();
    expect(life.answer()).toEqual({ isCollected: false, message: life.fails.message });
  });

  it('is refused within five minutes of the last one', async () => {
    life.ask(request);
    await life.look();
    const next = `${request}2`;
    life.ask(next);
    await life.look();
    expect(life.answer(next)?.message).toMatch(/^refused: the last bundle is younger than 300 s$/);
    expect(life.collected).toHaveLength(1);
  });
});
