// What other callers of AWS do to the instances of a group, as an operator sees it with kubectl,
// aws and `drover explain`: an instance is stopped and runs again, waits in hooks of several
// owners, or waits in its launch hook for a node that joins late or for a startup taint.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const startupTaint = 'example.com/agent-not-ready';

describe('instances whose state others change', {
  skip: skipWhen('instances whose state others change', whyNot),
  timeout: 900_000,
}, () => {
  let world: ServedWorld;
  let kubectl: Steps;
  let aws: Steps;
  let drover: Steps;
  let scalingGroup = '';
  const suite = suiteWorld({ judged: { settled: true } });

  before(async () => {
    world = suite.world;
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    aws = stepsOf('aws', (args) => world.aws(...args));
    drover = stepsOf('drover', (args) => world.drover(...args));
    const query = "AutoScalingGroups[?starts_with(AutoScalingGroupName,'eks-ng1-')]";
    const asked = ['--output', 'text', '--query', `${query}.AutoScalingGroupName`];
    scalingGroup = (await aws.ok('autoscaling describe-auto-scaling-groups', ...asked)).trim();
  });

  interface Member {
    readonly node: string;
    readonly instance: string;
  }
  const membersOf = async (group: string): Promise<readonly Member[]> => {
    const each = '{range .items[*]}{.metadata.name} {.spec.providerID}{"\\n"}{end}';
    const of = `get nodes -l eks.amazonaws.com/nodegroup=${group} -o`;
    return (await kubectl.ok(of, `jsonpath=${each}`))
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [node = '', id = ''] = line.split(' ');
        return { node, instance: id.split('/').at(-1) ?? '' };
      });
  };
  const first = async (group: string): Promise<Member> => {
    const [one] = await membersOf(group);
    assert.ok(one);
    return one;
  };
  /** `ID STATE` lines of the Auto Scaling group. */
  const states = async (): Promise<string> => {
    const query = 'AutoScalingGroups[0].Instances[].[InstanceId,LifecycleState]';
    const of = `describe-auto-scaling-groups --auto-scaling-group-names ${scalingGroup}`;
    return aws.ok(`autoscaling ${of}`, '--output', 'text', '--query', query);
  };
  const shows = (line: string, words: RegExp): Promise<string> =>
    eventually(`drover ${line} shows ${words}`, async () => {
      const { stdout } = await world.drover(...line.split(' '));
      return words.test(stdout) ? stdout : undefined;
    });
  const isInState = (words: RegExp): Promise<string> =>
    eventually(`Auto Scaling shows ${words}`, async () => {
      const shown = await states();
      return words.test(shown) ? shown : undefined;
    });

  it('an instance that is stopped is drained at once, and its group replaces it', async () => {
    const { node, instance } = await first('demo-ng');
    await aws.ok(`ec2 stop-instances --instance-ids ${instance}`);
    const said = await shows(`explain ${node}`, /being drained/);
    assert.match(said, /because of StateChange by EC2 \(EC2 reports it as stopping\)/);
    assert.match(said, /what is left then is deleted, budgets or not/);
    assert.match(await kubectl.ok(`get node ${node}`), /SchedulingDisabled/);
    await kubectl.ok('-n demo rollout status deployment/nginx-demo-deployment --timeout=60s');
    await drover.ok('world advance 3m');
    assert.match(await shows(`explain ${node}`, /over: /), /hook Terminate-LC-Hook .*: completed/);
    const next = await first('demo-ng');
    assert.notEqual(next.instance, instance);
  });

  it('one that its group keeps gets its node back when it runs again', async () => {
    const { node, instance } = await first('ng1-public-ssh');
    const suspended = `--auto-scaling-group-name ${scalingGroup} --scaling-processes HealthCheck`;
    await aws.ok(`autoscaling suspend-processes ${suspended}`);
    await aws.ok(`ec2 stop-instances --hibernate --instance-ids ${instance}`);
    await shows(`explain ${node}`, /because of StateChange/);
    await drover.ok('world advance 3m');
    await shows(`explain ${node}`, /over: InstanceGone \(EC2 has stopped the instance; its node/);
    assert.match(await kubectl.ok(`get node ${node}`), /NotReady,SchedulingDisabled/);
    await aws.ok(`ec2 start-instances --instance-ids ${instance}`);
    await drover.ok('world advance 3m');
    await shows(`explain ${node}`, /it no longer holds: EC2: running again/);
    const spec = await kubectl.ok(`get node ${node} -o`, 'jsonpath={.spec}');
    assert.doesNotMatch(spec, /unschedulable|taints/);
    await aws.ok(`autoscaling resume-processes ${suspended}`);
  });

  it('one that waits in hooks of several owners ends when the last one lets it go', async () => {
    const { node, instance } = await first('ng1-public-ssh');
    for (const hook of ['log-shipper', 'backup']) {
      const terms = '--heartbeat-timeout 600 --default-result CONTINUE';
      const of = `--lifecycle-hook-name ${hook} --auto-scaling-group-name ${scalingGroup}`;
      const on = '--lifecycle-transition autoscaling:EC2_INSTANCE_TERMINATING';
      await aws.ok(`autoscaling put-lifecycle-hook ${of} ${on} ${terms}`);
    }
    const also = { spec: { drain: { lifecycleHooks: ['log-shipper'] } } };
    await kubectl.ok('patch nodegroup ng1-public-ssh --type merge -p', JSON.stringify(also));
    const end = 'terminate-instance-in-auto-scaling-group --no-should-decrement-desired-capacity';
    await aws.ok(`autoscaling ${end} --instance-id ${instance}`);
    await shows(`explain ${node}`, /because of LifecycleHook/);
    await drover.ok('world advance 1m');
    const said = await shows(`explain ${node}`, /over: Drained/);
    assert.match(said, /hook Terminate-LC-Hook .*: completed/);
    assert.match(said, /hook log-shipper .*: completed/);
    assert.match(said, /holds the instance in hook backup .*: its owner completes it/);
    assert.doesNotMatch(said, /hook backup of/);
    // The other owner has time: its hook is open, and the node keeps its marks.
    await drover.ok('world advance 2m');
    assert.match(await states(), new RegExp(`${instance}\\s+Terminating:Wait`));
    assert.match(await kubectl.ok(`get node ${node}`), /SchedulingDisabled/);
    const answer = '--lifecycle-action-result CONTINUE --lifecycle-hook-name backup';
    const of = `--auto-scaling-group-name ${scalingGroup} --instance-id ${instance}`;
    await aws.ok(`autoscaling complete-lifecycle-action ${of} ${answer}`);
    await drover.ok('world advance 1m');
    assert.match(await kubectl.fails(`get node ${node}`), /NotFound/);
    assert.doesNotMatch(await states(), new RegExp(instance));
  });

  it('one whose node joins late stays in its launch hook until the node is Ready', async () => {
    const map = '-n kube-system get configmap aws-auth -o';
    const roles = await kubectl.ok(map, 'jsonpath={.data.mapRoles}');
    const putRoles = (mapRoles: string): Promise<string> => {
      const body = JSON.stringify({ data: { mapRoles } });
      return kubectl.ok('-n kube-system patch configmap aws-auth --type merge -p', body);
    };
    await putRoles('[]');
    const sized = `--auto-scaling-group-name ${scalingGroup} --desired-capacity 3`;
    await aws.ok(`autoscaling set-desired-capacity ${sized}`);
    await isInState(/Pending:Wait/);
    const said = await shows('explain nodegroup ng1-public-ssh', /is not in kube-system\/aws-auth/);
    assert.match(said, /2 of 3 nodes joined and Ready/);
    await putRoles(roles);
    await drover.ok('world advance 1m');
    assert.doesNotMatch(await states(), /Pending/);
    await shows('explain nodegroup ng1-public-ssh', /3 of 3 nodes.*\nnothing keeps its nodes out/);
  });

  it('one whose node has a startup taint stays in its launch hook until that is gone', async () => {
    const taints = [{ key: startupTaint, effect: 'NoSchedule' }];
    const drain = { launch: { startupTaints: [startupTaint] } };
    const body = JSON.stringify({ spec: { taints, drain } });
    await kubectl.ok('patch nodegroup ng1-public-ssh --type merge -p', body);
    await drover.ok('world advance 1m');
    const sized = `--auto-scaling-group-name ${scalingGroup} --desired-capacity 4`;
    await aws.ok(`autoscaling set-desired-capacity ${sized}`);
    await drover.ok('world advance 2m');
    const said = await shows('explain nodegroup ng1-public-ssh', /waits in a launch hook/);
    assert.match(said, /4 of 4 nodes joined and Ready/);
    const why = 'is Ready and waits in a launch hook: the node still has the startup taint';
    const line = new RegExp(`node (\\S+)\\) ${why} ${startupTaint}`);
    const [, node = ''] = said.match(line) ?? [];
    await shows(`explain ${node}`, /startup taint \S+ is still on the node: its launch hook/);
    assert.match(await states(), /Pending:Wait/);
    await kubectl.ok(`taint node ${node} ${startupTaint}-`);
    await drover.ok('world advance 10s');
    assert.doesNotMatch(await states(), /Pending/);
  });
});
