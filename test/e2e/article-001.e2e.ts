// Article 001, command for command, with the real kubectl and aws: what happens to a node whose
// instance is terminated through its Auto Scaling group. It runs with the controllers in the
// world's process, in their own process, and on a real API server.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Arrangement, suiteOn } from '../support/arrangements.ts';
import { type AuditEvent, eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { assertAlike, ownRequests, remember } from '../support/own-requests.ts';
import { whyNoRealCluster } from '../support/real-cluster.ts';
import { skipWhen } from '../support/stories.ts';

const nginx = `
apiVersion: v1
kind: Namespace
metadata:
  name: "demo"
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: "nginx-demo-deployment"
  namespace: "demo"
  labels:
    app: "nginx-demo"
spec:
  selector:
    matchLabels:
      app: "nginx-demo"
  replicas: 4
  template:
    metadata:
      labels:
        app: "nginx-demo"
    spec:
      containers:
      - image: nginx:latest
        imagePullPolicy: Always
        name: "nginx-demo"
        ports:
        - containerPort: 80
`;

const agent = 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format';
const managedGroup = /^eks-demo-ng-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

/** The audit events that the article's queries select: writes of the agent to one resource. */
const byAgent = (events: readonly AuditEvent[], resource: string): readonly AuditEvent[] =>
  events.filter(
    (event) =>
      event.userAgent === agent &&
      !['get', 'list', 'watch'].includes(event.verb) &&
      event.objectRef?.resource === resource,
  );

const article = (arrangement: Arrangement): void => {
  const isReal = arrangement === 'a real API server';
  const kubelets = { skip: isReal && 'stand-ins for kubelets tell nothing of containers' };
  const facade = { skip: isReal && 'the EKS face reads the NodeGroups of its own world' };
  let world: ServedWorld;
  let node = '';
  let instance = '';
  let group = '';

  const suite = suiteOn({ arrangement, judged: { settled: true, byWallClock: true } });
  before(() => {
    world = suite.world;
  });

  it('says that it is ready, and how fast', () => {
    assert.match(world.readyLine, /^ready in \d+(\.\d+)? ?m?s/);
  });

  it('lists the node of the managed group by its label', async () => {
    const listed = await eventually('a Ready node of demo-ng', async () => {
      const ran = await world.kubectl('get', 'node', '-l', 'eks.amazonaws.com/nodegroup=demo-ng');
      return / Ready /.test(ran.stdout) ? ran.stdout : undefined;
    });
    assert.match(listed, /^NAME +STATUS +ROLES +AGE +VERSION\n/);
    assert.match(
      listed,
      /\nip-192-168-\d+-\d+\.eu-west-1\.compute\.internal +Ready +<none> +\S+ +v1\.\d+\.\d+-eks-\w+\n$/,
    );
    node = /\n(\S+)/.exec(listed)?.[1] ?? '';
  });

  it('runs the nginx deployment of article 002', kubelets, async () => {
    await eventually('all nodes are Ready', async () => {
      const ran = await world.kubectl('get', 'nodes', '--no-headers');
      const lines = ran.stdout.trim().split('\n');
      return lines.length >= 3 && lines.every((line) => / Ready /.test(line)) ? true : undefined;
    });
    // The demo creates the same Deployment, so the test waits for it to avoid a race.
    await eventually('the demo has its workload', async () => {
      const ran = await world.kubectl('-n', 'demo', 'get', 'deploy', 'nginx-demo-deployment');
      return ran.code === 0 ? true : undefined;
    });
    const applied = await world.kubectlInput(nginx, 'apply', '-f', '-');
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stdout, /namespace\/demo (created|unchanged|configured)/);
    const rolled = await world.kubectl(
      '-n',
      'demo',
      'rollout',
      'status',
      'deployment/nginx-demo-deployment',
      '--timeout=60s',
    );
    assert.equal(rolled.code, 0, rolled.stderr);
    const pods = await world.kubectl('-n', 'demo', 'get', 'po', '-o', 'wide');
    assert.match(
      pods.stdout,
      /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\n/,
    );
    assert.equal(pods.stdout.match(/nginx-demo-deployment-\S+ +1\/1 +Running +0 /g)?.length, 4);
  });

  it('describes the pods on the node as the article prints them', kubelets, async () => {
    const described = await world.kubectl('describe', 'no', node);
    assert.equal(described.code, 0, described.stderr);
    const at = described.stdout.indexOf('Non-terminated Pods:');
    const block = described.stdout.slice(at).split('\n').slice(0, 7).join('\n');
    assert.match(block, /Non-terminated Pods: +\(\d+ in total\)/);
    assert.match(
      described.stdout,
      /demo +nginx-demo-deployment-\S+ +0 \(0%\) +0 \(0%\) +0 \(0%\) +0 \(0%\)/,
    );
    assert.match(described.stdout, /kube-system +aws-node-\w{5} +25m \(1%\) +0 \(0%\)/);
    assert.match(
      described.stdout,
      /kube-system +coredns-\w+-\w{5} +100m \(5%\) +0 \(0%\) +70Mi \(\d%\) +170Mi \(2%\)/,
    );
    assert.match(described.stdout, /kube-system +kube-proxy-\w{5} +100m \(5%\) +0 \(0%\)/);
  });

  it('finds the Auto Scaling group and its two hooks, and none on the self-managed group', async () => {
    const named = await world.aws(
      'eks',
      'describe-nodegroup',
      '--cluster=ironman-2022',
      '--nodegroup-name=demo-ng',
      '--query',
      'nodegroup.resources.autoScalingGroups[0].name',
    );
    assert.equal(named.code, 0, named.stderr);
    group = JSON.parse(named.stdout) as string;
    assert.match(group, managedGroup);
    const hooks = await world.aws(
      'autoscaling',
      'describe-lifecycle-hooks',
      '--auto-scaling-group-name',
      group,
    );
    const hook = (name: string, transition: string): object => ({
      LifecycleHookName: name,
      AutoScalingGroupName: group,
      LifecycleTransition: transition,
      NotificationTargetARN: 'arn:aws:sns:eu-west-1:346952985317:eks-asg-lifecycle-hook-topic',
      HeartbeatTimeout: 1800,
      GlobalTimeout: 172800,
      DefaultResult: 'CONTINUE',
    });
    assert.deepEqual(JSON.parse(hooks.stdout), {
      LifecycleHooks: [
        hook('Launch-LC-Hook', 'autoscaling:EC2_INSTANCE_LAUNCHING'),
        hook('Terminate-LC-Hook', 'autoscaling:EC2_INSTANCE_TERMINATING'),
      ],
    });
    const stack = await world.aws(
      'cloudformation',
      'list-stack-resources',
      '--stack-name',
      'eksctl-ironman-2022-nodegroup-demo-self-ng',
    );
    const summaries = (
      JSON.parse(stack.stdout) as {
        StackResourceSummaries: {
          LogicalResourceId: string;
          PhysicalResourceId: string;
          ResourceType: string;
          ResourceStatus: string;
          DriftInformation: object;
        }[];
      }
    ).StackResourceSummaries;
    const own = summaries.find((resource) => resource.LogicalResourceId === 'NodeGroup');
    assert.equal(own?.ResourceType, 'AWS::AutoScaling::AutoScalingGroup');
    assert.equal(own?.ResourceStatus, 'CREATE_COMPLETE');
    assert.deepEqual(own?.DriftInformation, { StackResourceDriftStatus: 'NOT_CHECKED' });
    assert.match(
      own?.PhysicalResourceId ?? '',
      /^eksctl-ironman-2022-nodegroup-demo-self-ng-NodeGroup-[0-9A-Z]+$/,
    );
    const none = await world.aws(
      'autoscaling',
      'describe-lifecycle-hooks',
      '--auto-scaling-group-name',
      own?.PhysicalResourceId ?? '',
    );
    assert.deepEqual(JSON.parse(none.stdout), { LifecycleHooks: [] });
  });

  it('drains the node when its instance is terminated, and lets it go', async () => {
    const found = await world.kubectl('get', 'node', node, '-o', 'jsonpath={.spec.providerID}');
    instance = found.stdout.split('/').at(-1) ?? '';
    assert.match(instance, /^i-[0-9a-f]{17}$/);
    const ended = await world.aws(
      'autoscaling',
      'terminate-instance-in-auto-scaling-group',
      '--instance-id',
      instance,
      '--should-decrement-desired-capacity',
    );
    assert.equal(ended.code, 0, ended.stderr);
    await eventually('the node is gone', async () => {
      const ran = await world.kubectl('get', 'node', node);
      return /NotFound/.test(ran.stderr) ? true : undefined;
    });
    const rolled = await world.kubectl(
      '-n',
      'demo',
      'rollout',
      'status',
      'deployment/nginx-demo-deployment',
      '--timeout=60s',
    );
    assert.equal(rolled.code, 0, rolled.stderr);
  });

  it('wrote into the audit log: label, then cordon, then the evictions, and nothing else', () => {
    const events = world.audit();
    const [label, cordon, ...more] = byAgent(events, 'nodes');
    assert.ok(label !== undefined && cordon !== undefined, 'two patches of the node');
    assert.deepEqual(more, []);
    for (const patch of [label, cordon]) {
      assert.equal(patch.verb, 'patch');
      assert.equal(patch.user.username, 'eks:node-manager');
      assert.deepEqual(patch.objectRef, { resource: 'nodes', name: node, apiVersion: 'v1' });
      assert.equal(patch.responseStatus?.code, 200);
    }
    assert.deepEqual(label.requestObject, {
      metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' } },
    });
    assert.deepEqual(cordon.requestObject, { spec: { unschedulable: true } });
    assert.ok(label.stageTimestamp < cordon.requestReceivedTimestamp, 'label before cordon');
    const pods = byAgent(events, 'pods');
    assert.ok(pods.length > 0, 'evictions');
    for (const eviction of pods) {
      assert.equal(eviction.verb, 'create');
      assert.equal(eviction.responseStatus?.code, 201);
      assert.equal(eviction.responseStatus?.status, 'Success');
      assert.equal(eviction.objectRef?.subresource, 'eviction');
      assert.match(eviction.objectRef?.name ?? '', /^(nginx-demo-deployment|coredns)-/);
      assert.ok(eviction.requestReceivedTimestamp > cordon.stageTimestamp, 'marked before evicted');
      assert.equal(eviction.requestObject?.kind, 'Eviction');
    }
    remember('article 001', arrangement, ownRequests(events, { name: node, instance }));
  });

  it('shows desired capacity 0 in `drover get ng`, and it stays 0', facade, async () => {
    const shown = await world.drover('get', 'ng', '--cluster=ironman-2022');
    assert.equal(shown.code, 0, shown.stderr);
    const [header, ...rows] = shown.stdout.trim().split('\n');
    assert.match(
      header ?? '',
      /^CLUSTER\s+NODEGROUP\s+STATUS\s+CREATED\s+MIN SIZE\s+MAX SIZE\s+DESIRED CAPACITY\s+INSTANCE TYPE\s+IMAGE ID\s+ASG NAME\s+TYPE$/,
    );
    const own = rows.find((row) => /\bdemo-ng\b/.test(row)) ?? '';
    assert.match(
      own,
      /^ironman-2022\s+demo-ng\s+ACTIVE\s+\S+\s+0\s+10\s+0\s+m5\.large\s+AL\S+\s+eks-demo-ng-\S+\s+managed$/,
    );
    const self = rows.find((row) => /demo-self-ng/.test(row)) ?? '';
    assert.match(
      self,
      /CREATE_COMPLETE\s+\S+\s+1\s+1\s+1\s+m5\.large\s+ami-\w+\s+eksctl-\S+\s+unmanaged$/,
    );
    const advanced = await world.drover('world', 'advance', '10m');
    assert.equal(advanced.code, 0, advanced.stderr);
    const later = await world.aws(
      'autoscaling',
      'describe-auto-scaling-groups',
      '--auto-scaling-group-names',
      group,
    );
    const groups = (
      JSON.parse(later.stdout) as {
        AutoScalingGroups: { DesiredCapacity: number; Instances: unknown[] }[];
      }
    ).AutoScalingGroups;
    assert.equal(groups[0]?.DesiredCapacity, 0);
    assert.deepEqual(groups[0]?.Instances, []);
  });
};

const skip = skipWhen('article 001', whyNot);
const whyNotReal = whyNot ?? whyNoRealCluster({ scheduler: true });
const skipReal = skipWhen('article 001 on a real API server', whyNotReal);

describe('article 001', { timeout: 600_000 }, () => {
  const one = { skip, timeout: 300_000, concurrency: 1 };
  describe('in one process', one, () => article('one process'));
  describe('in two processes', one, () => article('two processes'));
  describe('on a real API server', { ...one, skip: skipReal }, () => article('a real API server'));
  it('is the same for the API server', { skip }, () => assertAlike(['article 001']));
});
