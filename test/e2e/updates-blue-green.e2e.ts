// Blue/green with kubectl and drover: invalid settings are refused, and the plan reports the cost.
// Old nodes are kept empty beside as many new ones. A rollback ends with the same nodes; the second
// update terminates them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const app = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {eks.amazonaws.com/nodegroup: demo-ng}
      containers: [{name: web, image: "web:1"}]
`;
const ours = 'get nodes -l eks.amazonaws.com/nodegroup=demo-ng --no-headers';

const clientsOf = (world: ServedWorld) => ({
  cli: stepsOf('drover', (args) => world.drover(...args)),
  kubectl: stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  ),
});

/** Advances world time until the client's output matches `text`. */
const until = (cli: Steps, client: Steps, command: string, text: RegExp): Promise<string> =>
  eventually(
    `\`${command}\` says ${text}`,
    async () => {
      await cli.ok('world advance 15s');
      const told = await client.ok(command);
      return text.test(told) ? told : undefined;
    },
    240_000,
  );

const rows = (table: string): readonly (readonly [string, string])[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map(([name = '', state = '']) => [name, state]);

describe('a blue/green update', {
  skip: skipWhen('blue/green', whyNot),
  timeout: 600_000,
}, () => {
  it('keeps the old nodes until its soak is over, and goes back to them before that', async () => {
    await inWorld({ judged: { settled: true } }, async (world) => {
      const { cli, kubectl } = clientsOf(world);
      const patch = (updateConfig: object): readonly [string, string] => [
        'patch ng demo-ng --type=merge -p',
        JSON.stringify({ spec: { updateConfig } }),
      ];
      const updateStrategy = 'BLUE_GREEN';
      assert.match(
        await kubectl.fails(...patch({ updateStrategy, drain: { onTimeout: 'Quarantine' } })),
        /drain\.onTimeout: Quarantine makes no sense with updateStrategy: BLUE_GREEN/,
      );
      assert.match(
        await kubectl.fails(...patch({ updateStrategy: 'SURGE', blueGreen: { soakSeconds: 1 } })),
        /blueGreen is of updateStrategy: BLUE_GREEN, which must be set with it/,
      );
      await kubectl.ok(...patch({ updateStrategy, blueGreen: { soakSeconds: 86_400 } }));
      await kubectl.ok('scale ng demo-ng --replicas=2');
      await kubectl.okWith(app, 'apply -f -');
      await until(cli, kubectl, 'get ng demo-ng', /ACTIVE/);
      await until(cli, kubectl, 'get deploy web', / 4\/4 /);
      const before = rows(await until(cli, kubectl, ours, /Ready[\s\S]*\n.* Ready/));
      assert.equal(before.length, 2);

      const plan = await cli.ok('plan update demo-ng --details');
      assert.match(plan, /launches 2 \(2 first\).*node-hours more/);
      const long = JSON.parse(await cli.ok('plan update demo-ng --soak 6d -o json'));
      assert.ok(long.minutes.p50 > 6 * 24 * 60, `${long.minutes.p50} minutes`);
      assert.match(
        await cli.fails('plan update demo-ng --strategy SURGE --soak 6d'),
        /policies.blueGreen is of strategy BLUE_GREEN, and this update is SURGE/,
      );
      await cli.ok('update nodegroup demo-ng --no-wait');
      const told = await until(cli, cli, 'describe update --nodegroup demo-ng', /held by Soak/);
      assert.match(told, /0 of 2 nodes, 2 empty/);
      assert.match(told, /abort update \S+` goes back to them/);
      const both = rows(await kubectl.ok(ours));
      assert.equal(both.length, 4);
      for (const [name, state] of both) {
        const isOld = before.some(([old]) => old === name);
        assert.equal(state, isOld ? 'Ready,SchedulingDisabled' : 'Ready', name);
      }
      assert.match(await kubectl.ok('get deploy web'), / 4\/4 /);

      await cli.ok('abort update --nodegroup demo-ng --rollback');
      await until(cli, cli, 'get updates', /Successful[\s\S]*Cancelled|Cancelled[\s\S]*Successful/);
      await until(cli, kubectl, 'get ng demo-ng', /ACTIVE/);
      const back = rows(await kubectl.ok(ours));
      assert.deepEqual(back, before, 'the nodes of before, all of them schedulable');

      const again = 'update nodegroup demo-ng --strategy BLUE_GREEN --soak 6d --no-wait';
      await cli.ok(again);
      await until(cli, cli, 'describe update --nodegroup demo-ng', /held by Soak/);
      assert.match(
        await cli.ok('complete update --nodegroup demo-ng'),
        /^the soak of update \S+ is over: the old nodes go$/m,
      );
      await until(cli, cli, 'describe update --nodegroup demo-ng', /^Successful/m);
      await until(cli, kubectl, 'get ng demo-ng', /ACTIVE/);
      const after = rows(await kubectl.ok(ours));
      assert.equal(after.length, 2);
      assert.deepEqual(
        after.filter(([name]) => before.some(([old]) => old === name)),
        [],
      );
      assert.match(await kubectl.ok('get deploy web'), / 4\/4 /);
    });
  });
});
