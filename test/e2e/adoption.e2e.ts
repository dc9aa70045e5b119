// An Auto Scaling group that an operator created with aws only, with the real clients. It is
// adopted with four lines, drained when an instance is terminated, and released when its NodeGroup
// is deleted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const nodeGroup = `apiVersion: drover.dev/v1alpha1
kind: NodeGroup
metadata: {name: blue}
spec: {autoScalingGroupName: mine}
`;

const app = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {team: blue}
      containers: [{name: web, image: "web:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`;

const clientsOf = (world: ServedWorld) => ({
  aws: stepsOf('aws', (args) => world.aws(...args)),
  drover: stepsOf('drover', (args) => world.drover(...args)),
  kubectl: stepsOf('kubectl', (args, input) =>
    input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
  ),
});
type Clients = ReturnType<typeof clientsOf>;

interface Group {
  readonly VPCZoneIdentifier: string;
  readonly LaunchTemplate: { readonly LaunchTemplateId: string; readonly Version: string };
  readonly Instances: readonly { readonly InstanceId: string; readonly LifecycleState: string }[];
}

const groupLike = async ({ aws }: Clients, query: string): Promise<Group> => {
  const told = await aws.ok(
    'autoscaling describe-auto-scaling-groups --output json --query',
    `AutoScalingGroups[?${query}] | [0]`,
  );
  return JSON.parse(told) as Group;
};
const mine = (clients: Clients): Promise<Group> =>
  groupLike(clients, "AutoScalingGroupName=='mine'");

/** The state that must be the same before and after; instances by their IDs. */
const stateOf = async (clients: Clients): Promise<unknown> => {
  const { Instances, ...group } = await mine(clients);
  const hooks = await clients.aws.ok(
    'autoscaling describe-lifecycle-hooks --auto-scaling-group-name mine --output json',
  );
  const ids = Instances.map(({ InstanceId }) => InstanceId).toSorted();
  return { group, ids, hooks: JSON.parse(hooks) };
};

/**
 * Creates a launch template and a group of two, like the demo's self-managed one, by aws calls
 * only.
 */
const makeGroup = async (clients: Clients): Promise<void> => {
  const { aws } = clients;
  const like = await groupLike(clients, "contains(AutoScalingGroupName, 'demo-self-ng')");
  const told = await aws.ok(
    `ec2 describe-launch-template-versions --launch-template-id ${like.LaunchTemplate.LaunchTemplateId} --versions $Latest --output json --query LaunchTemplateVersions[0].LaunchTemplateData`,
  );
  const data = JSON.parse(told) as { readonly UserData: string };
  const text = Buffer.from(data.UserData, 'base64').toString();
  const labelled = text.replace(/--node-labels=[^\s'"]+/, '--node-labels=team=blue');
  assert.notEqual(labelled, text, text);
  const UserData = Buffer.from(labelled).toString('base64');
  await aws.ok(
    'ec2 create-launch-template --launch-template-name theirs --launch-template-data',
    JSON.stringify({ ...data, UserData }),
  );
  await aws.ok(
    `autoscaling create-auto-scaling-group --auto-scaling-group-name mine --min-size 0 --max-size 3 --desired-capacity 2 --launch-template LaunchTemplateName=theirs,Version=1 --tags Key=team,Value=blue --vpc-zone-identifier ${like.VPCZoneIdentifier}`,
  );
};

const until = ({ kubectl }: Clients, what: string, command: string, text: RegExp): Promise<true> =>
  eventually(what, async () => (text.test(await kubectl.ok(command)) ? true : undefined), 120_000);

const terminateOne = async (clients: Clients): Promise<{ id: string; node: string }> => {
  const { aws, kubectl } = clients;
  const [instance] = (await mine(clients)).Instances;
  const id = instance?.InstanceId ?? '';
  const node = await kubectl.ok(
    'get nodes -o',
    `jsonpath={.items[?(@.spec.providerID=="aws:///eu-west-1a/${id}")].metadata.name}{.items[?(@.spec.providerID=="aws:///eu-west-1b/${id}")].metadata.name}{.items[?(@.spec.providerID=="aws:///eu-west-1c/${id}")].metadata.name}`,
  );
  await aws.ok(
    `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${id} --no-should-decrement-desired-capacity`,
  );
  return { id, node: node.trim() };
};

describe('an Auto Scaling group that was there before', {
  skip: skipWhen('stories of adoption', whyNot),
  timeout: 300_000,
}, () => {
  it('is adopted with four lines, drains what is terminated, and is as before when released', async () => {
    const args = ['--demo', '--port', '0', '--speed', '10'];
    const exempt = { 'hooks-never-run-out': 'each hook is completed within seconds' };
    await inWorld({ args, judged: { settled: true, exempt } }, async (world) => {
      const clients = clientsOf(world);
      const { kubectl, drover, aws } = clients;
      await makeGroup(clients);
      await until(
        clients,
        'its nodes join',
        'get nodes -l team=blue --no-headers',
        /( Ready.*){2}/s,
      );
      const before = (await stateOf(clients)) as { readonly ids: readonly string[] };
      await kubectl.okWith(nodeGroup, 'apply -f -');
      await kubectl.ok('wait ng/blue --for=condition=Ready --timeout=60s');
      await eventually('hooks are installed', async () => {
        const told = await aws.ok(
          'autoscaling describe-lifecycle-hooks --auto-scaling-group-name mine --output text',
        );
        return told.includes('Terminate-LC-Hook') ? true : undefined;
      });

      const listed = await drover.ok('get ng');
      assert.equal(listed.split('\n').filter((line) => line.includes('mine')).length, 1, listed);
      assert.match(await drover.ok('describe ng blue'), /Launch template: +theirs version 1/);

      await kubectl.okWith(app, 'apply -f -');
      await kubectl.ok('rollout status deployment/web --timeout=120s');
      const { id, node } = await terminateOne(clients);
      await until(
        clients,
        'it is drained',
        `get nodedisruption ${id} -o jsonpath={.status.outcome}`,
        /Drained/,
      );
      const patched = world
        .audit()
        .filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.name === node)
        .map((event) => JSON.stringify(event));
      for (const mark of [/exclude-from-external-load-balancers/, /"unschedulable":true/]) {
        assert.ok(
          patched.some((text) => mark.test(text)),
          String(mark),
        );
      }
      await eventually(
        'it is replaced',
        async () => {
          const { Instances } = await mine(clients);
          const serving = Instances.filter(({ LifecycleState }) => LifecycleState === 'InService');
          const isGone = Instances.every(({ InstanceId }) => InstanceId !== id);
          return isGone && serving.length === 2 ? true : undefined;
        },
        120_000,
      );

      await until(
        clients,
        'its status says so',
        'get ng blue -o jsonpath={.status.instances}',
        /^2$/,
      );
      const kept = (await mine(clients)).Instances.map(({ InstanceId }) => InstanceId);
      const said = await drover.ok('delete ng blue --cluster ironman-2022 --wait');
      assert.match(said, /will release nodegroup blue.*mine and its 2 instances stay/);
      // The event is written after the NodeGroup is deleted, for which the delete command waited.
      await until(
        clients,
        'the release is reported',
        'get events --field-selector reason=Released',
        /Auto Scaling group mine stays with its 2 instances/,
      );
      const after = await stateOf(clients);
      assert.deepEqual(after, { ...before, ids: kept.toSorted() });
    });
  });

  it('is adopted and released by drover, which changes nothing without --yes', async () => {
    await inWorld({ unjudged: true }, async (world) => {
      const clients = clientsOf(world);
      const { aws, drover, kubectl } = clients;
      const query = "contains(AutoScalingGroupName, 'demo-self-ng')";
      const told = await aws.ok(
        'autoscaling describe-auto-scaling-groups --output text --query',
        `AutoScalingGroups[?${query}].AutoScalingGroupName | [0]`,
      );
      const asg = told.trim();
      const stateNow = async () => {
        const hooks = await aws.ok(
          `autoscaling describe-lifecycle-hooks --auto-scaling-group-name ${asg} --output json`,
        );
        return { group: await groupLike(clients, query), hooks };
      };
      const before = await stateNow();
      const shown = await drover.ok(`adopt --asg ${asg}`);
      assert.match(shown, /adds: +lifecycle hook Terminate-LC-Hook \(1800 s, CONTINUE\)/);
      assert.match(shown, /undo: +drover release demo-self-ng --yes/);
      assert.deepEqual(await stateNow(), before);

      const adopted = await world.drover('adopt', '--asg', asg, '--yes');
      assert.equal(adopted.code, 0, adopted.stderr);
      assert.match(
        adopted.stderr,
        /^adopting in the embedded world, context kubernetes-admin@\S+ \(https:\/\/127.0.0.1:\d+\)/,
      );
      assert.match((await stateNow()).hooks, /Terminate-LC-Hook/);
      const again = await world.drover('adopt', '--asg', asg);
      assert.equal(again.code, 3);
      assert.match(again.stdout, /skipped: NodeGroup demo-self-ng has it already/);
      const managed = await world.drover('release', 'demo-ng', '--yes');
      assert.equal(managed.code, 3);
      assert.match(managed.stderr, /nodegroup demo-ng has deletionPolicy Delete/);

      assert.match(await drover.ok('release demo-self-ng'), /stays: +the group, its 1 instances/);
      await kubectl.ok('get ng demo-self-ng');
      await drover.ok('release demo-self-ng --yes');
      assert.deepEqual(await stateNow(), before);
    });
  });

  it('is shown without the definitions, and refused before anything is written', async () => {
    await inWorld(
      { args: ['--demo', '--port', '0', '--no-controller'], unjudged: true },
      async (world) => {
        const { drover, kubectl } = clientsOf(world);
        // Without a controller no finalizer is ever removed.
        const none = JSON.stringify({ metadata: { finalizers: null } });
        const groups = await kubectl.ok('get ng -o name');
        for (const one of groups.trim().split(/\s+/)) {
          await kubectl.ok(`patch ${one} --type merge -p`, none);
        }
        const names = await kubectl.ok('get crd -o name');
        await kubectl.ok(`delete ${names.trim().split(/\s+/).join(' ')}`);
        const tag = '--tag alpha.eksctl.io/nodegroup-name=demo-self-ng';
        assert.match(await drover.ok(`adopt ${tag}`), /adds: +NodeGroup demo-self-ng/);
        const refused = await world.drover('adopt', ...tag.split(' '), '--yes');
        assert.equal(refused.code, 3);
        assert.match(refused.stderr, /has no definitions of drover.dev.*drover-crds/);
      },
    );
  });
});
