// Updates of two groups one after another, with drover and kubectl. Every old node is marked first,
// and the second group waits for the first. A missing group is reported, and no mark remains at the
// end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing } from '../support/demo-world.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const judged = { settled: true } as const;
const marks =
  'get nodes -o jsonpath={range.items[*]}{.spec.taints[?(@.key=="drover.dev/awaiting-update")].value}{"\\n"}{end}';

describe('an update sequence', {
  skip: skipWhen('update sequences', whyNot),
  timeout: 600_000,
}, () => {
  it('marks what is still to be rolled, takes the groups in order and leaves no mark', async () => {
    await inWorld({ judged }, async (world) => {
      const cli = stepsOf('drover', (args) => world.drover(...args));
      const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
      const groups = 'demo-ng ng1-public-ssh';
      await cli.ok(`update sequence ${groups} --name december --no-wait`);
      await eventually('both groups are marked and the first begins', async () => {
        const described = await cli.ok('describe sequence december');
        if (!described.includes('demo-ng  InProgress')) return undefined;
        assert.match(described, /ng1-public-ssh {2}Waiting/);
        const told = await kubectl.ok(marks);
        assert.ok(told.split('\n').filter((one) => one === 'december').length >= 2, told);
        return described;
      });
      await eventually('the sequence is over', async () => {
        await cli.ok('world advance 2m');
        const told = await kubectl.ok('get ngus december');
        return /Ended/.test(told) ? told : undefined;
      });
      assert.match(await kubectl.ok('get ngus december'), /Successful +Ended +2 +2/);
      await kubectl.ok('wait --for=condition=Complete ngus/december --timeout=10s');
      assert.doesNotMatch(await kubectl.ok(marks), /december/);
      const updates = await kubectl.ok('get ngu');
      assert.equal([...updates.matchAll(/Successful/g)].length, 2);
      await kubectl.ok('delete ngus december');
      assert.match(await cli.ok('get sequences'), /there are no update sequences/);
    });
  });
});
