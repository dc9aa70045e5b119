// Article 004 with the real kubectl and aws: its ClusterConfig unchanged, the add-on and its agent.
// A node loses access to the instance metadata service; CloudTrail shows its repair.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { article004 } from '../support/article-004.ts';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const noPods = 'no pod of an application runs on the node';

describe('article 004', { skip: skipWhen('article 004', whyNot), timeout: 300_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-repair-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  let world: ServedWorld;
  let drover: Steps;
  let kubectl: Steps;
  let aws: Steps;
  let node = '';
  let instance = '';
  const suite = suiteWorld({
    args: ['--port', '0', '--speed', '20'],
    judged: {
      settled: true,
      exempt: {
        'evictions-within-budgets': noPods,
        'evictions-sent-once': noPods,
        'nothing-forced-early': noPods,
        'marks-before-eviction': noPods,
        'only-drainable-pods': noPods,
      },
    },
  });
  before(() => {
    world = suite.world;
    drover = stepsOf('drover', (args) => world.drover(...args));
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    aws = stepsOf('aws', (args) => world.aws(...args));
  });
  const statusOf = async (name: string): Promise<string> =>
    (await kubectl.ok(`get node ${name} --no-headers`)).split(/\s+/)[1] ?? '';

  it('makes the cluster with node repair, and the add-on', async () => {
    const file = join(dir, '004.yaml');
    writeFileSync(file, article004);
    await drover.ok(`create cluster -f ${file}`);
    await drover.ok(
      'create addon --name eks-node-monitoring-agent --version 1.0.0 --cluster test-cluster',
    );
    const path = '{.items[0].metadata.name} {.items[0].spec.providerID}';
    const [name = '', id = ''] = (await kubectl.ok('get nodes -o', `jsonpath=${path}`)).split(' ');
    node = name;
    instance = id.split('/').at(-1) ?? '';
    assert.match(await drover.ok('get nodes'), new RegExp(`${node} +ng-1 .* Healthy `));
  });

  it('has an agent on each node, whose conditions stand beside the kubelet’s', async () => {
    await drover.ok('world advance 2m');
    const name = 'eks-node-monitoring-agent';
    const agents = await kubectl.ok(`get daemonset -n kube-system ${name} --no-headers`);
    assert.match(agents, /^eks-node-monitoring-agent +2 +2 +2 /);
    const text = await eventually('the agent has looked at its node', async () => {
      await drover.ok('world advance 10s');
      const described = await kubectl.ok(`describe node ${node}`);
      return described.includes('NetworkingIsReady') ? described : undefined;
    });
    assert.match(text, /^ +NetworkingReady +True .* NetworkingIsReady /m);
    assert.match(text, /^ +KernelReady +True .* KernelIsReady /m);
  });

  it('turns NotReady when the token of the kubelet expires', async () => {
    await drover.ok(`world inject iptables-drop --node ${node}`);
    await drover.ok('world advance 10m');
    assert.equal(await statusOf(node), 'Ready');
    await drover.ok('world advance 6m');
    assert.equal(await statusOf(node), 'NotReady');
  });

  it('shows the Event of the agent about the rule, with EKS’s text', async () => {
    const rule = '-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP';
    const said = `UnexpectedRejectRule: Found an unexpected iptables reject rule: "${rule}"`;
    const events = await kubectl.ok(
      `get events --field-selector involvedObject.name=${node},reason=NetworkingReady -o`,
      'jsonpath={.items[*].source.component} {.items[*].type} {.items[*].message}',
    );
    assert.equal(events.trim(), `eks-node-monitoring-agent Warning ${said}`);
    const text = await kubectl.ok(`describe node ${node}`);
    const line = text.split('\n').find((one) => one.includes('UnexpectedRejectRule'));
    assert.match(line ?? '', /^ +Warning +NetworkingReady .* eks-node-monitoring-agent /);
    const [other = ''] = (await kubectl.ok('get nodes -o', 'jsonpath={.items[*].metadata.name}'))
      .split(' ')
      .filter((name) => name !== node);
    assert.doesNotMatch(await kubectl.ok(`describe node ${other}`), /UnexpectedRejectRule/);
  });

  it('says what is wrong, and when the node is repaired', async () => {
    const lines = await eventually('the episode is recorded', async () => {
      const text = await drover.ok(`explain ${node}`);
      return text.includes('repair: Replace at ') ? text : undefined;
    });
    assert.match(lines, /^health: Unhealthy since /m);
    assert.match(lines, /^finding: Ready NodeStatusUnknown since /m);
    assert.match(lines, /^lease: the kubelet renewed it last at /m);
    assert.match(await drover.ok('get nodes'), new RegExp(`${node} .*repair: Replace at`));
    assert.match(await drover.ok('get repairs'), /Ready NodeStatusUnknown +Waiting +Replace/);
    const conditions = '{.status.conditions[?(@.type=="Degraded")].reason}';
    assert.equal(await kubectl.ok('get ng ng-1 -o', `jsonpath=${conditions}`), 'NodesUnhealthy');
  });

  it('is replaced 30 minutes later: a new node is Ready', async () => {
    await drover.ok('world advance 31m');
    await eventually('the node is replaced', async () => {
      await drover.ok('world advance 1m');
      const nodes = await kubectl.ok('get nodes --no-headers');
      const isWhole = nodes.match(/ Ready /g)?.length === 2 && !nodes.includes(node);
      return isWhole ? true : undefined;
    });
    const phase = await eventually('the repair has succeeded', async () => {
      const word = await kubectl.ok(
        'get noderepairs -o',
        'jsonpath={.items[0].status.phase} {.items[0].spec.instanceId}',
      );
      return word.startsWith('Succeeded') ? word : undefined;
    });
    assert.equal(phase, `Succeeded ${instance}`);
  });

  it("stands in CloudTrail as one call without decrement, with the article's fields", async () => {
    const attribute = 'AttributeKey=EventName,AttributeValue=TerminateInstanceInAutoScalingGroup';
    const line = `cloudtrail lookup-events --output json --lookup-attributes ${attribute}`;
    const { Events } = JSON.parse(await aws.ok(line)) as {
      Events: readonly { CloudTrailEvent: string }[];
    };
    assert.equal(Events.length, 1);
    const event = JSON.parse(Events[0]?.CloudTrailEvent ?? '{}');
    assert.deepEqual(event.requestParameters, {
      instanceId: instance,
      shouldDecrementDesiredCapacity: false,
    });
    const service = 'eks-nodegroup.amazonaws.com';
    const { userIdentity, responseElements } = event;
    assert.equal(event.eventVersion, '1.08');
    assert.equal(event.eventSource, 'autoscaling.amazonaws.com');
    assert.equal(event.sourceIPAddress, service);
    assert.equal(event.userAgent, service);
    assert.equal(event.readOnly, false);
    assert.equal(event.eventType, 'AwsApiCall');
    assert.equal(event.eventCategory, 'Management');
    assert.equal(userIdentity.type, 'AssumedRole');
    assert.equal(userIdentity.invokedBy, service);
    assert.match(userIdentity.arn, /:assumed-role\/AWSServiceRoleForAmazonEKSNodegroup\/EKS$/);
    assert.equal(
      userIdentity.sessionContext.sessionIssuer.userName,
      'AWSServiceRoleForAmazonEKSNodegroup',
    );
    const { activity } = responseElements;
    assert.match(activity.autoScalingGroupName, /^eks-ng-1-/);
    assert.equal(activity.description, `Terminating EC2 instance: ${instance}`);
    assert.match(activity.cause, /was taken out of service in response to a user request\.$/);
    assert.equal(activity.statusCode, 'InProgress');
    assert.match(activity.details, /"Availability Zone":"eu-west-1[abc]"/);
  });
});
