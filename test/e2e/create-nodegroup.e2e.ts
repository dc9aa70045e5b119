// Article 002's node groups, self-managed and managed, created, scaled and deleted by `drover` with
// eksctl's flags. The tests cover progress, labels, identity and listing, and requests that are
// refused before anything is created.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

/** The labels in article 002, in its order. */
const labelsOfArticle = [
  'alpha.eksctl.io/cluster-name',
  'alpha.eksctl.io/instance-id',
  'alpha.eksctl.io/nodegroup-name',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'k8s.io/cloud-provider-aws',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node-lifecycle',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
/** Labels of the managed group. */
const managedLabels = [
  ...labelsOfArticle.filter((key) => !/instance-id|node-lifecycle/.test(key)),
  'eks.amazonaws.com/capacityType',
  'eks.amazonaws.com/nodegroup',
  'eks.amazonaws.com/nodegroup-image',
  'eks.amazonaws.com/sourceLaunchTemplateId',
  'eks.amazonaws.com/sourceLaunchTemplateVersion',
];
const selector = 'alpha.eksctl.io/nodegroup-name=own-ng';
const stack = 'eksctl-ironman-2022-nodegroup-own-ng';

/**
 * Pods that move when the managed group's nodes are drained; at the end no other node fits them.
 */
const busy = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  replicas: 3
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      nodeSelector: {eks.amazonaws.com/nodegroup: new-ng}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: busy}}
      containers:
      - {name: busy, image: nginx}
`;

describe('drover create nodegroup', {
  skip: skipWhen('drover create nodegroup', whyNot),
  timeout: 300_000,
}, () => {
  let world: ServedWorld;
  const mapRoles = async (): Promise<string> =>
    (
      await world.kubectl(
        'get',
        'cm',
        '-n',
        'kube-system',
        'aws-auth',
        '-o',
        'jsonpath={.data.mapRoles}',
      )
    ).stdout;

  const suite = suiteWorld({
    args: ['--demo', '--port', '0', '--speed', '10'],
    judged: {
      settled: true,
      exempt: {
        'evictions-within-budgets': 'no budget guards the pods that move here',
        'hooks-never-run-out': "a group's scaling activities are gone with the group",
      },
    },
  });
  before(() => {
    world = suite.world;
  });

  it('makes a self-managed group, tells each step, and waits for its node (article 002)', async () => {
    const words = ['create', 'nodegroup', '--nodes=1', '--ssh-access', '--ssh-public-key=maowang'];
    const names = ['--name=own-ng', '--cluster=ironman-2022', '--managed=false'];
    const ran = await world.drover(...words, ...names);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    const told = ran.stdout.replaceAll(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /gm, '');
    const expected = [
      /^\[ℹ\] {2}will use version 1\.32 for new nodegroup\(s\) based on control plane version\n/,
      /\[ℹ\] {2}3 existing nodegroup\(s\) \(demo-ng,ng1-public-ssh,demo-self-ng\) will be excluded\n/,
      /\[ℹ\] {2}1 nodegroup \(own-ng\) was included \(based on the include\/exclude rules\)\n/,
      /\[ℹ\] {2}nodegroup "own-ng" will use "ami-[0-9a-f]{17}" \[AmazonLinux2\/1\.32\]\n/,
      /\[ℹ\] {2}using EC2 key pair "maowang"\n/,
      /\[ℹ\] {2}building nodegroup stack "eksctl-ironman-2022-nodegroup-own-ng"\n/,
      /\[ℹ\] {2}--nodes-min=1 was set automatically for nodegroup own-ng\n/,
      /\[ℹ\] {2}--nodes-max=1 was set automatically for nodegroup own-ng\n/,
      /\[ℹ\] {2}deploying stack "eksctl-ironman-2022-nodegroup-own-ng"\n/,
      /\[ℹ\] {2}waiting for CloudFormation stack "eksctl-ironman-2022-nodegroup-own-ng"\n/,
      /\[ℹ\] {2}adding identity "arn:aws:iam::111111111111:role\/\S+-NodeInstanceRole-\w+" to auth ConfigMap\n/,
      /\[ℹ\] {2}nodegroup "own-ng" has 1 node\(s\)\n/,
      /\[ℹ\] {2}node "ip-192-168-\d+-\d+\.eu-west-1\.compute\.internal" is ready\n/,
      /\[✔\] {2}created 1 nodegroup\(s\) in cluster "ironman-2022"\n/,
    ];
    let at = 0;
    for (const pattern of expected) {
      const found = told.slice(at).search(pattern);
      assert.ok(found >= 0, `${pattern} after ${told.slice(0, at)} in ${told}`);
      at += found;
    }
  });

  it('its node carries the labels of article 002, and no other', async () => {
    const ran = await world.kubectl(
      'get',
      'node',
      '-l',
      selector,
      '-o',
      'jsonpath={.items[*].metadata.labels}',
    );
    const labels = JSON.parse(ran.stdout) as Record<string, string>;
    assert.deepEqual(Object.keys(labels).sort(), labelsOfArticle.toSorted());
    assert.equal(labels['node-lifecycle'], 'on-demand');
    assert.match(labels['alpha.eksctl.io/instance-id'] ?? '', /^i-[0-9a-f]{17}$/);
  });

  it('its role is authorized once, and others stay', async () => {
    const roles = await mapRoles();
    assert.equal(roles.match(/rolearn: /g)?.length, 4, roles);
    assert.match(
      roles,
      /rolearn: arn:aws:iam::111111111111:role\/\S*own\S*-NodeInstanceRole-\w+\n/,
    );
  });

  it('is listed as unmanaged, by its stack, and not by EKS', async () => {
    const listed = await world.drover('get', 'ng', '--cluster=ironman-2022', '--name=own-ng');
    assert.match(
      listed.stdout,
      /own-ng +CREATE_COMPLETE +\S+ +1 +1 +1 +m5\.large +ami-\S+ +eksctl-\S+ +unmanaged/,
    );
    const eks = await world.aws('eks', 'list-nodegroups', '--cluster-name', 'ironman-2022');
    assert.doesNotMatch(eks.stdout, /own-ng/);
    const group = JSON.parse(
      (await world.aws('cloudformation', 'list-stack-resources', '--stack-name', stack)).stdout,
    ) as { StackResourceSummaries: { LogicalResourceId: string; ResourceStatus: string }[] };
    assert.ok(
      group.StackResourceSummaries.every((one) => one.ResourceStatus === 'CREATE_COMPLETE'),
    );
  });

  it('a creation that was left is finished by the same command: its role is authorized', async () => {
    const role = /rolearn: (\S*own\S*)\n/.exec(await mapRoles())?.[1] ?? '';
    const without = (await mapRoles()).replace(
      /- groups:\n(?: {2}- .*\n)+ {2}rolearn: \S*own\S*\n {2}username: .*\n/,
      '',
    );
    const body = JSON.stringify({ data: { mapRoles: without } });
    await world.kubectl('patch', 'cm', '-n', 'kube-system', 'aws-auth', '--type=merge', '-p', body);
    assert.doesNotMatch(await mapRoles(), /own/);
    const words = ['--name=own-ng', '--cluster=ironman-2022', '--managed=false', '--nodes=1'];
    const ran = await world.drover('create', 'nodegroup', ...words);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, /nodegroup "own-ng" was begun before: what is missing is made now/);
    assert.ok((await mapRoles()).includes(role));
  });

  it('a second one of the same name is refused, and nothing happens', async () => {
    const ran = await world.drover('create', 'ng', '--name=own-ng', '--cluster=ironman-2022');
    assert.equal(ran.code, 3, ran.stdout);
    assert.match(
      ran.stderr,
      /node group own-ng exists already in cluster ironman-2022; `drover scale/,
    );
  });

  const refusals: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    [
      'sizes that cannot be',
      ['--nodes=1', '--nodes-min=3'],
      2,
      /minimum size of 3, which is greater than desired size 1/,
    ],
    ['no number', ['--nodes=many'], 2, /--nodes takes a whole number, not many/],
    [
      'a family whose bootstrap is not known',
      ['--node-ami-family=Ubuntu2204', '--managed=false'],
      2,
      /--node-ami-family is not supported here: no bootstrap of Ubuntu2204 is known/,
    ],
    [
      'a key pair that is not there',
      ['--ssh-public-key=nobody'],
      3,
      /no EC2 key pair nobody; `aws ec2 create-key-pair/,
    ],
    [
      'subnets that are not there',
      ['--subnet-ids=subnet-0123456789abcdef0'],
      3,
      /no subnet subnet-0123456789abcdef0/,
    ],
    [
      'a label that no node can have',
      ['--node-labels=a b=c'],
      2,
      /--node-labels: a b is named wrongly: a name is up to 63 letters/,
    ],
    ['a zone without subnets', ['--node-zones=eu-west-1z'], 3, /no public subnet in eu-west-1z/],
  ];
  for (const [what, flags, code, message] of refusals) {
    it(`refuses ${what}, and makes no stack`, async () => {
      const ran = await world.drover(
        'create',
        'ng',
        '--name=odd',
        '--cluster=ironman-2022',
        ...flags,
      );
      assert.equal(ran.code, code, ran.stdout + ran.stderr);
      assert.match(ran.stderr, message);
      const stacks = await world.aws(
        'cloudformation',
        'describe-stacks',
        '--stack-name',
        'eksctl-ironman-2022-nodegroup-odd',
      );
      assert.match(stacks.stderr, /Stack with id eksctl-ironman-2022-nodegroup-odd does not exist/);
    });
  }

  it('names the clusters that are there when asked for another', async () => {
    const ran = await world.drover('create', 'ng', '--name=a', '--cluster=nope');
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /no cluster nope here; there is ironman-2022/);
  });

  it('is deleted: nodes drained, stack gone, identity removed', async () => {
    const ran = await world.drover(
      'delete',
      'nodegroup',
      '--cluster=ironman-2022',
      '--name=own-ng',
      '--wait',
    );
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    for (const line of [
      /draining node "ip-/,
      /drained: empty/,
      /will delete stack "eksctl-/,
      /removed identity "arn:/,
      /deleted 1 nodegroup\(s\)/,
    ]) {
      assert.match(ran.stdout, line);
    }
    assert.equal((await mapRoles()).match(/rolearn: /g)?.length, 3);
    const listed = await world.drover('get', 'ng');
    assert.doesNotMatch(listed.stdout, /own-ng/);
  });

  it('makes a managed group with the flags of article 002; its nodes carry the labels printed there', async () => {
    const words = ['create', 'nodegroup', '--nodes=1', '--ssh-access', '--ssh-public-key=maowang'];
    const names = ['--managed', '--name=new-ng', '--cluster=ironman-2022'];
    const ran = await world.drover(...words, ...names);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    for (const line of [
      /nodegroup "new-ng" will use "" \[AmazonLinux2\/1\.32\]\n/,
      /building managed nodegroup stack "eksctl-ironman-2022-nodegroup-new-ng"\n/,
      /created 0 nodegroup\(s\) in cluster "ironman-2022"\n.*created 1 managed nodegroup\(s\)/,
    ]) {
      assert.match(ran.stdout, line);
    }
    assert.doesNotMatch(ran.stdout, /adding identity/);
    const listed = await world.kubectl(
      'get',
      'node',
      '-l',
      'eks.amazonaws.com/nodegroup=new-ng',
      '-o',
      'jsonpath={.items[*].metadata.labels}',
    );
    const labels = JSON.parse(listed.stdout) as Record<string, string>;
    assert.deepEqual(Object.keys(labels).sort(), managedLabels.toSorted());
    assert.match(labels['eks.amazonaws.com/sourceLaunchTemplateId'] ?? '', /^lt-[0-9a-f]{17}$/);
    assert.equal(labels['eks.amazonaws.com/capacityType'], 'ON_DEMAND');
  });

  it('its role is authorized by eks:node-manager, and no one else loses theirs (article 002)', async () => {
    const roles = await mapRoles();
    assert.equal(roles.match(/rolearn: /g)?.length, 4, roles);
    assert.match(
      roles,
      /rolearn: arn:aws:iam::111111111111:role\/\S*-new\S*-NodeInstanceRole-\w+\n/,
    );
    const writes = world
      .audit()
      .filter(({ objectRef, verb }) => objectRef?.name === 'aws-auth' && verb === 'patch')
      .map(({ user }) => user?.username);
    assert.equal(writes.at(-1), 'eks:node-manager');
  });

  it('EKS knows it, with its Auto Scaling group and both hooks of article 001', async () => {
    const where = ['--cluster-name', 'ironman-2022', '--nodegroup-name', 'new-ng'];
    const query = ['--query', 'nodegroup.resources.autoScalingGroups[0].name', '--output', 'text'];
    const group = (await world.aws('eks', 'describe-nodegroup', ...where, ...query)).stdout.trim();
    assert.match(group, /^eks-new-ng-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const hooks = JSON.parse(
      (
        await world.aws(
          'autoscaling',
          'describe-lifecycle-hooks',
          '--auto-scaling-group-name',
          group,
        )
      ).stdout,
    ) as {
      LifecycleHooks: {
        LifecycleHookName: string;
        HeartbeatTimeout: number;
        DefaultResult: string;
      }[];
    };
    assert.deepEqual(
      hooks.LifecycleHooks.map((hook) => [
        hook.LifecycleHookName,
        hook.HeartbeatTimeout,
        hook.DefaultResult,
      ]),
      [
        ['Launch-LC-Hook', 1800, 'CONTINUE'],
        ['Terminate-LC-Hook', 1800, 'CONTINUE'],
      ],
    );
  });

  it('is scaled by drover and by kubectl, and deleted with its stack', async () => {
    const scaled = await world.drover(
      'scale',
      'nodegroup',
      '--cluster=ironman-2022',
      '--name=new-ng',
      '--nodes=3',
      '--nodes-max=4',
      '--wait',
    );
    assert.equal(scaled.code, 0, scaled.stderr);
    assert.equal((await world.kubectlInput(busy, 'apply', '-f', '-')).code, 0);
    const rolled = await world.kubectl('rollout', 'status', 'deployment/busy', '--timeout=60s');
    assert.equal(rolled.code, 0, rolled.stderr);
    const byKubectl = await world.kubectl('scale', 'nodegroup', 'new-ng', '--replicas=1');
    assert.equal(byKubectl.code, 0, byKubectl.stderr);
    await eventually('one node is left, by way of drains', async () => {
      const nodes = await world.kubectl(
        'get',
        'nodes',
        '-l',
        'eks.amazonaws.com/nodegroup=new-ng',
        '-o',
        'name',
      );
      return nodes.stdout.trim().split('\n').length === 1 ? true : undefined;
    });
    const causes = await world.kubectl(
      'get',
      'nodedisruptions',
      '-o',
      'jsonpath={range .items[*]}{.spec.nodeGroup}/{.spec.causes[*].kind}/{.status.outcome}{"\\n"}{end}',
    );
    assert.equal(
      causes.stdout.match(/^new-ng\/ScaleIn( LifecycleHook)?\/Drained$/gm)?.length,
      2,
      causes.stdout,
    );
    const impossible = await world.drover(
      'scale',
      'ng',
      'new-ng',
      '--cluster=ironman-2022',
      '--nodes=9',
    );
    assert.equal(impossible.code, 2);
    assert.match(
      impossible.stderr,
      /9 nodes are more than the maximum size 4; raise --nodes-max too/,
    );
    const deleted = await world.drover(
      'delete',
      'ng',
      'new-ng',
      '--cluster=ironman-2022',
      '--wait',
    );
    assert.equal(deleted.code, 0, deleted.stderr + deleted.stdout);
    const left = await world.aws(
      'autoscaling',
      'describe-auto-scaling-groups',
      '--query',
      'AutoScalingGroups[].AutoScalingGroupName',
    );
    assert.doesNotMatch(left.stdout, /new-ng/);
    const templates = await world.aws(
      'ec2',
      'describe-launch-templates',
      '--query',
      'LaunchTemplates[].LaunchTemplateName',
    );
    assert.doesNotMatch(templates.stdout, /new-ng/);
  });

  it('add-ons: created, listed, deleted', async () => {
    const created = await world.drover(
      'create',
      'addon',
      '--name',
      'eks-node-monitoring-agent',
      '--version',
      '1.0.0',
      '--cluster',
      'ironman-2022',
    );
    assert.equal(created.code, 0, created.stderr);
    assert.match(created.stdout, /\[✔\] {2}created addon "eks-node-monitoring-agent"/);
    const listed = await world.drover('get', 'addon', '--cluster', 'ironman-2022');
    assert.match(listed.stdout, /^NAME +VERSION +STATUS +ISSUES +IAMROLE +CONFIGURATION VALUES\n/);
    assert.match(listed.stdout, /\neks-node-monitoring-agent +v1\.0\.0-eksbuild\.1 +ACTIVE +0/);
    const deleted = await world.drover(
      'delete',
      'addon',
      '--name',
      'eks-node-monitoring-agent',
      '--cluster',
      'ironman-2022',
    );
    assert.equal(deleted.code, 0, deleted.stderr);
  });
});
