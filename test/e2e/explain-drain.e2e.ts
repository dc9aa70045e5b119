// What drover explain says about a node during its drain, while a pod stops, and after it, while a
// lifecycle hook of others holds the instance. A slow pod and a foreign hook, by kubectl and aws.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing } from '../support/demo-world.ts';
import { stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await missing('aws', ['--version']));

const slowPod = (nodeName: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'slow',
      namespace: 'default',
      annotations: { 'world.drover.dev/stop-seconds': '25' },
    },
    spec: { nodeName, containers: [{ name: 'c', image: 'example/slow:1' }] },
  });

describe('drover explain node', { skip: skipWhen('drover explain node', whyNot) }, () => {
  it('names what stops during a drain, and who holds the instance after it', async () => {
    // The foreign hook holds the instance for longer than the oracles allow a drain of ours.
    await inWorld({ unjudged: true }, async (world) => {
      const drover = stepsOf('drover', (args) => world.drover(...args));
      const aws = stepsOf('aws', (args) => world.aws(...args));
      const kubectl = stepsOf('kubectl', (args, input) =>
        input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
      );
      const selector = '-l eks.amazonaws.com/nodegroup=demo-ng';
      const node = await kubectl.ok(`get nodes ${selector} -o jsonpath={.items[0].metadata.name}`);
      const provider = await kubectl.ok(`get node ${node} -o jsonpath={.spec.providerID}`);
      const instance = provider.slice(provider.lastIndexOf('/') + 1);
      const group = (
        await aws.ok(
          `autoscaling describe-auto-scaling-instances --instance-ids ${instance} --output text --query AutoScalingInstances[0].AutoScalingGroupName`,
        )
      ).trim();
      await aws.ok(
        `autoscaling put-lifecycle-hook --lifecycle-hook-name backup --auto-scaling-group-name ${group} ` +
          '--lifecycle-transition autoscaling:EC2_INSTANCE_TERMINATING --heartbeat-timeout 3600 --default-result CONTINUE',
      );
      await kubectl.okWith(slowPod(node), 'apply -f -');
      await eventually('the slow pod runs', async () => {
        await drover.ok('world advance 5s');
        return (
          (await kubectl.ok('get pod slow -o jsonpath={.status.phase}')) === 'Running' || undefined
        );
      });
      await aws.ok(
        `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${instance} --no-should-decrement-desired-capacity`,
      );
      let said = '';
      const says = (pattern: RegExp, step: string) => async () => {
        await drover.ok(`world advance ${step}`);
        said = await drover.ok(`explain ${instance}`);
        return pattern.test(said) || undefined;
      };
      const stops = /waits: pod default\/slow is stopping, since \S+Z; grace ends at \S+Z/;
      await eventually('explain names the pod that stops', says(stops, '2s'));
      await eventually('explain names the hook', says(/holds the instance in hook backup/, '10s'));
      assert.match(said, /\(CONTINUE after 3600 s without a heartbeat\): its owner completes it/);
      assert.doesNotMatch(said, /is stopping/);
      await aws.ok(
        `autoscaling complete-lifecycle-action --lifecycle-action-result CONTINUE --lifecycle-hook-name backup --auto-scaling-group-name ${group} --instance-id ${instance}`,
      );
      const isSilent = async () => {
        await drover.ok('world advance 10s');
        return !/hook backup/.test(await drover.ok(`explain ${instance}`)) || undefined;
      };
      await eventually('nothing holds it', isSilent);
    });
  });
});
