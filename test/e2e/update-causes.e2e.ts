// The causes for which an update fails, one after the other in one world with the real aws and
// kubectl. Each fails with EKS' code, names the object at fault, leaves the group unchanged, and
// succeeds on a new request once the cause is fixed.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';
import { budget, UpdateStory, type UpdateTold, webApp } from '../support/update-stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const codesOf = ({ errors }: UpdateTold): readonly string[] =>
  errors.map(({ errorCode }) => errorCode);

describe('causes for which an update fails', {
  skip: skipWhen('causes for which an update fails', whyNot),
  timeout: 600_000,
}, () => {
  const suite = suiteWorld({ judged: { settled: true } });
  let story: UpdateStory;
  let releases: [string, string];
  /**
   * The release that the group does not run; each test updates in the opposite direction of the one
   * before.
   */
  const next = (): string => {
    releases = [releases[1], releases[0]];
    return releases[0];
  };
  before(async () => {
    story = await UpdateStory.begin(suite.world);
    releases = [story.older, story.newest];
    await story.createGroup({ nodes: 1, zones: 1 });
  });

  /** The update succeeds after the cause is fixed, and the group is at rest. */
  const goesOn = async (release: string): Promise<void> => {
    await story.succeeds(release);
    await story.atRest(1);
  };

  it('several budgets on one pod: PodEvictionFailure, both named', async () => {
    const release = next();
    await story.apply([
      webApp(2),
      budget('web', { maxUnavailable: 1 }),
      budget('second', { minAvailable: 1 }),
    ]);
    const words = [/default\/web-\S+ of ReplicaSet\/web-/, /default\/second/, /default\/web[,)]/];
    await story.fails(release, { code: 'PodEvictionFailure', words });
    await story.atRest(1);
    await story.kubectl.ok('delete pdb second');
    await goesOn(release);
    await story.kubectl.ok('delete deployment,pdb --all');
  });

  it('a pod that tolerates every taint: PodEvictionFailure, the pod and its owner named', async () => {
    const release = next();
    const [node] = await story.nodes();
    const image = node?.metadata.labels['eks.amazonaws.com/nodegroup-image'];
    const nodeSelector = { 'eks.amazonaws.com/nodegroup-image': image };
    await story.apply([webApp(1, { nodeSelector, tolerations: [{ operator: 'Exists' }] })]);
    const words = [/default\/web-\S+ of ReplicaSet\/web-\S+, which tolerates every taint/];
    await story.fails(release, { code: 'PodEvictionFailure', words });
    await story.atRest(1);
    await story.kubectl.ok('delete deployment web');
    await goesOn(release);
  });

  it('no address for nodes: NodeCreationFailure in the article’s words, no old node touched', async () => {
    const release = next();
    const [node] = await story.nodes();
    await story.drover.ok(`world inject no-addresses --subnet ${await story.subnet()}`);
    const words = [
      /^Couldn't proceed with upgrade process as new nodes are not joining node group ng-v1/,
    ];
    const told = await story.fails(release, { code: 'NodeCreationFailure', words });
    assert.deepEqual(codesOf(told), ['NodeCreationFailure', 'InsufficientFreeAddresses']);
    await story.atRest(1);
    assert.equal((await story.nodes())[0]?.metadata.name, node?.metadata.name);
    await story.drover.ok('world clear');
    await goesOn(release);
  });

  it('no address for pods: PodEvictionFailure, since no replacement starts', async () => {
    const release = next();
    // The budget allows no eviction until the addresses are exhausted, so timing does not matter.
    await story.apply([webApp(4), budget('web', { maxUnavailable: 0 })]);
    const subnet = await story.subnet();
    const meanwhile = async (id: string): Promise<void> => {
      await story.until('the old node is drained', '5s', async () => {
        const phase = await story.kubectl.ok(
          `get nodegroupupdate ${id} -o jsonpath={.status.phase}`,
        );
        return phase === 'Rolling' ? true : undefined;
      });
      await story.drover.ok(`world inject no-addresses --subnet ${subnet}`);
      const allowed = JSON.stringify({ spec: { maxUnavailable: 1 } });
      await story.kubectl.ok(`patch pdb web --type merge -p ${allowed}`);
    };
    const words = [
      /default\/web-\S+ of ReplicaSet\/web-\S+ \(budget default\/web\)/,
      new RegExp(
        `waits for default/web-\\S+, not Ready since \\S+ on node ip-\\S+ \\(${subnet}\\)`,
      ),
      /FailedCreatePodSandBox: .*failed to assign an IP address to container/,
    ];
    await story.fails(release, { code: 'PodEvictionFailure', words, meanwhile });
    assert.match(
      await story.drover.ok('describe nodegroup ng-v1'),
      /remedy: free addresses in the subnet that the message names/,
    );
    await story.drover.ok('world clear');
    await goesOn(release);
  });
});

describe('a node group that is updated and deleted beside a budget', {
  skip: skipWhen('a node group that is updated and deleted beside a budget', whyNot),
  timeout: 300_000,
}, () => {
  const exempt = {
    'evictions-within-budgets': 'the only budget lets no pod go',
    'hooks-never-run-out': 'the group whose nodes wait in hooks is deleted in this story',
  };
  const suite = suiteWorld({ judged: { settled: true, exempt } });

  it('a budget that never lets go is reported before the update, and while the group is deleted', async () => {
    const story = await UpdateStory.begin(suite.world);
    await story.createGroup({ nodes: 1, zones: 1 });
    await story.apply([webApp(1), budget('web', { minAvailable: 1 })]);
    // With MINIMAL, no new node is starting when the group is deleted.
    const flags = ['--release-version', story.newest, '--strategy', 'MINIMAL', '--no-wait'];
    const asked = await suite.world.drover('update', 'nodegroup', 'ng-v1', ...flags);
    assert.equal(asked.code, 0, asked.stderr);
    const recorded = asked.stdout.indexOf('recorded');
    const warned = asked.stdout.search(/PodDisruptionBudget default\/web: .*; remedy: /);
    assert.ok(warned >= 0 && warned < recorded, asked.stdout);

    const words = ['delete', 'nodegroup', 'ng-v1', '--cluster', 'ironman-2022', '--wait'];
    const held = await suite.world.drover(...words, '--timeout', '8s');
    assert.equal(held.code, 4, held.stderr);
    assert.match(
      held.stdout,
      /node ip-\S+: pod default\/web-\S+ of ReplicaSet\/web-\S+ waits for budget default\/web \(.*needs 1 healthy pods and has 1/,
    );
    const asksOfGroups = () =>
      suite.world.audit().filter(({ userAgent, objectRef }) => {
        return userAgent?.startsWith('drover-cli') && objectRef?.resource === 'nodegroups';
      }).length;
    const asksBefore = asksOfGroups();
    const deleting = suite.world.drover(...words);
    // The test waits until the command has read the group again, since a deleted group would be an
    // error.
    await eventually('it is deleted again', async () => asksOfGroups() > asksBefore || undefined);
    await story.kubectl.ok('delete pdb web');
    const deleted = await deleting;
    assert.equal(deleted.code, 0, deleted.stderr);
  });
});
