// Exact token accounting against a small model of the API server and its disruption controller,
// with a lagging watch: for any interleaving, no eviction is refused for lack of a token.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aBudget, aDrain, aPod, kubeTimePlus, tPlus } from '../../../test/builders/core-drain.ts';
import type { Pod, PodDisruptionBudget } from '../../api/kube.ts';
import { defaultLimits } from './account.ts';
import { allocate } from './allocate.ts';
import { BudgetIndex } from './budgets.ts';
import { Ledger } from './ledger.ts';

type Move = 'allocate' | 'answer' | 'seeBudget' | 'seePod' | 'replace' | 'tick';
const moves: readonly Move[] = ['allocate', 'answer', 'seeBudget', 'seePod', 'replace', 'tick'];

class Model {
  readonly ledger = new Ledger();
  readonly budgetEvents: PodDisruptionBudget[] = [];
  readonly podEvents: Pod[] = [];
  readonly sending: string[] = [];
  readonly pods = new Map<string, Pod>();
  readonly evicted = new Set<string>();
  seen: PodDisruptionBudget;
  allowed: number;
  disrupted: string[] = [];
  replaced = 0;
  revision = 1;
  at = 0;
  refused = 0;
  mostSending = 0;

  constructor(count: number, allowed: number) {
    this.allowed = allowed;
    this.seen = aBudget('web', { allowed });
    for (let i = 0; i < count; i++) this.pods.set(`p${i}`, aPod(`p${i}`));
  }

  allocate(): number {
    const { grants } = allocate({
      drains: [aDrain([...this.pods.values()])],
      budgets: new BudgetIndex([this.seen]),
      ledger: this.ledger,
      now: tPlus(this.at),
      limits: defaultLimits,
    });
    for (const grant of grants) {
      this.ledger.sent({ ...grant, how: grant.kind, emulated: false }, tPlus(this.at));
      this.sending.push(grant.pod.name);
      // The server takes the token as soon as the request arrives, or refuses.
      if (this.allowed <= 0) this.refused++;
      else {
        this.allowed--;
        this.disrupted.push(grant.pod.name);
        this.evicted.add(grant.pod.name);
        this.publish();
        this.podEvents.push(aPod(grant.pod.name, { deletionTimestamp: kubeTimePlus(30) }));
      }
    }
    this.mostSending = Math.max(this.mostSending, this.sending.length);
    return grants.length;
  }

  publish(): void {
    this.revision++;
    this.budgetEvents.push(
      aBudget('web', {
        allowed: this.allowed,
        disrupted: this.disrupted,
        resourceVersion: String(this.revision),
      }),
    );
  }

  step(move: Move): void {
    switch (move) {
      case 'allocate':
        this.allocate();
        return;
      case 'answer': {
        const name = this.sending.shift();
        if (name !== undefined) this.ledger.succeeded(`uid-${name}`, tPlus(this.at), 'done');
        return;
      }
      case 'seeBudget': {
        const event = this.budgetEvents.shift();
        if (event === undefined) return;
        this.seen = event;
        this.ledger.observeBudget(event);
        return;
      }
      case 'seePod': {
        const event = this.podEvents.shift();
        if (event === undefined) return;
        this.pods.delete(event.metadata.name);
        this.ledger.observePod(event, true);
        return;
      }
      case 'replace':
        // A replacement became Ready: the disruption controller adds one token.
        if (this.disrupted.length === 0) return;
        this.disrupted = this.disrupted.slice(1);
        this.allowed++;
        this.publish();
        return;
      case 'tick':
        this.at += 0.1;
        this.ledger.settle(tPlus(this.at));
    }
  }
}

describe('exact token accounting', () => {
  const schedule = fc.array(fc.constantFrom(...moves), { maxLength: 120 });
  it('is never refused, never evicts a pod twice, never has more than its share in flight', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 4 }),
        schedule,
        (count, allowed, script) => {
          const model = new Model(count, allowed);
          let sent = 0;
          for (const move of script) {
            if (move === 'allocate') sent += model.allocate();
            else model.step(move);
          }
          expect(model.refused).toBe(0);
          expect(sent).toBe(model.evicted.size);
          expect(model.mostSending).toBeLessThanOrEqual(defaultLimits.perBudgetInFlight);
        },
      ),
      { numRuns: 400 },
    );
  });
  it('drains everything when answers, events and replacements keep coming', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        (count, allowed) => {
          const model = new Model(count, allowed);
          for (let round = 0; round < count * 4 && model.pods.size > 0; round++) {
            for (const move of moves) for (let i = 0; i < 4; i++) model.step(move);
          }
          expect(model.pods.size).toBe(0);
          expect(model.ledger.inFlight.size).toBe(0);
        },
      ),
    );
  });
});
