// drover uninstall with a controller as its own process: it says first what it removes, refuses
// without a controller, and leaves nothing of Drover's in the cluster and on the groups.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ControllerProcess } from '../support/controller-process.ts';
import { eventually, missing } from '../support/demo-world.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

describe('drover uninstall', {
  skip: skipWhen('stories of drover uninstall', whyNot),
  timeout: 400_000,
}, () => {
  it('leaves nothing of ours, and the groups as they are', async () => {
    const args = ['--demo', '--port', '0', '--no-controller'];
    await inWorld({ args, unjudged: true }, async (world) => {
      const aws = stepsOf('aws', (given) => world.aws(...given));
      const kubectl = stepsOf('kubectl', (given) => world.kubectl(...given));
      const drover = stepsOf('drover', (given) => world.drover(...given));
      const groups = async () =>
        JSON.parse(
          await aws.ok(
            'autoscaling describe-auto-scaling-groups --output json --query',
            'AutoScalingGroups[].[AutoScalingGroupName,MinSize,MaxSize,DesiredCapacity,length(Instances)]',
          ),
        ) as readonly unknown[];
      const before = await groups();

      const refused = await world.drover('uninstall', '--yes');
      assert.equal(refused.code, 3, refused.stderr);
      assert.match(refused.stderr, /no controller runs .*start one, then uninstall/);

      const controller = await ControllerProcess.start(
        world,
        join(world.dataDir, 'controller.kubeconfig'),
      );
      try {
        await kubectl.ok('apply -f deploy/fence.yaml -f deploy/notifications.yaml');
        const node = (await kubectl.ok('get nodes -o jsonpath={.items[0].metadata.name}')).trim();
        const adopted = String(before.find((one) => /demo-self-ng/.test(String(one)))).split(
          ',',
        )[0];
        await drover.ok(`adopt --asg ${adopted} --yes`);
        const hooked = `autoscaling describe-lifecycle-hooks --output text --auto-scaling-group-name ${adopted}`;
        assert.match(await aws.ok(hooked), /Terminate-LC-Hook/);
        await drover.ok(`drain ${node} --timeout 5m`);

        const shown = await world.drover('uninstall');
        assert.match(shown.stdout, /removes: nodegroup demo-ng: hooks and tags that Drover added/);
        assert.match(
          shown.stdout,
          /then: Auto Scaling group eks-demo-ng-\S+ keeps its 1 instances/,
        );
        assert.match(shown.stdout, /removes: 1 drains: those by hand are withdrawn/);
        assert.match(shown.stdout, /removes: Lease kube-system\/drover-controller/);
        assert.match(shown.stderr, /nothing was changed in .*context \S+ \(https:/);
        await kubectl.ok('get ng demo-ng');

        // The process is no pod of a Deployment: it is stopped while the command waits for it.
        const uninstalling = world.drover('uninstall', '--yes', '--crds', '--timeout', '4m');
        await eventually(
          'groups and records are gone',
          async () => {
            const { stdout } = await world.kubectl('get', 'ng,ngu,nd', '-o', 'name');
            return stdout.trim() === '' ? true : undefined;
          },
          180_000,
        );
        await controller.stop();
        const { code, stderr } = await uninstalling;
        assert.equal(code, 0, stderr);
      } finally {
        await controller.stop();
      }

      assert.deepEqual(await groups(), before);
      const hooks = await aws.ok(
        'autoscaling describe-lifecycle-hooks --output text --auto-scaling-group-name',
        String(before.find((one) => /demo-self-ng/.test(String(one)))).split(',')[0] ?? '',
      );
      assert.equal(hooks.trim(), '');
      const tags = await aws.ok('autoscaling describe-tags --output text');
      assert.doesNotMatch(tags, /drover\.dev/);
      const everything = await kubectl.ok(
        'get crd,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings -o name',
      );
      assert.doesNotMatch(everything, /drover/);
      const kept = await kubectl.ok(
        'get leases,configmaps,roles,rolebindings,serviceaccounts -n kube-system -o name',
      );
      assert.doesNotMatch(kept, /drover/);
      assert.doesNotMatch(await kubectl.ok('get nodes -o json'), /drover\.dev\//);
      assert.doesNotMatch(await kubectl.ok('get nodes -o json'), /"unschedulable": true/);

      const again = await world.drover('uninstall', '--yes', '--crds');
      assert.equal(again.code, 0, again.stderr);
    });
  });
});
