// Blue/green with a hook on a real API server with its controllers and scheduler. The Job is
// created with the rights of deploy/hooks.yaml; new pods avoid the old node, which is kept empty; a
// rollback uncordons it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inArrangement } from '../support/arrangements.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { whyNoStage } from '../support/given-reasons.ts';
import { hookRights } from '../support/rights.ts';
import { stepsOf } from '../support/steps.ts';
import { skipWhen } from '../support/stories.ts';
import { isWhole, type NodeTold } from '../support/update-stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const whyNotReal = whyNot ?? (await whyNoStage());

/** The demo's namespace, which is deleted from a given cluster after the test. */
const namespace = 'demo';
const cronJob = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'backup', namespace },
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    jobTemplate: {
      spec: {
        backoffLimit: 0,
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
        },
      },
    },
  },
};

const updateConfig = {
  updateStrategy: 'BLUE_GREEN',
  blueGreen: { soakSeconds: 86_400 },
  hooks: { preDrain: { job: { namespace, cronJob: 'backup' }, timeoutSeconds: 3_600 } },
};

const clientsOf = (world: ServedWorld) => ({
  drover: stepsOf('drover', (args) => world.drover(...args)),
  kubectl: stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  ),
});

describe('a blue/green update on a real API server', {
  skip: skipWhen('blue/green on a real API server', whyNotReal),
  timeout: 600_000,
}, () => {
  it('runs its hook, keeps the old node empty, and goes back to it', async () => {
    const judged = { settled: false, byWallClock: true };
    await inArrangement({ arrangement: 'a real API server', judged }, async ({ world, make }) => {
      const { drover, kubectl } = clientsOf(world);
      const nodes = async (): Promise<readonly NodeTold[]> => {
        const told = await kubectl.ok('get nodes -l eks.amazonaws.com/nodegroup=demo-ng -o json');
        return JSON.parse(told).items;
      };
      const until = (what: string, command: string, text: RegExp): Promise<true> =>
        eventually(
          what,
          async () => (text.test(await kubectl.ok(command)) ? true : undefined),
          300_000,
        );
      await make([cronJob, ...hookRights('eks:node-manager', namespace)]);
      const spec = JSON.stringify({ spec: { updateConfig } });
      await kubectl.ok('patch ng demo-ng --type=merge -p', spec);
      await until('the group rests', 'get ng demo-ng', /ACTIVE/);
      const [old, ...more] = await nodes();
      assert.ok(old !== undefined && more.length === 0);
      const { name } = old.metadata;

      await drover.ok('update nodegroup demo-ng --no-wait');
      await until('it soaks', 'get nodegroupupdates -o jsonpath={..status.phase}', /Soaking/);
      const both = await nodes();
      assert.deepEqual(
        both.map((node) => [node.metadata.name === name, isWhole(node)]).toSorted(),
        [
          [false, true],
          [true, false],
        ],
      );
      const jobs = await kubectl.ok(
        `get jobs -n ${namespace} -o jsonpath={..status.conditions[*].type}`,
      );
      assert.match(jobs, /Complete/);
      const onOld = `get pods -A --field-selector spec.nodeName=${name}`;
      const left = await kubectl.ok(`${onOld} -o jsonpath={..ownerReferences[*].kind}`);
      // A given cluster may have no DaemonSet.
      assert.match(left, /^(?:DaemonSet ?)*$/);

      await drover.ok('abort update --nodegroup demo-ng');
      await eventually('the old node is open again', async () => {
        const back = (await nodes()).find(({ metadata }) => metadata.name === name);
        return back !== undefined && isWhole(back) ? true : undefined;
      });
      await until('its taint is off', `get node ${name} -o jsonpath={.spec}`, /^(?!.*outdated)/s);
    });
  });
});
