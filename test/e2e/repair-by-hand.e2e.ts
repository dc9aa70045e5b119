// Repairs requested by an operator, EC2's failing status checks, and node repair configurations,
// with the real kubectl, aws and drover.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const noPods = 'no pod of an application has to move';
const cluster = '--cluster-name ironman-2022 --nodegroup-name demo-ng --output json';

describe('repairs by hand', { skip: skipWhen('repairs by hand', whyNot), timeout: 300_000 }, () => {
  let world: ServedWorld;
  let drover: Steps;
  let kubectl: Steps;
  let aws: Steps;
  let node = '';
  let instance = '';
  const suite = suiteWorld({
    args: ['--demo', '--port', '0', '--speed', '20'],
    judged: { settled: true, exempt: { 'evictions-sent-once': noPods } },
  });
  before(() => {
    world = suite.world;
    drover = stepsOf('drover', (args) => world.drover(...args));
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    aws = stepsOf('aws', (args) => world.aws(...args));
  });

  const nodeOfGroup = async (): Promise<readonly [string, string]> => {
    const path = '{.items[0].metadata.name} {.items[0].spec.providerID}';
    const line = await kubectl.ok(
      'get nodes -l eks.amazonaws.com/nodegroup=demo-ng -o',
      `jsonpath=${path}`,
    );
    const [name = '', id = ''] = line.split(' ');
    return [name, id.split('/').at(-1) ?? ''];
  };

  it('prints the plan of the controller and writes nothing', async () => {
    [node, instance] = await nodeOfGroup();
    const text = await drover.ok(`repair ${node} --dry-run`);
    assert.match(text, /^health: Healthy/m);
    assert.match(text, /NodeRepair \S+-1 becomes Repairing: Replace decided/);
    assert.match(text, /drain the node .*, then terminate the instance without decrement/);
    assert.match(text, /^Dry run: nothing was written\.$/m);
    const kept = await drover.ok(`repair ${node} --action Quarantine --dry-run`);
    assert.match(kept, /drain the node .*, then detach the instance for inspection/);
    assert.equal(await kubectl.ok('get noderepairs -o name'), '');
  });

  it('is refused while the node is held, and says so', async () => {
    assert.match(await drover.ok(`repair ${node} --hold`), /held: no repair of it starts/);
    const { code, stderr } = await world.drover('repair', node);
    assert.equal(code, 3);
    assert.match(stderr, /held up by hold: annotation drover.dev\/repair=hold on the node/);
    await drover.ok(`repair ${node} --release`);
    assert.match(await drover.fails(`repair ${node} --overrule hold`), /--overrule takes /);
  });

  it('replaces a healthy node, and waits for the new one', async () => {
    const text = await drover.ok(`repair ${node} --wait`);
    assert.match(text, /Replace requested \(NodeRepair /);
    assert.match(text, /Succeeded: (replaced by i-|terminated; the group has)/);
    const [name, id] = await nodeOfGroup();
    assert.notEqual(id, instance);
    node = name;
    instance = id;
  });

  it('takes every field of a node repair configuration, and describes it back', async () => {
    const override = {
      nodeMonitoringCondition: 'NetworkingReady',
      nodeUnhealthyReason: 'InterfaceNotUp',
      minRepairWaitTimeMins: 15,
      repairAction: 'NoAction',
    };
    const config = {
      enabled: true,
      maxUnhealthyNodeThresholdPercentage: 40,
      maxParallelNodesRepairedCount: 2,
      nodeRepairConfigOverrides: [override],
    };
    const update = `eks update-nodegroup-config ${cluster} --node-repair-config`;
    const { update: made } = JSON.parse(await aws.ok(update, JSON.stringify(config)));
    assert.deepEqual(
      made.params.map(({ type }: { type: string }) => type),
      ['NodeRepairEnabled', 'NodeRepairConfig'],
    );
    const described = await eventually('the update is carried out', async () => {
      const { nodegroup } = JSON.parse(await aws.ok(`eks describe-nodegroup ${cluster}`));
      const found = nodegroup.nodeRepairConfig;
      return found?.maxParallelNodesRepairedCount === 2 ? found : undefined;
    });
    assert.deepEqual(described, config);
    const count = { enabled: true, maxUnhealthyNodeThresholdCount: 3 };
    await eventually('the next update begins', async () => {
      const ran = await world.aws(...`${update} ${JSON.stringify(count)}`.split(' '));
      return ran.code === 0 ? true : undefined;
    });
  });

  it('refuses values that EKS refuses', async () => {
    const update = `eks update-nodegroup-config ${cluster} --node-repair-config`;
    const both = '{"maxUnhealthyNodeThresholdCount":1,"maxUnhealthyNodeThresholdPercentage":5}';
    const override = (action: string, more = '') =>
      `{"nodeRepairConfigOverrides":[{"nodeMonitoringCondition":"NetworkingReady",${more}"repairAction":"${action}"}]}`;
    const reason = '"nodeUnhealthyReason":"r","minRepairWaitTimeMins":1,';
    for (const [value, words] of [
      [both, /InvalidParameterException.*Only one of maxUnhealthyNodeThresholdCount and/],
      [override('Replace'), /nodeRepairConfigOverrides need nodeUnhealthyReason/],
      [override('Terminate', reason), /Terminate/],
      ['{"maxParallelNodesRepairedPercentage":101}', /101|100/],
      ['{"maxParallelNodesRepairedCount":0}', /0|1/],
    ] as const) {
      assert.match(await aws.fails(update, value), words);
    }
  });

  it('follows a failing status check of EC2', async () => {
    await drover.ok(`world inject system-impaired --node ${node}`);
    // EC2 reports a young instance as initializing.
    await drover.ok('world advance 5m');
    const status = JSON.parse(
      await aws.ok(`ec2 describe-instance-status --output json --instance-ids ${instance}`),
    );
    const [{ SystemStatus: system, InstanceStatus: own }] = status.InstanceStatuses;
    assert.equal(system.Status, 'impaired');
    assert.equal(system.Details[0].Status, 'failed');
    assert.match(system.Details[0].ImpairedSince, /^20/);
    assert.equal(own.Status, 'ok');
    await drover.ok('world advance 5m');
    const found = await eventually('the episode is recorded', async () => {
      const text = await drover.ok('get repairs');
      return text.includes('SystemStatus Impaired') ? text : undefined;
    });
    assert.match(found, /SystemStatus Impaired +Waiting +Replace/);
    await drover.ok('world advance 30m');
    await eventually('the instance is replaced', async () => {
      await drover.ok('world advance 1m');
      const [, id] = await nodeOfGroup();
      return id !== '' && id !== instance ? true : undefined;
    });
    await drover.ok('world clear');
  });
});
