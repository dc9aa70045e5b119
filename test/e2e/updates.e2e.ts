// Version updates with the real clients: requested and refused through aws; followed, paused and
// stopped with drover; reported by both. update-article-003 covers what happens to the nodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing, type Ran, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const group = (name: string): string => `--cluster-name ironman-2022 --nodegroup-name ${name}`;
const named = group('demo-ng');
const word = (text: string): string => text.trim().replaceAll('"', '');

const clientsOf = (world: ServedWorld): { readonly aws: Steps; readonly kubectl: Steps } => ({
  aws: stepsOf('aws', (args) => world.aws(...args)),
  kubectl: stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  ),
});

/** Runs drover until it exits, while world time advances. */
const followed = async (world: ServedWorld, ...args: readonly string[]): Promise<Ran> => {
  let ended: Ran | undefined;
  const running = world.drover(...args).then((ran) => {
    ended = ran;
  });
  await eventually(
    `drover ${args.join(' ')} ends`,
    async () => {
      await world.drover('world', 'advance', '20s');
      return ended;
    },
    300_000,
  );
  await running;
  assert(ended !== undefined);
  return ended;
};

const jsonOf = async (world: ServedWorld, ...args: readonly string[]) => {
  const ran = await world.drover(...args, '-o', 'json');
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stdout);
};

/** The two releases, older first. The demo's group runs the older one. */
const releasesOf = async (aws: Steps): Promise<readonly [string, string]> => {
  const older = word(
    await aws.ok(`eks describe-nodegroup ${named} --query nodegroup.releaseVersion`),
  );
  const names = await aws.ok(
    'ec2 describe-images --filters Name=name,Values=amazon-eks-node-1.32-v* --query Images[].Name --output text',
  );
  const newest = names
    .trim()
    .split(/\s+/)
    .map((name) => name.replace(/^.*-v/, ''))
    .sort()
    .at(-1);
  return [older, `${older.split('-')[0]}-${newest}`];
};

/** One pod for each of two nodes, and a budget that never allows an eviction. */
const blocker = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {eks.amazonaws.com/nodegroup: ${name}}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: web, image: "web:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
`;

const judged = { settled: true } as const;

/**
 * Sets the strategy MINIMAL, which replaces the existing nodes one after the other, without a
 * surplus.
 */
const beMinimal = async (world: ServedWorld, name = 'demo-ng'): Promise<void> => {
  const { aws } = clientsOf(world);
  const config = '--update-config maxUnavailable=1,updateStrategy=MINIMAL';
  await aws.ok(`eks update-nodegroup-config ${group(name)} ${config}`);
  await eventually('the group takes its strategy', async () => {
    await world.drover('world', 'advance', '5s');
    const status = await aws.ok(`eks describe-nodegroup ${group(name)} --query nodegroup.status`);
    return word(status) === 'ACTIVE' ? true : undefined;
  });
};

const block = async (world: ServedWorld, name = 'demo-ng'): Promise<void> => {
  const { kubectl } = clientsOf(world);
  await kubectl.okWith(blocker(name), 'apply -f -');
  await eventually('the pods run', async () => {
    await world.drover('world', 'advance', '10s');
    const ready = await kubectl.ok('get deploy web -o jsonpath={.status.readyReplicas}');
    return ready === '2' ? true : undefined;
  });
};

describe('a version update', {
  skip: skipWhen('version updates', whyNot),
  timeout: 600_000,
}, () => {
  it("is refused in EKS' words, by aws and by drover, and leaves nothing behind", async () => {
    // Nothing happens in this world that an oracle could judge.
    await inWorld({ unjudged: true }, async (world) => {
      const { aws } = clientsOf(world);
      const update = `eks update-nodegroup-version ${named}`;
      const version =
        /Nodegroup Kubernetes version should be equal to Cluster kubernetes version 1\.32 or NodeGroup kubernetes version 1\.32/;
      const refusals: readonly (readonly [string, RegExp])[] = [
        [`${update} --kubernetes-version 1.40`, version],
        [`${update} --kubernetes-version 1.31`, version],
        [`${update} --kubernetes-version newest`, version],
        [
          `${update} --release-version 1.32.9-20200101`,
          /InvalidParameterException.*Requested release version 1\.32\.9-20200101 is not valid for kubernetes version 1\.32\./,
        ],
        [
          `${update} --launch-template id=lt-1,name=n`,
          /Either provide launch template ID or launch template name in the request\./,
        ],
        [
          `${update} --launch-template id=lt-0123456789abcdef0`,
          /InvalidParameterException.*is not the one that the node group was created with/,
        ],
        [
          'eks update-nodegroup-version --cluster-name ironman-2022 --nodegroup-name nope',
          /ResourceNotFoundException.*No node group found for name: nope\./,
        ],
        [
          `eks update-nodegroup-config ${named} --update-config maxUnavailable=1,updateStrategy=SURGE`,
          /SURGE/,
        ],
      ];
      for (const [line, words] of refusals) assert.match(await aws.fails(line), words, line);
      const flags: readonly (readonly [string, number, RegExp])[] = [
        ['--kubernetes-version=1.40', 3, version],
        [
          '--release-version=1.32.9-20200101',
          3,
          /Requested release version .* The newest of AL2_x86_64 are: 1\.32\.9-\d+, 1\.32\.9-\d+/,
        ],
        ['--launch-template-version=9', 3, /Launch template lt-\S+ version 9 could not be found\./],
        ['--cluster=other', 1, /node group demo-ng is one of cluster ironman-2022, not of other/],
        ['--wait=perhaps', 2, /--wait takes true or false/],
        ['--timeout=15', 2, /--timeout takes a duration/],
      ];
      for (const [flag, code, words] of flags) {
        const ran = await world.drover('update', 'nodegroup', 'demo-ng', flag);
        assert.equal(ran.code, code, flag);
        assert.match(ran.stderr, words, flag);
      }
      const { items } = await jsonOf(world, 'get', 'updates');
      assert.deepEqual(items, []);
    });
  });

  it('is followed to its end, and told by aws and drover alike', async () => {
    await inWorld({ judged }, async (world) => {
      const { aws } = clientsOf(world);
      await beMinimal(world);
      const [older, newest] = await releasesOf(aws);
      assert.notEqual(older, newest);
      const token = '--client-request-token one';
      const update = `eks update-nodegroup-version ${named} ${token} --query update.id`;
      const id = word(await aws.ok(update));
      assert.equal(word(await aws.ok(update)), id, 'asked twice it is one');
      assert.match(
        await aws.fails(`eks update-nodegroup-version ${named}`),
        /ResourceInUseException.*Nodegroup cannot be updated as it is currently not in Active State/,
      );
      const again = await world.drover('update', 'nodegroup', 'demo-ng');
      assert.equal(again.code, 3);
      assert.match(again.stderr, new RegExp(`update ${id} of demo-ng is in progress`));
      const describe = `eks describe-nodegroup ${named} --output text --query`;
      const shown = `${describe} nodegroup.[status,version,releaseVersion]`;
      assert.deepEqual((await aws.ok(shown)).trim().split(/\s+/), ['UPDATING', '1.32', older]);

      const watched = await followed(world, 'get', 'update', id.slice(0, 13), '--watch');
      assert.equal(watched.code, 0, watched.stderr);
      assert.match(watched.stdout, new RegExp(`^update ${id} of demo-ng: .* -> ${newest}`));
      assert.match(watched.stdout, /\nphase Rolling\n/);
      assert.match(watched.stdout, /\n1 of 1 nodes done\n/);
      assert.match(watched.stdout, new RegExp(`update ${id}: Successful\n$`));

      const told = JSON.parse(
        await aws.ok(
          `eks describe-update --name ironman-2022 --nodegroup-name demo-ng --update-id ${id}`,
        ),
      ).update;
      assert.equal(told.status, 'Successful');
      assert.equal(told.type, 'VersionUpdate');
      assert.deepEqual(told.params, [
        { type: 'Version', value: '1.32' },
        { type: 'ReleaseVersion', value: newest },
      ]);
      assert.deepEqual(told.errors, []);
      assert.deepEqual((await aws.ok(shown)).trim().split(/\s+/), ['ACTIVE', '1.32', newest]);
      const list = 'eks list-updates --name ironman-2022 --nodegroup-name demo-ng';
      const { updateIds } = JSON.parse(await aws.ok(list));
      assert.equal(updateIds.length, 2);
      assert.equal(updateIds.at(-1), id, 'the newest last');

      const { items } = await jsonOf(world, 'get', 'updates', '--nodegroup', 'demo-ng');
      assert.deepEqual(
        items.map((item: { type: string }) => item.type),
        ['VersionUpdate', 'ConfigUpdate'],
      );
      assert.equal(items[0].strategy, 'MINIMAL');
      assert.equal(items[0].from.releaseVersion, older);
      assert.deepEqual(items[0].progress, { total: 1, done: 1, draining: 0, failed: 0 });
      const described = await world.drover('describe', 'update', id);
      assert.match(described.stdout, /\nphases:\n.* Preparing .*\n/);
      assert.match(described.stdout, /\[#{24}\] {2}1 of 1 nodes/);

      // An update to the current version has nothing to do.
      const nothing = await followed(world, 'update', 'nodegroup', 'demo-ng');
      assert.equal(nothing.code, 0, nothing.stderr);
      const nodes = await jsonOf(world, 'get', 'updates');
      assert.equal(nodes.items[0].progress?.total ?? 0, 0);

      const back = await followed(world, 'rollback', 'nodegroup', 'demo-ng');
      assert.equal(back.code, 0, back.stderr);
      assert.deepEqual((await aws.ok(shown)).trim().split(/\s+/), ['ACTIVE', '1.32', older]);
    });
  });

  it('that a budget stops fails with pod, budget and owner, as drover and aws tell it', async () => {
    const none = 'no instance is terminated';
    const exempt = {
      'hooks-never-run-out': none,
      'hooks-complete-when-empty': none,
      'foreign-hooks-left-alone': none,
    };
    await inWorld({ judged: { settled: true, exempt } }, async (world) => {
      const { aws } = clientsOf(world);
      await beMinimal(world);
      await block(world);
      const failed = await followed(world, 'upgrade', 'nodegroup', '--name', 'demo-ng');
      assert.equal(failed.code, 1);
      const line = /: pod default\/web-\S+ of ReplicaSet\/web-\S+ waits for budget default\/web /;
      assert.match(failed.stdout, line);
      assert.match(failed.stderr, /Failed; PodEvictionFailure: .*default\/web-/);
      const id = word(
        await aws.ok(
          'eks list-updates --name ironman-2022 --nodegroup-name demo-ng --query updateIds[-1]',
        ),
      );
      const errors = await aws.ok(
        `eks describe-update --name ironman-2022 --nodegroup-name demo-ng --update-id ${id} --output text --query update.[status,errors[0].errorCode]`,
      );
      assert.deepEqual(errors.trim().split(/\s+/), ['Failed', 'PodEvictionFailure']);
      const document = await jsonOf(world, 'describe', 'update', '--nodegroup', 'demo-ng');
      assert.equal(document.status, 'Failed');
      assert(document.nodes.some((node: { state: string }) => node.state === 'failed'));
    });
  });

  it('is paused, continues, and is stopped', async () => {
    await inWorld({ judged }, async (world) => {
      const cli = stepsOf('drover', (args) => world.drover(...args));
      const { aws, kubectl } = clientsOf(world);
      const [older] = await releasesOf(aws);
      const name = 'ng1-public-ssh';
      const of = `update --nodegroup ${name}`;
      await beMinimal(world, name);
      await block(world, name);
      await cli.ok(`update nodegroup ${name} --release-version ${older} --no-wait`);
      assert.match(await cli.ok(`pause ${of}`), /is paused: running drains finish/);
      assert.match(await cli.ok(`pause ${of}`), /is paused already/);
      assert.match(await cli.ok(`resume ${of}`), /continues/);
      const draining = async (): Promise<string> =>
        kubectl.ok('get ngu -o jsonpath={.items[*].status.progress.draining}');
      await eventually('the first node is being drained', async () => {
        await cli.ok('world advance 5s');
        return (await draining()) === '1' ? true : undefined;
      });
      await cli.ok(`pause ${of}`);
      await kubectl.ok('patch pdb web --type=merge -p', '{"spec":{"maxUnavailable":1}}');
      await eventually('the first node is done', async () => {
        await cli.ok('world advance 20s');
        return (await cli.ok('get updates')).includes('1/2') ? true : undefined;
      });
      await cli.ok('world advance 10m');
      assert.match(await cli.ok('get updates'), /Paused +Rolling +1\/2/);
      assert.match(await cli.ok(`abort ${of}`), /is being stopped/);
      const watched = await followed(world, 'get', 'update', '--nodegroup', name, '--watch');
      assert.equal(watched.code, 3, `${watched.stdout}${watched.stderr}`);
      assert.match(watched.stderr, /Cancelled/);
      assert.match(await cli.fails(`pause ${of}`), /is over: Cancelled/);
    });
  });
});
