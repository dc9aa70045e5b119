// The real eksctl against the demo: it lists, scales, creates, upgrades and deletes node groups
// through their stacks. Its waiters poll every 30 s.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, run, type ServedWorld } from '../support/demo-world.ts';
import { howToInstall, peerProgram } from '../support/peers.ts';
import { rowsOf, type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const eksctl = peerProgram('eksctl');
const whyNot =
  howToInstall('eksctl', await missing(eksctl, ['version'])) ??
  (await missing('aws', ['--version'])) ??
  (await missing('kubectl', ['version', '--client']));
const cluster = 'ironman-2022';
const stackOf = (group: string): string => `eksctl-${cluster}-nodegroup-${group}`;
const upgradeMs = 600_000;

describe('eksctl', { skip: skipWhen('eksctl', whyNot), timeout: 1_500_000 }, () => {
  let world: ServedWorld;
  let aws: Steps;
  let kubectl: Steps;
  let peer: Steps;

  const suite = suiteWorld({
    args: ['--demo', '--port', '0', '--speed', '60'],
    judged: { settled: false },
  });
  before(() => {
    world = suite.world;
    aws = stepsOf('aws', (args) => world.aws(...args));
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    const env = { ...world.env, AWS_REGION: String(world.env.AWS_DEFAULT_REGION) };
    peer = stepsOf('eksctl', (args) =>
      run(eksctl, [...args, '--cluster', cluster], { env, timeoutMs: upgradeMs }),
    );
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const group = (name: string, query: string): Promise<string> =>
    json<string>(
      `eks describe-nodegroup --cluster-name ${cluster} --nodegroup-name ${name} --query nodegroup.${query}`,
    );
  const newest = async (): Promise<string> =>
    json<string>(
      'ssm get-parameter --query Parameter.Value --name',
      '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/release_version',
    );
  const nodesOf = async (name: string): Promise<readonly string[]> =>
    rowsOf(await kubectl.ok(`get nodes -l eks.amazonaws.com/nodegroup=${name}`));

  it('lists managed and self-managed groups as article 001 does', async () => {
    const rows = rowsOf(await peer.ok('get nodegroup'));
    assert.match(rows[0] ?? '', /^ironman-2022\s+demo-ng\s+ACTIVE.*AL2_x86_64.*managed/);
    assert.match(rows[1] ?? '', /demo-self-ng\s+CREATE_COMPLETE.*ami-.*unmanaged/);
    assert.match(rows[2] ?? '', /ng1-public-ssh\s+ACTIVE/);
  });

  it('scales a managed group', async () => {
    await peer.ok('scale nodegroup --name ng1-public-ssh --nodes 3');
    await eventually('the third node', async () => {
      const rows = await nodesOf('ng1-public-ssh');
      return rows.filter((row) => / Ready /.test(row)).length === 3 ? true : undefined;
    });
  });

  it('makes an add-on and says which policies it needs', async () => {
    const told = await peer.ok('create addon --name aws-ebs-csi-driver');
    assert.match(told, /recommended policies were found for "aws-ebs-csi-driver" addon/);
    const addon = `--cluster-name ${cluster} --addon-name aws-ebs-csi-driver`;
    await eventually('the add-on is active', async () => {
      const status = await json(`eks describe-addon ${addon} --query addon.status`);
      return status === 'ACTIVE' ? true : undefined;
    });
  });

  it('upgrades a group through its stack, which ends when the update has ended', async () => {
    assert.notEqual(await group('demo-ng', 'releaseVersion'), await newest());
    const told = await peer.ok('upgrade nodegroup --name demo-ng');
    assert.match(told, /setting ForceUpdateEnabled value to false/);
    assert.match(told, /nodegroup successfully upgraded/);
    assert.equal(await group('demo-ng', 'releaseVersion'), await newest());
    const stack = `--stack-name ${stackOf('demo-ng')}`;
    const ended = await json<readonly string[]>(
      `cloudformation describe-stack-events ${stack} --query`,
      "StackEvents[?LogicalResourceId=='ManagedNodeGroup' && ResourceStatus=='UPDATE_COMPLETE'].Timestamp",
    );
    const [update] = await json<readonly string[]>(
      `eks list-updates --name ${cluster} --nodegroup-name demo-ng --query updateIds`,
    );
    const done = await kubectl.ok(`get nodegroupupdate ${update} -o jsonpath={.status.endedAt}`);
    assert.ok(Date.parse(ended[0] ?? '') >= Date.parse(done.trim()), `${ended[0]} >= ${done}`);
    const sets = await json<readonly string[]>(
      `cloudformation list-change-sets ${stack} --query Summaries[].ExecutionStatus`,
    );
    assert.deepEqual(sets, ['EXECUTE_COMPLETE']);
    const version = await group('demo-ng', 'tags."alpha.eksctl.io/eksctl-version"');
    assert.notEqual(version, '0.215.0', 'the tags of the stack reach the group');
  });

  it('finds nothing to upgrade the second time', async () => {
    const told = await peer.ok('upgrade nodegroup --name demo-ng');
    assert.match(told, /nodegroup "demo-ng" is already up-to-date/);
    assert.match(told, /nothing to update/);
  });

  it('makes a managed group, and upgrades one that has no stack', async () => {
    const made = await peer.ok('create nodegroup --name new-ng --nodes 1 --node-type m5.large');
    assert.match(made, /created 1 managed nodegroup\(s\) in cluster "ironman-2022"/);
    assert.equal((await nodesOf('new-ng')).length, 1);
    const subnets = await json<readonly string[]>(
      'ec2 describe-subnets --query Subnets[].SubnetId',
    );
    const releases = await json<readonly string[]>(
      'ec2 describe-images --query',
      "sort(Images[?starts_with(Name, 'amazon-eks-node-1.32-')].Name)",
    );
    const older = `1.32.9-${releases[0]?.slice(-8)}`;
    await aws.ok(
      `eks create-nodegroup --cluster-name ${cluster} --nodegroup-name bare-ng --ami-type AL2_x86_64`,
      ...['--release-version', older, '--subnets', ...subnets.slice(0, 2)],
      ...['--node-role', await group('demo-ng', 'nodeRole')],
    );
    await eventually('bare-ng is active', async () =>
      (await group('bare-ng', 'status')) === 'ACTIVE' ? true : undefined,
    );
    assert.match(
      await peer.ok('upgrade nodegroup --name bare-ng'),
      /nodegroup successfully upgraded/,
    );
    assert.equal(await group('bare-ng', 'releaseVersion'), await newest());
  });

  it('deletes a group with its stack', async () => {
    const told = await peer.ok(
      'delete nodegroup --name new-ng --wait --pod-eviction-wait-period 1s',
    );
    assert.match(told, /deleted 1 nodegroup\(s\) from cluster "ironman-2022"/);
    const gone = await aws.fails(
      `cloudformation describe-stacks --stack-name ${stackOf('new-ng')}`,
    );
    assert.match(gone, /does not exist/);
  });
});
