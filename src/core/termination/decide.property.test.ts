// For any sequence of events on a disruption: each decision settles, a second run on the same state
// does nothing, and losing the memory changes no outcome.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aHookCause,
  aManualCause,
  aNode,
  aPod,
  confirmedByCloud,
  kubeTimePlus,
  Model,
  observe,
  timePlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { decideDisruption } from './decide.ts';

const spot: DisruptionCause = {
  kind: 'SpotInterruption',
  ...confirmedByCloud,
  id: 'spot/1',
  receivedAt: timePlus(0),
  deadline: timePlus(120),
  onDeadline: 'force',
  followUp: 'Release',
};
const causes: readonly DisruptionCause[] = [
  aHookCause(),
  aHookCause({ onDeadline: 'fail' }),
  aManualCause(),
  aManualCause({ id: 'manual/2', deadline: timePlus(300) }),
  aManualCause({ id: 'update/1', kind: 'Update', followUp: 'Replace', cooldownSeconds: 60 }),
  aManualCause({ id: 'update/2', kind: 'Update', followUp: 'Replace', hold: true }),
  spot,
];

type Happening =
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'cause'; readonly which: number }
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'lift'; readonly seconds: number; readonly force: boolean }
  | { readonly kind: 'pods'; readonly count: number; readonly dying: boolean }
  | { readonly kind: 'node'; readonly what: 'gone' | 'anew' | 'uncordoned' | 'unready' }
  | { readonly kind: 'instanceGone' }
  | { readonly kind: 'restart' };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 400 }) }),
  fc.record({
    kind: fc.constant('cause' as const),
    which: fc.integer({ min: 0, max: causes.length - 1 }),
  }),
  fc.constant({ kind: 'withdraw' as const }),
  fc.record({
    kind: fc.constant('lift' as const),
    seconds: fc.integer({ min: 0, max: 1000 }),
    force: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('pods' as const),
    count: fc.integer({ min: 0, max: 3 }),
    dying: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('node' as const),
    what: fc.constantFrom(
      'gone' as const,
      'anew' as const,
      'uncordoned' as const,
      'unready' as const,
    ),
  }),
  fc.constant({ kind: 'instanceGone' as const }),
  fc.constant({ kind: 'restart' as const }),
);

class Life {
  readonly model: Model;
  #seconds = 0;
  #nodes = 0;
  constructor(compat: 'eks' | 'native') {
    const options = { ...observe().options, compat };
    const disruption = aDisruption([aHookCause()]);
    this.model = new Model(observe({ disruption, options }));
  }
  happen(event: Happening): void {
    const { model } = this;
    const { disruption, node } = model.observation;
    switch (event.kind) {
      case 'wait':
        this.#seconds += event.seconds;
        model.at(this.#seconds);
        return;
      case 'cause': {
        const cause = causes[event.which];
        const known = disruption.spec.causes.some(({ id }) => id === cause?.id);
        if (cause !== undefined && !known) model.causes([...disruption.spec.causes, cause]);
        return;
      }
      case 'withdraw': {
        const cancelledAt = timePlus(this.#seconds);
        model.causes(disruption.spec.causes.map((cause) => ({ cancelledAt, ...cause })));
        return;
      }
      case 'lift': {
        const at = timePlus(this.#seconds + event.seconds);
        const onDeadline = event.force ? ('force' as const) : ('fail' as const);
        const free = { hold: false, onDeadline, forceFrom: at, deadline: at };
        const { causes: all } = disruption.spec;
        model.causes(all.map((cause) => (cause.hold === true ? { ...cause, ...free } : cause)));
        return;
      }
      case 'pods': {
        const more = event.dying ? { deletionTimestamp: kubeTimePlus(this.#seconds + 30) } : {};
        const pods = Array.from({ length: event.count }, (_, i) => aPod(`p${i}`, more));
        model.change({ pods });
        return;
      }
      case 'instanceGone':
        model.instanceGone = true;
        return;
      case 'restart':
        model.forget();
        return;
      case 'node':
        this.#nodes++;
        if (event.what === 'gone') model.change({ node: undefined });
        else if (event.what === 'anew')
          model.change({ node: aNode({ uid: `uid-${this.#nodes}` }) });
        else if (event.what === 'unready') model.change({ node: aNode({ ready: false }) });
        else if (node !== undefined) {
          model.change({ node: { ...node, spec: { ...node.spec, unschedulable: false } } });
        }
    }
  }
}

const lives = fc.array(happening, { maxLength: 25 });
const compat = fc.constantFrom('eks' as const, 'native' as const);

describe('any life of a disruption', () => {
  it('settles after each happening, and then re-running does nothing', () => {
    fc.assert(
      fc.property(compat, lives, (mode, events) => {
        const life = new Life(mode);
        life.model.settle();
        for (const event of events) {
          life.happen(event);
          life.model.settle();
          expect(decideDisruption(life.model.observation).steps).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
  it('ends with every hook of ours completed before the hook’s end, whatever happened', () => {
    fc.assert(
      fc.property(compat, lives, (mode, events) => {
        const life = new Life(mode);
        for (const event of events.filter(({ kind }) => kind !== 'withdraw')) {
          life.happen(event);
          life.model.settle();
        }
        for (const seconds of [1_000, 172_739 - 1_000 - 10_000, 10_000, 30, 30]) {
          life.happen({ kind: 'wait', seconds });
          life.model.settle();
        }
        const { status } = life.model;
        expect(life.model.done).toContain('CompleteHook');
        expect((status?.hooks ?? []).filter(({ state }) => state === 'Open')).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
