// Terminations that article 001 does not show: against budgets, lost and duplicated messages, and a
// process that is killed at every step of its journal. Each runs with the controllers in the
// world's process, in their own process, and on a real API server; the requests must be the same.
// Faults of messages concern the queue alone, so they run in one of the three.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Arrangement } from '../support/arrangements.ts';
import { missing } from '../support/demo-world.ts';
import { isGiven, whyNoStage } from '../support/given-reasons.ts';
import { assertAlike } from '../support/own-requests.ts';
import { skipWhen } from '../support/stories.ts';
import {
  abandoned,
  killedIn,
  neverAllowed,
  oneNode,
  onePodAtATime,
  twoBudgets,
  twoNodes,
} from '../support/termination-stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const whyNotReal = whyNot ?? (await whyNoStage());
const phases = ['Pending', 'Marking', 'Draining', 'Completing', 'Ended'];
const messageFaults = ['message-loss', 'message-duplicate', 'message-delay', 'message-malformed'];

/** Starts the fault-free run once, when a test first compares with it. */
const once = <T>(begin: () => Promise<T>): (() => Promise<T>) => {
  let begun: Promise<T> | undefined;
  return () => {
    begun ??= begin();
    return begun;
  };
};

const againstBudgets = (arrangement: Arrangement): void => {
  it('takes one pod at a time where the budget allows one, and never asks in vain', async () => {
    await onePodAtATime(arrangement);
  });
  it('names the budget that never allows within seconds, keeps the node until the deadline, then forces', async () => {
    await neverAllowed(arrangement);
  });
};

const againstMore = (arrangement: Arrangement): void => {
  it('names both budgets of a pod that two select, and forces it only at the deadline', async () => {
    await twoBudgets(arrangement);
  });
  it('continues without anybody when no one completes the hook: the hook times out', async () => {
    await abandoned(arrangement);
  });
};

const underKills = (arrangement: Arrangement, killed: readonly string[]): void => {
  const calm = once(() => oneNode(arrangement));
  for (const phase of killed) {
    it(`ends in the same state when the process is killed in phase ${phase}`, async () => {
      assert.deepEqual(await killedIn(phase)(arrangement), await calm());
    });
  }
};

const underMessageFaults = (arrangement: Arrangement): void => {
  const calm = once(() => twoNodes()(arrangement));
  for (const fault of messageFaults) {
    it(`ends in the same state, its messages hit by ${fault}`, async () => {
      assert.deepEqual(await twoNodes(fault)(arrangement), await calm());
    });
  }
};

// Each test has its own world and mostly waits for it.
const atOnce = { timeout: 600_000, concurrency: 4 };
const skip = skipWhen('stories of terminations', whyNot);
const skipReal = skipWhen('stories of terminations on a real API server', whyNotReal);

describe('a termination', { concurrency: 1, timeout: isGiven ? 4_000_000 : 1_200_000 }, () => {
  for (const arrangement of ['one process', 'two processes'] as const) {
    describe(`in ${arrangement}`, { ...atOnce, skip }, () => {
      againstBudgets(arrangement);
      againstMore(arrangement);
      underKills(arrangement, phases);
      if (arrangement === 'two processes') underMessageFaults(arrangement);
    });
  }

  // Each also has its own control plane; a given one runs one test at a time.
  const atOnceReal = isGiven ? { concurrency: 1, timeout: 3_000_000 } : { concurrency: 3 };
  describe('on a real API server', { ...atOnce, ...atOnceReal, skip: skipReal }, () => {
    againstBudgets('a real API server');
    againstMore('a real API server');
    underKills('a real API server', phases);
  });

  it('is the same for the API server, whichever process and server it is', { skip }, () => {
    assertAlike(['never allowed', 'one node', 'one pod at a time', 'two budgets']);
  });
});
