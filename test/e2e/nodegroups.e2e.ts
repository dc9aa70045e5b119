// A node group's life with the real clients: created, waited for, scaled, relabelled and deleted
// with aws and kubectl, in one process and in two. World time skips the waits.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { drover } from '../support/program.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));
const named = '--cluster-name ironman-2022 --nodegroup-name my-ng';

interface Clients {
  readonly aws: Steps;
  readonly kubectl: Steps;
  readonly advance: (duration: string) => Promise<void>;
}

const clientsOf = (world: ServedWorld): Clients => {
  const own = stepsOf('drover', (args) => world.drover(...args));
  return {
    aws: stepsOf('aws', (args) => world.aws(...args)),
    kubectl: stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    ),
    advance: async (duration) => {
      await own.ok(`world advance ${duration}`);
    },
  };
};

const app = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference:
              matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [my-ng]}]
      containers: [{name: web, image: "web:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`;

const createGroup = async ({ aws }: Clients, more = ''): Promise<void> => {
  const demo = '--cluster-name ironman-2022 --nodegroup-name demo-ng --output text';
  const describe = `eks describe-nodegroup ${demo} --query`;
  const subnets = (await aws.ok(`${describe} nodegroup.subnets`)).trim();
  const role = (await aws.ok(`${describe} nodegroup.nodeRole`)).trim();
  await aws.ok(
    `eks create-nodegroup ${named} --subnets ${subnets} --node-role ${role} ` +
      `--instance-types m5.large --scaling-config minSize=0,maxSize=5,desiredSize=2 ${more}`,
  );
};

const word = (text: string): string => text.trim().replaceAll('"', '');

/** The complete life from create to delete; `advance` advances world time. */
const wholeLife = async (clients: Clients): Promise<void> => {
  const { aws, kubectl, advance } = clients;
  const template = word(
    await aws.ok(
      'ec2 create-launch-template --launch-template-name mine --query LaunchTemplate.LaunchTemplateId --launch-template-data',
      '{"MetadataOptions":{"HttpTokens":"required"}}',
    ),
  );
  await createGroup(clients, `--labels team=a --launch-template id=${template}`);
  const status = async (): Promise<string> =>
    word(await aws.ok(`eks describe-nodegroup ${named} --query nodegroup.status`));
  const settled = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    await eventually(what, async () => {
      if (await holds()) return true;
      await advance('15s');
      return undefined;
    });
  };
  assert.match(await status(), /CREATING|ACTIVE/);
  await settled('the group is ACTIVE', async () => (await status()) === 'ACTIVE');
  await aws.ok(`eks wait nodegroup-active ${named}`);

  // Exactly the EKS labels of article 002.
  const told = await kubectl.ok('describe ng my-ng');
  assert.match(told, /Events:\n.*\n.*\n[\s\S]*Normal +Creating .*drover[\s\S]*Normal +Active /);
  const labels = await kubectl.ok('get nodes -l eks.amazonaws.com/nodegroup=my-ng --show-labels');
  for (const label of [
    'eks.amazonaws.com/capacityType=ON_DEMAND',
    `eks.amazonaws.com/sourceLaunchTemplateId=${template}`,
    'eks.amazonaws.com/sourceLaunchTemplateVersion=1',
    'team=a',
  ]) {
    assert.equal(labels.split(label).length - 1, 2, label);
  }
  assert.match(labels, /eks\.amazonaws\.com\/nodegroup-image=ami-[0-9a-f]{17}/);
  const group = word(
    await aws.ok(
      `eks describe-nodegroup ${named} --query nodegroup.resources.autoScalingGroups[0].name`,
    ),
  );
  assert.match(group, /^eks-my-ng-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const hooks = await aws.ok(
    `autoscaling describe-lifecycle-hooks --auto-scaling-group-name ${group} --output text --query LifecycleHooks[].[LifecycleHookName,HeartbeatTimeout,GlobalTimeout,DefaultResult]`,
  );
  assert.deepEqual(hooks.trim().split('\n').sort(), [
    'Launch-LC-Hook\t1800\t172800\tCONTINUE',
    'Terminate-LC-Hook\t1800\t172800\tCONTINUE',
  ]);

  const ready = async (): Promise<string> =>
    word(await kubectl.ok('get ng my-ng -o jsonpath={.status.desired}/{.status.ready}'));
  await kubectl.ok('scale nodegroup my-ng --replicas=3');
  await settled('there are three', async () => (await ready()) === '3/3');
  await kubectl.fails('scale nodegroup my-ng --replicas=9');

  await kubectl.okWith(app, 'apply -f -');
  await advance('60s');
  const refused = await aws.fails(
    `eks update-nodegroup-config ${named} --scaling-config minSize=4,desiredSize=2`,
  );
  assert.match(
    refused,
    /InvalidParameterException.*Minimum capacity 4 can't be greater than desired size 2/,
  );
  const id = word(
    await aws.ok(
      `eks update-nodegroup-config ${named} --scaling-config desiredSize=2 --labels addOrUpdateLabels={tier=web} --query update.id`,
    ),
  );
  const update = async (): Promise<string> =>
    word(
      await aws.ok(
        `eks describe-update --name ironman-2022 --nodegroup-name my-ng --update-id ${id} --query update.status`,
      ),
    );
  await settled('the update is done', async () => (await update()) === 'Successful');
  assert.match(
    await kubectl.ok('get nodes -l tier=web,eks.amazonaws.com/nodegroup=my-ng'),
    /Ready/,
  );

  // A budget allows one unavailable pod, so at least three of four always run.
  assert.equal(
    word(await aws.ok(`eks delete-nodegroup ${named} --query nodegroup.status`)),
    'DELETING',
  );
  let least = 4;
  await settled('it is gone', async () => {
    const healthy = await kubectl.ok('get pdb web -o jsonpath={.status.currentHealthy}');
    least = Math.min(least, Number(healthy));
    return !(await kubectl.ok('get ng -o name')).includes('my-ng');
  });
  assert.ok(least >= 3, `only ${least} of 4 pods were ready`);
  await aws.ok(`eks wait nodegroup-deleted ${named}`);
  const groups = await aws.ok('autoscaling describe-auto-scaling-groups --output text');
  assert.ok(!groups.includes('my-ng'), 'an Auto Scaling group is left');
  const templates = await aws.ok('ec2 describe-launch-templates --output text');
  assert.ok(!templates.includes(group.replace('eks-my-ng-', '')), 'a launch template is left');
  assert.ok(templates.includes(template), 'the user’s own template is gone');
};

const noWaits = {
  'hooks-never-run-out': 'the activities of a group go with it, and tell of no waits afterwards',
};
const alone = ['--demo', '--port', '0', '--no-controller'];

describe('a node group', { skip: skipWhen('node groups', whyNot) }, () => {
  it('lives and goes in one process', async () => {
    await inWorld({ judged: { settled: true, exempt: noWaits } }, async (world) => {
      const clients = clientsOf(world);
      await clients.advance('30s');
      await wholeLife(clients);
      await clients.advance('3m');
    });
  });

  it('lives and goes with the controller as its own process', async () => {
    await inWorld({ args: alone }, async (world) => {
      const queue = `${world.env.AWS_ENDPOINT_URL}/111111111111/drover-notices`;
      const controller = spawn(
        process.execPath,
        [drover, 'controller', '--cloud', 'aws', '--compat', 'eks', '--queue-url', queue],
        { env: world.env, stdio: 'ignore' },
      );
      const ended = new Promise((resolve) => controller.once('exit', resolve));
      try {
        const clients = clientsOf(world);
        await clients.advance('30s');
        await wholeLife(clients);
      } finally {
        controller.kill('SIGTERM');
        await ended;
      }
    });
  });

  it('is refused in EKS’ words, and nothing is left of a refusal', async () => {
    await inWorld({ args: alone }, async (world) => {
      const clients = clientsOf(world);
      const { aws } = clients;
      await createGroup(clients);
      const demo = 'eks describe-nodegroup --cluster-name ironman-2022 --nodegroup-name demo-ng';
      const subnets = word(await aws.ok(`${demo} --query nodegroup.subnets[0]`));
      const role = word(await aws.ok(`${demo} --query nodegroup.nodeRole`));
      const create = `eks create-nodegroup --cluster-name ironman-2022 --subnets ${subnets} --node-role ${role} --nodegroup-name`;
      const refusals: readonly (readonly [string, RegExp])[] = [
        [
          `${create} my-ng`,
          /ResourceInUseException.*NodeGroup already exists with name my-ng and cluster name ironman-2022/,
        ],
        [
          `${create.replace('ironman-2022', 'nope')} x`,
          /ResourceNotFoundException.*No cluster found for name: nope\./,
        ],
        [
          `${create} x --scaling-config minSize=3,maxSize=4,desiredSize=1`,
          /InvalidParameterException.*minSize can't be greater than desiredSize/,
        ],
        [
          `${create} x --instance-types m9.huge`,
          /InvalidParameterException.*The following supplied instance types do not exist: \[m9\.huge\]/,
        ],
        [`${create} x --ami-type NOPE`, /NOPE/],
        [
          `${create} x --instance-types m6g.large --ami-type AL2023_x86_64_STANDARD`,
          /\[m6g\.large\] is not a valid instance type for requested amiType AL2023_x86_64_STANDARD/,
        ],
        [
          `${create} x --launch-template id=lt-1,name=n`,
          /Either provide launch template ID or launch template name in the request\./,
        ],
        [
          `${create} x --labels a/b/c=d`,
          /InvalidParameterException.*Invalid value: a\/b\/c : field must consist of alphanumeric characters/,
        ],
        [`${create} x --labels eks.amazonaws.com/a=d`, /Label cannot contain reserved prefixes/],
        [`${create} x --taints key=a_,value=b,effect=NO_SCHEDULE`, /Invalid value: a_ :/],
        [
          `${create} x --update-config maxUnavailable=9`,
          /max-unavailable must be within the range 1 and max size of the node group/,
        ],
        [
          `${create} x --disk-size 5000000`,
          /InvalidParameterException.*diskSize 5000000 is not valid: it takes 1 to 16384 GiB/,
        ],
        [`${create} x --tags aws:a=b`, /InvalidParameterException.*reserved for use by AWS/],
        [
          `${create} x --remote-access ec2SshKey=nope`,
          /InvalidParameterException.*KeyPair nope not found/,
        ],
        [
          `${create.replace(role, 'x')} x`,
          /InvalidParameterException.*Node role ARN x is not valid/,
        ],
        [`${create} x --subnets subnet-0000`, /The subnet ID 'subnet-0000' does not exist/],
        [
          'eks describe-nodegroup --cluster-name ironman-2022 --nodegroup-name x',
          /No node group found for name: x\./,
        ],
        [
          'eks update-nodegroup-version --cluster-name ironman-2022 --nodegroup-name demo-ng --kubernetes-version 1.40',
          /InvalidParameterException.*Nodegroup Kubernetes version should be equal to Cluster kubernetes version 1\.32/,
        ],
      ];
      for (const [line, words] of refusals) assert.match(await aws.fails(line), words, line);
      const names = await aws.ok('eks list-nodegroups --cluster-name ironman-2022 --output text');
      assert.deepEqual(
        names.match(/\S*ng\S*/g)?.filter((one) => one !== 'NODEGROUPS'),
        ['demo-ng', 'my-ng', 'ng1-public-ssh'],
      );
      const page = await aws.ok('eks list-nodegroups --cluster-name ironman-2022 --max-items 2');
      assert.match(page, /NextToken/);
      const arn = word(
        await aws.ok(`eks describe-nodegroup ${named} --query nodegroup.nodegroupArn`),
      );
      await aws.ok(`eks tag-resource --resource-arn ${arn} --tags a=b,c=d`);
      await aws.ok(`eks untag-resource --resource-arn ${arn} --tag-keys a`);
      assert.deepEqual(
        JSON.parse(await aws.ok(`eks list-tags-for-resource --resource-arn ${arn}`)),
        {
          tags: { c: 'd' },
        },
      );
    });
  });
});
