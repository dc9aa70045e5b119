// An update that waits for a window, for approval and for a health probe, with the real clients.
// The tests check the output of each, and that no step starts early.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const named = '--cluster-name ironman-2022 --nodegroup-name demo-ng';

const clientsOf = (world: ServedWorld) => ({
  cli: stepsOf('drover', (args) => world.drover(...args)),
  aws: stepsOf('aws', (args) => world.aws(...args)),
  kubectl: stepsOf('kubectl', (args) => world.kubectl(...args)),
});

/** Advances world time until the output of drover's `command` matches `text`. */
const until = (cli: Steps, command: string, text: RegExp): Promise<string> =>
  eventually(`\`drover ${command}\` says ${text}`, async () => {
    await cli.ok('world advance 15s');
    const told = await cli.ok(command);
    return text.test(told) ? told : undefined;
  });

const patch = (kubectl: Steps, updateConfig: object): Promise<string> =>
  kubectl.ok('patch ng demo-ng --type=merge -p', JSON.stringify({ spec: { updateConfig } }));

const judged = { settled: true } as const;

describe('an update that may not begin', {
  skip: skipWhen('pacing of updates', whyNot),
  timeout: 600_000,
}, () => {
  it('waits for its window and for approval, and touches nothing before', async () => {
    await inWorld({ judged }, async (world) => {
      const { cli, aws, kubectl } = clientsOf(world);
      const never = [{ cron: '0 2 29 2 *', durationSeconds: 3600, timeZone: 'Europe/Berlin' }];
      await patch(kubectl, { updateStrategy: 'SURGE', approval: 'Required', windows: never });
      const plan = await cli.ok('plan update demo-ng --details');
      assert.match(
        plan,
        /held by Approval: [\s\S]*\nheld by Window: outside the maintenance windows/,
      );
      await cli.ok('update nodegroup demo-ng --no-wait');
      await until(cli, 'get updates', /Held \(Approval, Window\) +Pending/);
      const status = await aws.ok(
        `eks describe-nodegroup ${named} --query nodegroup.status --output text`,
      );
      // EKS reports any group with an update in progress as UPDATING, although nothing is changed
      // yet.
      assert.equal(status.trim(), 'UPDATING');
      assert.match(await kubectl.ok('get ng demo-ng'), /ACTIVE/);
      assert.match(await kubectl.ok('get ngu'), /InProgress +Pending .*Approval/);
      const told = await cli.ok('approve update --nodegroup demo-ng');
      assert.match(told, /is approved by \S+: it continues when nothing else holds it/);
      const held = await until(cli, 'describe update --nodegroup demo-ng', /held \(Window\)/);
      assert.match(held, /held by Window for .*the next opens at \d{4}-02-29T01:00:00/);
      assert.match(held, /approved:\n {2}by \S+/);
      await patch(kubectl, { windows: null });
      await until(cli, 'get updates', /Successful +Ended +1\/1/);
    });
  });

  it('begins no node while a health probe by HTTP does not pass', async () => {
    let isWell = false;
    const server = createServer((_, response) => {
      response.writeHead(isWell ? 200 : 503).end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`;
    try {
      await inWorld({ judged }, async (world) => {
        const { cli, kubectl } = clientsOf(world);
        const probes = [{ name: 'web', http: { url }, intervalSeconds: 5 }];
        await patch(kubectl, { updateStrategy: 'SURGE', probes });
        await cli.ok('update nodegroup demo-ng --no-wait');
        const held = await until(cli, 'describe update --nodegroup demo-ng', /held by Probe/);
        assert.match(held, /0 of 1 nodes/);
        await until(cli, 'describe update --nodegroup demo-ng', /answered 503.*3 of 3 failures/);
        isWell = true;
        await until(cli, 'get updates', /Successful +Ended +1\/1/);
      });
    } finally {
      server.close();
    }
  });
});
