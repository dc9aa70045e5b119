// Why nodes do not join, as a user finds out. Article 003's user data, whose taint has no effect,
// is used through aws; a role is removed from aws-auth with kubectl. `drover explain nodegroup`
// names each cause first, and the group recovers once it is fixed. World time skips the waits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

/** As article 003 prints it, for this cluster. */
const userData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="==MYBOUNDARY=="

--==MYBOUNDARY==
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -ex
/etc/eks/bootstrap.sh ironman-2022 --kubelet-extra-args '--register-with-taints=taint1=true'

--==MYBOUNDARY==--
`;

const word = (text: string): string => text.trim().replaceAll('"', '');
const demo = '--cluster-name ironman-2022 --nodegroup-name demo-ng --output text';

interface Explanation {
  readonly joined: number;
  readonly causes: readonly {
    readonly code: string;
    readonly certainty: string;
    readonly remedy: readonly string[];
  }[];
}

const explain = async (drover: Steps, name: string): Promise<Explanation> =>
  JSON.parse(await drover.ok(`explain nodegroup ${name} -o json`)) as Explanation;

/** The explanation, once the instance runs and its console shows why it does not join. */
const told = async (drover: Steps, name: string): Promise<Explanation> => {
  let last: Explanation | undefined;
  await eventually(`${name} has a cause`, async () => {
    await drover.ok('world advance 30s');
    last = await explain(drover, name);
    return last.causes.length > 0;
  });
  assert.ok(last !== undefined);
  return last;
};

describe('drover explain nodegroup', { skip: skipWhen('drover explain nodegroup', whyNot) }, () => {
  it('names what keeps nodes out, until it is fixed', async () => {
    // No node is disrupted, so no oracle applies.
    await inWorld({ unjudged: true }, async (world) => {
      const drover = stepsOf('drover', (args) => world.drover(...args));
      const aws = stepsOf('aws', (args) => world.aws(...args));
      const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
      const get = async (field: string): Promise<string> =>
        (await aws.ok(`eks describe-nodegroup ${demo} --query nodegroup.${field}`)).trim();
      const [subnets, role, release] = [
        await get('subnets'),
        await get('nodeRole'),
        await get('releaseVersion'),
      ];
      assert.match(
        await drover.ok('explain nodegroup demo-ng'),
        /1 of 1 nodes joined and Ready\nnothing keeps its nodes out/,
      );

      // Article 003's user data, in a launch template that names its own image.
      const image = word(
        await aws.ok(
          `ec2 describe-images --owners amazon --filters Name=name,Values=*-v${release.split('-')[1]} --query Images[0].ImageId`,
        ),
      );
      const data = JSON.stringify({
        ImageId: image,
        InstanceType: 'm5.large',
        UserData: Buffer.from(userData).toString('base64'),
      });
      const template = word(
        await aws.ok(
          'ec2 create-launch-template --launch-template-name mine --query LaunchTemplate.LaunchTemplateId --launch-template-data',
          data,
        ),
      );
      await aws.ok(
        `eks create-nodegroup --cluster-name ironman-2022 --nodegroup-name tainted --subnets ${subnets} ` +
          `--node-role ${role} --scaling-config minSize=0,maxSize=1,desiredSize=1 --launch-template id=${template}`,
      );
      const tainted = await told(drover, 'tainted');
      assert.equal(tainted.causes[0]?.code, 'UserData');
      assert.equal(tainted.causes[0]?.certainty, 'shown');
      const text = await drover.ok('explain ng tainted');
      assert.match(text, /0 of 1 nodes joined/);
      assert.match(text, /1\. shown: .*TN001: the taint taint1=true has no effect/);
      assert.match(text, /evidence: console of i-/);
      assert.match(text, /evidence: user data of lt-\w+ version 1, line \d+/);
      assert.match(text, /remedy: .*docs\/rules\/TN001\.md/);
      const [, instanceId = ''] = /console of (i-\w+)/.exec(text) ?? [];
      for (const name of ['tainted', instanceId]) {
        assert.match(await drover.ok(`explain ${name}`), /1\. shown: .*TN001/, 'by its name alone');
      }
      // A group of a stack, by its name alone.
      assert.match(await drover.ok('explain demo-self-ng'), /^node group demo-self-ng \(/);
      await drover.ok('world advance 16m');
      await eventually('EKS gives up', async () => {
        const stdout = await aws.ok(
          'eks describe-nodegroup --cluster-name ironman-2022 --nodegroup-name tainted --query nodegroup.health.issues[0]',
        );
        return /NodeCreationFailure/.test(stdout) && /TN001/.test(stdout);
      });

      // aws-auth is overwritten: the next node of demo-ng is not authorized.
      const before = await kubectl.ok(
        `-n kube-system get configmap aws-auth -o jsonpath={.data.mapRoles}`,
      );
      const patch = (mapRoles: string): string => JSON.stringify({ data: { mapRoles } });
      await kubectl.ok('-n kube-system patch configmap aws-auth --type merge -p', patch('[]\n'));
      await aws.ok(
        'eks update-nodegroup-config --cluster-name ironman-2022 --nodegroup-name demo-ng --scaling-config desiredSize=2',
      );
      const locked = await told(drover, 'demo-ng');
      assert.deepEqual(
        locked.causes.map(({ code }) => code).filter((code) => code === 'RoleNotMapped'),
        ['RoleNotMapped'],
      );
      assert.match(locked.causes[0]?.remedy.join(' ') ?? '', /Add to mapRoles: rolearn arn:aws/);
      await kubectl.ok('-n kube-system patch configmap aws-auth --type merge -p', patch(before));
      await eventually('its nodes have joined', async () => {
        await drover.ok('world advance 30s');
        const { joined, causes } = await explain(drover, 'demo-ng');
        return joined === 2 && causes.length === 0;
      });

      const wrong = await world.drover('explain', 'nodegroup', 'demo');
      assert.equal(wrong.code, 1);
      assert.match(wrong.stderr, /no node group demo; did you mean demo-ng/);
    });
  });
});
