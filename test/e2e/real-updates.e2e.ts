// Article 003's update on a real API server with its controllers and scheduler; the world is its
// cloud and simulates its kubelets. It takes the same steps as in the embedded world and fails with
// the same messages.
import { describe, it } from 'node:test';
import { missing } from '../support/demo-world.ts';
import { isGiven, whyNoStage } from '../support/given-reasons.ts';
import {
  assertSameOrder,
  failsAtBudget,
  failsAtJoining,
  goesThrough,
} from '../support/staged-updates.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const whyNotReal = whyNot ?? (await whyNoStage());
const skip = skipWhen('updates with kubectl and drover alone', whyNot);
const skipReal = skipWhen('updates on a real API server', whyNotReal);
const strategies = ['DEFAULT', 'MINIMAL', 'SURGE'] as const;
/** The tests mostly wait for nodes, so they run concurrently. */
const atOnce = { concurrency: 3, timeout: 1_500_000 };

describe('an update', { concurrency: 1, timeout: 3_000_000 }, () => {
  describe('in the embedded world', { ...atOnce, skip }, () => {
    for (const strategy of strategies) {
      it(`with ${strategy} replaces every node`, () => goesThrough('one process', strategy));
    }
    it('fails at a budget that never allows', () => failsAtBudget('one process'));
    it('fails when new nodes do not join', () => failsAtJoining('one process'));
  });

  // A given cluster runs one test at a time.
  const atOnceReal = { ...atOnce, ...(isGiven ? { concurrency: 1 } : {}) };
  describe('on a real API server', { ...atOnceReal, skip: skipReal }, () => {
    for (const strategy of strategies) {
      it(`with ${strategy} replaces every node`, () => goesThrough('a real API server', strategy));
    }
    it('fails at a budget that never allows', () => failsAtBudget('a real API server'));
    it('fails when new nodes do not join', () => failsAtJoining('a real API server'));
  });

  for (const strategy of strategies) {
    it(`with ${strategy} marks and evicts in the same order on both`, { skip: skipReal }, () => {
      assertSameOrder(strategy);
    });
  }
});
