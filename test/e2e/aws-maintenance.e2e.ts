// Maintenance that EC2 schedules, with the real aws CLI and kubectl: the notices in the account's
// queue. The controller replaces the instance before its window opens, or returns the node to
// service.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));

describe('scheduled maintenance', {
  skip: skipWhen('scheduled maintenance', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let kubectl: Steps;
  let queue = '';

  const suite = suiteWorld({ judged: { settled: true } });
  before(async () => {
    world = suite.world;
    aws = stepsOf('aws', (args) => world.aws(...args));
    kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    queue = (await json<{ QueueUrl: string }>('sqs create-queue --queue-name health')).QueueUrl;
    const pattern = JSON.stringify({ source: ['aws.health'] });
    await aws.ok('events put-rule --name health --event-pattern', pattern);
    const target = 'Id=1,Arn=arn:aws:sqs:eu-west-1:111111111111:health';
    await aws.ok(`events put-targets --rule health --targets ${target}`);
  });
  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const inject = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await world.drover('world', ...args);
    assert.equal(code, 0, stderr);
  };
  const machineOf = async (group: string): Promise<{ node: string; instance: string }> => {
    const path = '{.items[0].metadata.name} {.items[0].spec.providerID}';
    const line = `get nodes -l eks.amazonaws.com/nodegroup=${group} -o`;
    const [node = '', id = ''] = (await kubectl.ok(line, `jsonpath=${path}`)).split(' ');
    return { node, instance: id.split('/').at(-1) ?? '' };
  };
  const eventsOf = (instance: string): Promise<readonly Record<string, string>[]> =>
    json(
      `ec2 describe-instance-status --include-all-instances --instance-ids ${instance} --query`,
      'InstanceStatuses[0].Events',
    );
  /** The next AWS Health event that the account's own rule put into its queue. */
  const told = (): Promise<Record<string, unknown>> =>
    eventually('AWS Health tells', async () => {
      const { stdout } = await world.aws('sqs', 'receive-message', '--queue-url', queue);
      if (stdout === '') return undefined;
      const { Messages } = JSON.parse(stdout) as { Messages: readonly Record<string, string>[] };
      const [message] = Messages;
      const handle = message?.ReceiptHandle ?? '';
      await aws.ok(`sqs delete-message --queue-url ${queue} --receipt-handle`, handle);
      return JSON.parse(message?.Body ?? '{}') as Record<string, unknown>;
    });

  it('a reboot of the host is announced, and the instance replaced long before', async () => {
    const { node, instance } = await machineOf('demo-ng');
    await inject('inject', 'system-reboot', '--node', node);
    const event = (await told()) as { detail: Record<string, unknown>; resources: unknown };
    assert.deepEqual(event.resources, [instance]);
    const { detail } = event;
    assert.equal(detail.service, 'EC2');
    assert.equal(detail.eventTypeCode, 'AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED');
    assert.equal(detail.eventTypeCategory, 'scheduledChange');
    assert.equal(detail.statusCode, 'upcoming');
    assert.match(String(detail.startTime), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    const [shown] = await eventsOf(instance);
    assert.equal(shown?.Code, 'system-reboot');
    assert.equal(Date.parse(shown?.NotBefore ?? ''), Date.parse(String(detail.startTime)));
    const disruption = `nodedisruption/${instance}`;
    await eventually('the controller has taken it down', async () =>
      (await world.kubectl('get', disruption)).code === 0 ? true : undefined,
    );
    await kubectl.ok(`wait ${disruption} --for=jsonpath={.status.phase}=Ended --timeout=120s`);
    const cause = await kubectl.ok(`get ${disruption} -o`, 'jsonpath={.spec.causes[0]}');
    assert.match(cause, /"kind":"Maintenance"/);
    const state = 'Reservations[0].Instances[0].State.Name';
    await eventually('the instance goes', async () =>
      /terminated|shutting-down/.test(
        await aws.ok(`ec2 describe-instances --instance-ids ${instance} --query ${state}`),
      )
        ? true
        : undefined,
    );
    await eventually('another takes its place', async () => {
      const ready = await kubectl.ok('get nodes -l eks.amazonaws.com/nodegroup=demo-ng');
      return / Ready /.test(ready) && !ready.includes(node) ? true : undefined;
    });
  });

  it('a retirement that is called off gives the node back, with its pods', async () => {
    const { node, instance } = await machineOf('demo-ng');
    const template = {
      metadata: { labels: { app: 'held' } },
      spec: {
        nodeSelector: { 'eks.amazonaws.com/nodegroup': 'demo-ng' },
        containers: [{ name: 'c', image: 'nginx' }],
      },
    };
    const selector = { matchLabels: { app: 'held' } };
    const spec = { replicas: 2, selector, template };
    const held = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'held' }, spec };
    await kubectl.okWith(JSON.stringify(held), 'create -f -');
    await kubectl.ok('rollout status deployment/held --timeout=60s');
    await kubectl.ok('create poddisruptionbudget held --selector app=held --min-available 100%');
    const uids = 'jsonpath={.items[*].metadata.uid}';
    const before = await kubectl.ok('get pods -l app=held -o', uids);
    await inject('inject', 'instance-retirement', '--node', node);
    assert.match(JSON.stringify(await told()), /PERSISTENT_INSTANCE_RETIREMENT/);
    const isCordoned = 'jsonpath={.spec.unschedulable}';
    await eventually('the node is marked', async () =>
      (await kubectl.ok(`get node ${node} -o`, isCordoned)) === 'true' ? true : undefined,
    );
    await inject('clear', 'instance-retirement');
    assert.match(JSON.stringify(await told()), /"statusCode":"closed"/);
    await eventually('the node is uncordoned', async () =>
      (await kubectl.ok(`get node ${node} -o`, isCordoned)) === '' ? true : undefined,
    );
    assert.match((await eventsOf(instance))[0]?.Description ?? '', /^\[Canceled\]/);
    assert.equal(await kubectl.ok('get pods -l app=held -o', uids), before);
  });

  it('a reboot of which no message comes is found in the list of EC2, and so is its end', async () => {
    const { node, instance } = await machineOf('demo-ng');
    // The budget of the previous test still holds the pods, so the node is not drained.
    await inject('inject', 'message-loss');
    await inject('inject', 'system-reboot', '--node', node);
    await inject('advance', '2m');
    const disruption = `nodedisruption/${instance}`;
    const told = await kubectl.ok(`get ${disruption} -o`, 'jsonpath={.spec.causes}');
    assert.match(told, /"id":"maintenance\/instance-event-0[0-9a-f]{16}"/);
    assert.match(told, /"reason":"found scheduled: system-reboot at /);
    const isCordoned = 'jsonpath={.spec.unschedulable}';
    await eventually('the node is marked', async () =>
      (await kubectl.ok(`get node ${node} -o`, isCordoned)) === 'true' ? true : undefined,
    );
    await inject('clear', 'system-reboot');
    await inject('advance', '2m');
    await eventually('the node is uncordoned', async () =>
      (await kubectl.ok(`get node ${node} -o`, isCordoned)) === '' ? true : undefined,
    );
    await inject('clear', 'message-loss');
  });
});
