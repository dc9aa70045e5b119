// A rebalance recommendation and a manual drain, as an operator sees them with kubectl and drover.
// Both show what a node waits for, how it returns to service, and how many nodes of its group are
// in service.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const noHook = 'no instance is terminated, so no hook opens';

describe('a rebalance recommendation', {
  skip: skipWhen('a rebalance recommendation', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;
  let drover: Steps;
  let node = '';
  let disruption = '';

  const suite = suiteWorld({
    judged: {
      settled: true,
      exempt: {
        'hooks-never-run-out': noHook,
        'hooks-complete-when-empty': noHook,
        'foreign-hooks-left-alone': noHook,
        'causes-that-may-wait-take-turns': 'no group rebalances its capacity, so none begins',
      },
    },
  });
  before(async () => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    drover = stepsOf('drover', (args) => world.drover(...args));
    const path = 'jsonpath={.items[0].metadata.name} {.items[0].spec.providerID}';
    const found = await kubectl.ok('get nodes -l eks.amazonaws.com/nodegroup=demo-ng -o', path);
    const [name = '', id = ''] = found.split(' ');
    node = name;
    disruption = `nodedisruption/${id.split('/').at(-1) ?? ''}`;
  });
  const phase = (): Promise<string> =>
    kubectl.ok(`get ${disruption} -o`, 'jsonpath={.status.phase}');
  const inService = (): Promise<string> =>
    kubectl.ok('get nodegroup demo-ng -o', 'jsonpath={.status.ready}');
  const isMarked = async (): Promise<boolean> => {
    const shown = await kubectl.ok(`get node ${node} --show-labels`);
    return shown.includes('SchedulingDisabled') || shown.includes('exclude-from-external-load');
  };

  it('leaves a node of a group that does not rebalance in service, and says why', async () => {
    await drover.ok(`world inject rebalance --node ${node}`);
    const told = await eventually('it says what it waits for', async () => {
      const { stdout } = await world.drover('explain', node);
      return /CapacityRebalance is off|on demand/.test(stdout) ? stdout : undefined;
    });
    assert.match(told, /because of RebalanceRecommendation/);
    assert.equal(await isMarked(), false);
    assert.equal(await inService(), '1');
  });

  it('is withdrawn by drover undrain', async () => {
    await drover.ok(`undrain ${node}`);
    await kubectl.ok(`wait ${disruption} --for=jsonpath={.status.phase}=Ended --timeout=60s`);
    assert.equal(await isMarked(), false);
  });

  it('is over after an hour in which nothing followed', async () => {
    await drover.ok(`world inject rebalance --node ${node}`);
    await drover.ok('world advance 62m');
    await eventually('it has ended', async () => ((await phase()) === 'Ended' ? true : undefined));
    assert.equal(await isMarked(), false);
  });

  it('READY of kubectl get ng counts the nodes in service', async () => {
    await drover.ok(`drain ${node}`);
    await eventually('the drained node does not count', async () =>
      (await inService()) === '0' ? true : undefined,
    );
    assert.match(await kubectl.ok('get ng demo-ng'), /READY[\s\S]*demo-ng\s+\S+\s+1\s+0\s/);
    await drover.ok(`undrain ${node}`);
    await eventually('it counts again', async () =>
      (await inService()) === '1' ? true : undefined,
    );
  });
});
