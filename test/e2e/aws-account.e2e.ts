// The real aws CLI on resources around node groups: roles and instance profiles, key pairs,
// security groups, launch template versions, public image parameters. A stack also requests a
// managed node group.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eksctlManaged } from '../builders/world-aws-cloudformation-templates.ts';
import { missing, ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));
const trust = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' },
  ],
});

describe('an account of the aws CLI', {
  skip: skipWhen('an account of the aws CLI', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let dir = '';

  before(async () => {
    world = await ServedWorld.start({ args: ['--demo', '--no-controller', '--port', '0'] });
    aws = stepsOf('aws', (args) => world.aws(...args));
    dir = mkdtempSync(join(tmpdir(), 'drover-account-'));
  });
  after(async () => {
    await world?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;

  it('has roles and instance profiles as IAM has them', async () => {
    const policy = 'arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy';
    const line = 'iam create-role --role-name nodes --assume-role-policy-document';
    const made = await json<{ Role: { Arn: string } }>(line, trust);
    assert.equal(made.Role.Arn, 'arn:aws:iam::111111111111:role/nodes');
    assert.match(await aws.fails(line, trust), /EntityAlreadyExists.*nodes already exists/);
    await aws.ok(`iam attach-role-policy --role-name nodes --policy-arn ${policy}`);
    await aws.ok('iam create-instance-profile --instance-profile-name nodes');
    const both = '--instance-profile-name nodes --role-name nodes';
    await aws.ok(`iam add-role-to-instance-profile ${both}`);
    assert.match(await aws.fails('iam delete-role --role-name nodes'), /DeleteConflict.*detach/);
    await aws.ok(`iam detach-role-policy --role-name nodes --policy-arn ${policy}`);
    assert.match(await aws.fails('iam delete-role --role-name nodes'), /DeleteConflict.*profile/);
    await aws.ok(`iam remove-role-from-instance-profile ${both}`);
    await aws.ok('iam delete-role --role-name nodes');
    assert.match(await aws.fails('iam get-role --role-name nodes'), /NoSuchEntity/);
  });

  it('has key pairs and security groups with rules', async () => {
    const key = await json<{ KeyMaterial: string }>('ec2 create-key-pair --key-name k');
    assert.match(key.KeyMaterial, /^-----BEGIN RSA PRIVATE KEY-----/);
    assert.match(await aws.fails('ec2 create-key-pair --key-name k'), /InvalidKeyPair.Duplicate/);
    const vpc = await json<string>('ec2 describe-vpcs --query Vpcs[0].VpcId');
    const group = await json<string>(
      `ec2 create-security-group --group-name s --description d --vpc-id ${vpc} --query GroupId`,
    );
    const rule = `--group-id ${group} --protocol tcp --port 22 --cidr 10.0.0.0/8`;
    await aws.ok(`ec2 authorize-security-group-ingress ${rule}`);
    assert.match(
      await aws.fails(`ec2 authorize-security-group-ingress ${rule}`),
      /InvalidPermission.Duplicate/,
    );
    const query = 'SecurityGroups[0].IpPermissions[].[FromPort,IpRanges[0].CidrIp]';
    const shown = `ec2 describe-security-groups --group-ids ${group} --query ${query}`;
    assert.deepEqual(await json(shown), [[22, '10.0.0.0/8']]);
    await aws.ok(`ec2 revoke-security-group-ingress ${rule}`);
    assert.deepEqual(await json(shown), []);
    await aws.ok(`ec2 delete-security-group --group-id ${group}`);
  });

  it('has launch templates whose versions come, become default and go', async () => {
    const name = '--launch-template-name three';
    const data = (type: string) => JSON.stringify({ InstanceType: type });
    await aws.ok(`ec2 create-launch-template ${name} --launch-template-data`, data('m5.large'));
    const version = `ec2 create-launch-template-version ${name} --launch-template-data`;
    await aws.ok(version, data('m5.xlarge'));
    const warned = await json<{ Warning?: { Errors: readonly { Code: string }[] } }>(
      version,
      data('m9.huge'),
    );
    assert.equal(warned.Warning?.Errors[0]?.Code, 'InvalidInstanceType');
    await aws.ok(`ec2 modify-launch-template ${name} --default-version 2`);
    const gone = await json<Record<string, readonly { VersionNumber: number }[]>>(
      `ec2 delete-launch-template-versions ${name} --versions 2 3`,
    );
    const numbers = (member: string) => gone[member]?.map((one) => one.VersionNumber);
    assert.deepEqual(numbers('SuccessfullyDeletedLaunchTemplateVersions'), [3]);
    assert.deepEqual(numbers('UnsuccessfullyDeletedLaunchTemplateVersions'), [2]);
    const query = 'LaunchTemplateVersions[].[VersionNumber,LaunchTemplateData.InstanceType]';
    const latest = `ec2 describe-launch-template-versions ${name} --versions $Latest $Default`;
    assert.deepEqual(await json(`${latest} --query ${query}`), [
      [2, 'm5.xlarge'],
      [2, 'm5.xlarge'],
    ]);
    const bad = JSON.stringify({ UserData: '#!/bin/bash' });
    assert.match(await aws.fails(version, bad), /InvalidUserData.Malformed/);
  });

  it('publishes the images of every family of the articles', async () => {
    for (const parameter of [
      '/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/x86_64/nvidia/recommended/image_id',
      '/aws/service/bottlerocket/aws-k8s-1.32/x86_64/latest/image_id',
      '/aws/service/ami-windows-latest/Windows_Server-2022-English-Full-EKS_Optimized-1.32/image_id',
    ]) {
      const id = await json<string>(
        `ssm get-parameter --name ${parameter} --query Parameter.Value`,
      );
      assert.match(id, /^ami-0[0-9a-f]{16}$/);
      await aws.ok(`ec2 describe-images --image-ids ${id}`);
    }
    const node = await world.kubectl(
      ...['get', 'nodes', '-o', 'jsonpath={.items[0].status.nodeInfo.osImage}'],
    );
    assert.equal(node.stdout, 'Amazon Linux 2');
  });

  it('asks EKS for the managed node group of a stack, and waits for it', async () => {
    const name = 'eksctl-ironman-2022-nodegroup-extra';
    const file = join(dir, 'extra.json');
    writeFileSync(file, JSON.stringify(eksctlManaged('ironman-2022', 'extra')));
    await aws.ok(
      `cloudformation create-stack --stack-name ${name} --template-body file://${file}`,
      ...['--capabilities', 'CAPABILITY_IAM'],
    );
    assert.equal((await world.drover('world', 'advance', '1m')).code, 0);
    // No controller runs in this world: the group stays as EKS accepted it, and the stack waits.
    const described = 'eks describe-nodegroup --cluster-name ironman-2022 --nodegroup-name extra';
    assert.equal(await json(`${described} --query nodegroup.status`), 'CREATING');
    const listed = `cloudformation describe-stack-resources --stack-name ${name}`;
    const query = 'StackResources[].[LogicalResourceId,ResourceStatus]';
    const pairs = await json<readonly (readonly string[])[]>(`${listed} --query ${query}`);
    assert.deepEqual(Object.fromEntries(pairs), {
      LaunchTemplate: 'CREATE_COMPLETE',
      NodeInstanceRole: 'CREATE_COMPLETE',
      ManagedNodeGroup: 'CREATE_IN_PROGRESS',
    });
  });
});
