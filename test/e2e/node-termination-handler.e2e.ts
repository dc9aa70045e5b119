// The real aws-node-termination-handler in queue mode against the embedded world: alone it drains
// on the notices of its own queue; beside Drover, which has the same notices in another queue, no
// pod is evicted twice by either.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import {
  startTerminationHandler,
  type TerminationHandler,
  whyNoTerminationHandler,
} from '../support/node-termination-handler.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { inWorld, skipWhen } from '../support/stories.ts';

const whyNot =
  (await whyNoTerminationHandler()) ??
  (await missing('aws', ['--version'])) ??
  (await missing('kubectl', ['version', '--client']));

const deployment = 'deployment/nginx-demo-deployment';
/** It polls each second, and tries a refused eviction again after 5 s. */
const patienceMs = 180_000;

interface Story {
  readonly world: ServedWorld;
  readonly aws: Steps;
  readonly kubectl: Steps;
  readonly handler: TerminationHandler;
  readonly node: string;
  readonly instance: string;
}

/** A queue of its own, with the same notices as Drover's. */
const ownQueue = async (aws: Steps): Promise<string> => {
  const made = JSON.parse(await aws.ok('sqs create-queue --queue-name nth')) as {
    readonly QueueUrl: string;
  };
  const pattern = JSON.stringify({ source: ['aws.autoscaling', 'aws.ec2'] });
  await aws.ok('events put-rule --name nth --event-pattern', pattern);
  const target = 'Id=nth,Arn=arn:aws:sqs:eu-west-1:111111111111:nth';
  await aws.ok(`events put-targets --rule nth --targets ${target}`);
  return made.QueueUrl;
};

const twelvePodsOneAtATime = async (kubectl: Steps): Promise<void> => {
  await eventually('the demo has its workload', async () => {
    const rows = await kubectl.ok('get deployments -n demo -o name');
    return rows.includes(deployment.split('/')[1] ?? '') ? true : undefined;
  });
  await kubectl.ok(`-n demo scale ${deployment} --replicas=12`);
  await kubectl.ok('-n demo create pdb one --selector=app=nginx-demo --max-unavailable=1');
  await kubectl.ok(`-n demo rollout status ${deployment} --timeout=120s`);
};

const inStory = (args: readonly string[], tell: (story: Story) => Promise<void>) =>
  inWorld({ args: ['--demo', '--port', '0', ...args], unjudged: true }, async (world) => {
    const aws = stepsOf('aws', (args) => world.aws(...args));
    const kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    await twelvePodsOneAtATime(kubectl);
    const path = '{.items[0].metadata.name} {.items[0].spec.providerID}';
    const label = 'eks.amazonaws.com/nodegroup=demo-ng';
    const told = await kubectl.ok(`get nodes -l ${label} -o`, `jsonpath=${path}`);
    const [node = '', provider = ''] = told.trim().split(' ');
    const instance = provider.split('/').at(-1) ?? '';
    const options = { env: world.env, directory: world.dataDir, queueUrl: await ownQueue(aws) };
    const handler = await startTerminationHandler(options);
    try {
      await tell({ world, aws, kubectl, handler, node, instance });
    } catch (error) {
      process.stderr.write(`the end of its log:\n${handler.output()}\n`);
      throw error;
    } finally {
      await handler.stop();
    }
  });

const terminate = ({ aws, instance }: Story): Promise<string> =>
  aws.ok(
    `autoscaling terminate-instance-in-auto-scaling-group --instance-id ${instance}`,
    '--should-decrement-desired-capacity',
  );

const isGone = ({ kubectl, node }: Story): Promise<true> =>
  eventually(
    `${node} is gone`,
    async () => ((await kubectl.ok('get nodes -o name')).includes(node) ? undefined : true),
    patienceMs,
  );

/** Pods of the Deployment whose eviction was granted, by any client, with repetitions. */
const granted = ({ world }: Story, isAgent = (_agent: string): boolean => true): string[] =>
  world
    .audit()
    .filter(({ userAgent = '', objectRef, responseStatus }) => {
      const isEviction = objectRef?.subresource === 'eviction' && objectRef.namespace === 'demo';
      return isEviction && responseStatus?.code === 201 && isAgent(userAgent);
    })
    .map(({ objectRef }) => objectRef?.name ?? '');

describe('aws-node-termination-handler', {
  skip: skipWhen('aws-node-termination-handler', whyNot),
  timeout: 600_000,
}, () => {
  it('drains a node on a notice of its own queue, and ends the lifecycle hook', async () => {
    await inStory(['--no-controller'], async (story) => {
      await terminate(story);
      await isGone(story);
      const pods = granted(story, story.handler.isAgent);
      assert.ok(pods.length >= 2, `several pods: ${pods}`);
      assert.equal(new Set(pods).size, pods.length, 'no pod is evicted twice');
      await story.kubectl.ok(`-n demo rollout status ${deployment} --timeout=60s`);
    });
  });

  it('beside Drover: both act on the node, and neither evicts a pod twice', async () => {
    await inStory([], async (story) => {
      await terminate(story);
      await isGone(story);
      const ours = granted(story, (agent) => !story.handler.isAgent(agent));
      const theirs = granted(story, story.handler.isAgent);
      assert.ok(ours.length > 0, 'Drover evicts');
      // Both may evict the same pod: the second eviction finds it terminating and changes nothing.
      for (const pods of [ours, theirs]) {
        assert.equal(new Set(pods).size, pods.length, 'no client evicts a pod twice');
      }
      const seen = story.world
        .audit()
        .some(({ userAgent = '' }) => story.handler.isAgent(userAgent));
      assert.ok(seen, 'the other acts as well');
      const path = '{.status.phase} {.status.outcome}';
      const end = await eventually('the disruption ends', async () => {
        const words = await story.kubectl.ok(
          `get nodedisruption ${story.instance} -o`,
          `jsonpath=${path}`,
        );
        return words.startsWith('Ended') ? words.trim() : undefined;
      });
      assert.equal(end, 'Ended Drained');
      await story.kubectl.ok(`-n demo rollout status ${deployment} --timeout=60s`);
    });
  });
});
