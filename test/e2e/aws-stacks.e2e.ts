// The real aws CLI in an empty world: a cluster is created and reached; stacks of eksctl's form are
// created, fail, and are deleted. The world's control creates networks that are named by ID.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eksctlSelfManaged } from '../builders/world-aws-cloudformation-templates.ts';
import { missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));
const cluster = 'test-cluster';
const role = 'arn:aws:iam::111111111111:role/eks';

interface StackEvent {
  readonly LogicalResourceId: string;
  readonly ResourceStatus: string;
  readonly ResourceStatusReason?: string;
}

describe('stacks and clusters of the aws CLI', {
  skip: skipWhen('stacks and clusters of the aws CLI', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let dir = '';
  let subnets: readonly string[] = [];

  const suite = suiteWorld({ args: ['--no-controller', '--port', '0'] });
  before(() => {
    world = suite.world;
    aws = stepsOf('aws', (args) => world.aws(...args));
    dir = mkdtempSync(join(tmpdir(), 'drover-stacks-'));
  });
  after(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const advance = async (time: string): Promise<void> => {
    assert.equal((await world.drover('world', 'advance', time)).code, 0);
  };
  const templateFile = (name: string, template: unknown): string => {
    const file = join(dir, name);
    writeFileSync(file, JSON.stringify(template));
    return `file://${file}`;
  };
  const events = async (stack: string): Promise<readonly StackEvent[]> =>
    (
      await json<{ StackEvents: readonly StackEvent[] }>(
        `cloudformation describe-stack-events --stack-name ${stack}`,
      )
    ).StackEvents.toReversed();
  const control = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const url = new URL(`/drover/v1/${path}`, world.env.DROVER_URL);
    const authorization = `Bearer ${url.password}`;
    url.username = '';
    url.password = '';
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };

  it('creates the cluster of an empty world, in its default network', async () => {
    const network = await json<{ Subnets: readonly { SubnetId: string; DefaultForAz: boolean }[] }>(
      'ec2 describe-subnets --filters Name=default-for-az,Values=true',
    );
    subnets = network.Subnets.map((one) => one.SubnetId);
    assert.equal(subnets.length, 3);
    const config = `--role-arn ${role} --resources-vpc-config subnetIds=${subnets.join(',')}`;
    const logging = '{"clusterLogging":[{"types":["audit","scheduler"],"enabled":true}]}';
    await aws.ok(`eks create-cluster --name ${cluster} ${config} --logging`, logging);
    await advance('3m');
    await aws.ok(`eks wait cluster-active --name ${cluster}`);
    const kubeconfig = join(dir, 'kubeconfig');
    await aws.ok(`eks update-kubeconfig --name ${cluster} --kubeconfig ${kubeconfig}`);
    const pods = await world.kubectl('--kubeconfig', kubeconfig, 'get', 'ds', '-n', 'kube-system');
    assert.match(pods.stdout, /aws-node/);
    const refused = await aws.fails(`eks create-cluster --name other ${config}`);
    assert.match(refused, /ResourceLimitExceededException.*drover up --data-dir DIR/);
  });

  it('has the log streams that the logging names', async () => {
    const streams = await json<{ logStreams: readonly { logStreamName: string }[] }>(
      `logs describe-log-streams --log-group-name /aws/eks/${cluster}/cluster`,
    );
    const names = streams.logStreams.map((one) => one.logStreamName.replace(/-[0-9a-f]{32}$/, ''));
    assert.deepEqual(names, ['kube-apiserver-audit', 'kube-scheduler']);
  });

  it('makes a stack of networks, roles and exports', async () => {
    const value = (name: string) => ({ 'Fn::GetAtt': [name, 'GroupId'] });
    const exported = (name: string, Value: unknown) => ({
      Value,
      Export: { Name: { 'Fn::Join': ['::', [{ Ref: 'AWS::StackName' }, name]] } },
    });
    const template = templateFile('cluster.json', {
      Parameters: { Subnets: { Type: 'CommaDelimitedList' } },
      Resources: {
        Vpc: { Type: 'AWS::EC2::VPC', Properties: { CidrBlock: '10.1.0.0/16' } },
        Gateway: { Type: 'AWS::EC2::InternetGateway' },
        Shared: {
          Type: 'AWS::EC2::SecurityGroup',
          Properties: { GroupDescription: 'shared', VpcId: { Ref: 'Vpc' } },
        },
      },
      Outputs: {
        VPC: exported('VPC', { Ref: 'Vpc' }),
        ClusterSecurityGroupId: exported('ClusterSecurityGroupId', value('Shared')),
        SubnetsPublic: exported('SubnetsPublic', { 'Fn::Join': [',', { Ref: 'Subnets' }] }),
      },
    });
    const name = `eksctl-${cluster}-cluster`;
    const list = subnets.join('\\,');
    await aws.ok(
      `cloudformation create-stack --stack-name ${name} --template-body ${template} --parameters`,
      `ParameterKey=Subnets,ParameterValue=${list}`,
    );
    await advance('30s');
    await aws.ok(`cloudformation wait stack-create-complete --stack-name ${name}`);
    const exports = await json<{ Exports: readonly { Name: string; Value: string }[] }>(
      'cloudformation list-exports',
    );
    const found = exports.Exports.find((one) => one.Name === `${name}::SubnetsPublic`);
    assert.equal(found?.Value, subnets.join(','));
  });

  it('makes a self-managed group as eksctl does, and deletes it', async () => {
    const name = `eksctl-${cluster}-nodegroup-ng`;
    const template = templateFile('ng.json', eksctlSelfManaged(cluster));
    const line = `cloudformation create-stack --stack-name ${name} --template-body ${template}`;
    const refused = await aws.fails(line);
    assert.match(refused, /InsufficientCapabilitiesException.*CAPABILITY_IAM/);
    await aws.ok(`${line} --capabilities CAPABILITY_IAM`);
    await advance('60s');
    const told = (await events(name)).map(
      (one) => `${one.LogicalResourceId} ${one.ResourceStatus}`,
    );
    assert.equal(told[0], `${name} CREATE_IN_PROGRESS`);
    assert.equal(told.at(-1), `${name} CREATE_COMPLETE`);
    assert.ok(told.includes('NodeGroup CREATE_COMPLETE'));
    const resources = await json<{ StackResourceSummaries: readonly Record<string, unknown>[] }>(
      `cloudformation list-stack-resources --stack-name ${name}`,
    );
    const group = resources.StackResourceSummaries.find((o) => o.LogicalResourceId === 'NodeGroup');
    assert.match(String(group?.PhysicalResourceId), new RegExp(`^${name}-NodeGroup-[A-Z0-9]{13}$`));
    assert.deepEqual(group?.DriftInformation, { StackResourceDriftStatus: 'NOT_CHECKED' });
    await aws.ok(`cloudformation delete-stack --stack-name ${name}`);
    await advance('60s');
    await aws.ok(`cloudformation wait stack-delete-complete --stack-name ${name}`);
    const gone = await aws.fails(`cloudformation describe-stacks --stack-name ${name}`);
    assert.match(gone, new RegExp(`ValidationError.*Stack with id ${name} does not exist`));
  });

  it('rolls back what cannot be had, with the reason', async () => {
    const name = 'no-capacity';
    const template = templateFile('ng.json', eksctlSelfManaged(cluster));
    assert.equal((await world.drover('world', 'inject', 'no-capacity')).code, 0);
    const line = `cloudformation create-stack --stack-name ${name} --template-body ${template}`;
    await aws.ok(`${line} --capabilities CAPABILITY_IAM`);
    await advance('5m');
    assert.equal((await world.drover('world', 'clear')).code, 0);
    const { Stacks } = await json<{ Stacks: readonly { StackStatus: string }[] }>(
      `cloudformation describe-stacks --stack-name ${name}`,
    );
    assert.equal(Stacks[0]?.StackStatus, 'ROLLBACK_COMPLETE');
    const reasons = (await events(name)).map((one) => one.ResourceStatusReason ?? '').join('\n');
    assert.match(reasons, /Group did not stabilize.*InsufficientInstanceCapacity/);
    assert.match(reasons, /failed to create: \[NodeGroup\]\. Rollback requested by user\./);
  });

  it('makes a network that a configuration names by id', async () => {
    const made = await control('network', {
      vpcId: 'vpc-0ca96cd5c37d3bae8',
      subnets: [{ id: 'subnet-0ea5be4984975e8ed' }, { id: 'subnet-0b4076508ce121c27' }],
    });
    assert.equal(made.vpcId, 'vpc-0ca96cd5c37d3bae8');
    const ids = '--subnet-ids subnet-0ea5be4984975e8ed subnet-0b4076508ce121c27';
    const query = 'Subnets[].[VpcId,AvailabilityZone]';
    assert.deepEqual(await json(`ec2 describe-subnets ${ids} --query ${query}`), [
      ['vpc-0ca96cd5c37d3bae8', 'eu-west-1a'],
      ['vpc-0ca96cd5c37d3bae8', 'eu-west-1b'],
    ]);
  });

  it('changes a stack in place, waits for it, and says when there is nothing to change', async () => {
    const template = (InstanceType: string) => ({
      Resources: {
        Template: {
          Type: 'AWS::EC2::LaunchTemplate',
          Properties: { LaunchTemplateName: 'changed', LaunchTemplateData: { InstanceType } },
        },
      },
    });
    const named = '--stack-name changed --template-body';
    await aws.ok(
      `cloudformation create-stack ${named}`,
      templateFile('1.json', template('m5.large')),
    );
    await advance('2m');
    const second = templateFile('2.json', template('m5.xlarge'));
    await aws.ok(`cloudformation update-stack ${named}`, second);
    await advance('2m');
    await aws.ok('cloudformation wait stack-update-complete --stack-name changed');
    const versions = await json<{
      LaunchTemplateVersions: { VersionNumber: number; LaunchTemplateData: object }[];
    }>('ec2 describe-launch-template-versions --launch-template-name changed --versions $Latest');
    const [latest] = versions.LaunchTemplateVersions;
    assert.equal(latest?.VersionNumber, 2);
    assert.deepEqual(latest.LaunchTemplateData, { InstanceType: 'm5.xlarge' });
    const words = await aws.fails(`cloudformation update-stack ${named}`, second);
    assert.match(words, /ValidationError.*No updates are to be performed\./);
    await aws.ok('cloudformation delete-stack --stack-name changed');
  });
});
