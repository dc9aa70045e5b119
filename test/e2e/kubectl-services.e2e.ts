// Services of type LoadBalancer with the real kubectl and aws CLI. The tests cover the resources
// created in the cloud and their targets while nodes join and terminate. Deletion leaves nothing
// behind.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { missing, ServedWorld } from '../support/demo-world.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));
const exclusionLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

describe('service load balancers', {
  skip: skipWhen('service load balancers', whyNot),
  timeout: 300_000,
}, () => {
  let world: ServedWorld;
  let aws: Steps;
  let kubectl: Steps;
  let targetGroup = '';
  let node = '';
  let instance = '';

  before(async () => {
    world = await ServedWorld.start({ args: ['--demo', '--no-controller', '--port', '0'] });
    aws = stepsOf('aws', (args) => world.aws(...args));
    kubectl = stepsOf('kubectl', (args) => world.kubectl(...args));
    const path = '{.items[0].metadata.name} {.items[0].spec.providerID}';
    const first = await kubectl.ok('get nodes -o', `jsonpath=${path}`);
    const [name = '', providerId = ''] = first.split(' ');
    node = name;
    instance = providerId.split('/').at(-1) ?? '';
  });
  after(async () => {
    await world?.stop();
  });

  const json = async <T>(line: string, ...more: readonly string[]): Promise<T> =>
    JSON.parse(await aws.ok(line, ...more)) as T;
  const advance = async (by: string): Promise<void> => {
    const { code, stderr } = await world.drover('world', 'advance', by);
    assert.equal(code, 0, stderr);
  };
  /** Health state by instance, from describe-target-health. */
  const health = async (): Promise<Readonly<Record<string, string>>> => {
    const pairs = await json<readonly (readonly [string, string])[]>(
      `elbv2 describe-target-health --target-group-arn ${targetGroup} --query`,
      'TargetHealthDescriptions[].[Target.Id,TargetHealth.State]',
    );
    return Object.fromEntries(pairs);
  };

  it('a Service of type LoadBalancer gets one in the cloud, whose host name kubectl shows', async () => {
    await kubectl.ok('create service loadbalancer web --tcp=80:8080');
    const hostname = '{.status.loadBalancer.ingress[0].hostname}';
    await kubectl.ok('wait service/web --for', `jsonpath=${hostname}`, '--timeout=60s');
    const shown = await kubectl.ok('get service web -o', `jsonpath=${hostname}`);
    const row = await kubectl.ok('get service web');
    assert.ok(row.includes(shown), row);
    assert.match(row, /LoadBalancer .* 80:3\d{4}\/TCP/);
    const [balancer] = (
      await json<{ LoadBalancers: readonly Record<string, string>[] }>(
        'elbv2 describe-load-balancers',
      )
    ).LoadBalancers;
    assert.equal(balancer?.DNSName, shown);
    assert.equal(balancer?.Type, 'network');
    const arn = balancer?.LoadBalancerArn ?? '';
    await advance('30s');
    await aws.ok(`elbv2 wait load-balancer-available --load-balancer-arns ${arn}`);
    const [group] = (
      await json<{ TargetGroups: readonly Record<string, string>[] }>(
        `elbv2 describe-target-groups --load-balancer-arn ${arn}`,
      )
    ).TargetGroups;
    targetGroup = group?.TargetGroupArn ?? '';
    const nodePort = '{.spec.ports[0].nodePort}';
    const given = await kubectl.ok('get service web -o', `jsonpath=${nodePort}`);
    assert.equal(String(group?.Port), given);
    const [listener] = await json<readonly unknown[]>(
      `elbv2 describe-listeners --load-balancer-arn ${arn} --query`,
      'Listeners[].[Port,Protocol,DefaultActions[0].TargetGroupArn]',
    );
    assert.deepEqual(listener, [80, 'TCP', targetGroup]);
    const tags = await aws.ok(`elbv2 describe-tags --resource-arns ${arn} --output text`);
    assert.match(tags, /kubernetes\.io\/service-name\s+default\/web/);
    const events = await kubectl.ok('describe service web');
    assert.match(events, /EnsuringLoadBalancer.*EnsuredLoadBalancer/s);
  });

  it('every node is a healthy target; the exclusion label drains one for the deregistration delay', async () => {
    await aws.ok(`elbv2 wait target-in-service --target-group-arn ${targetGroup}`);
    const nodes = (await kubectl.ok('get nodes -o name')).trim().split('\n');
    assert.deepEqual(
      Object.values(await health()),
      nodes.map(() => 'healthy'),
    );
    await aws.ok(
      `elbv2 modify-target-group-attributes --target-group-arn ${targetGroup} --attributes`,
      'Key=deregistration_delay.timeout_seconds,Value=120',
    );
    await kubectl.ok(`label node ${node} ${exclusionLabel}=true`);
    await advance('10s');
    assert.equal((await health())[instance], 'draining');
    await advance('120s');
    assert.equal((await health())[instance], undefined);
    await kubectl.ok(`label node ${node} ${exclusionLabel}-`);
    await advance('20s');
    assert.equal((await health())[instance], 'healthy');
  });

  it('a target group of a Service is not deleted by hand', async () => {
    const refused = await aws.fails(`elbv2 delete-target-group --target-group-arn ${targetGroup}`);
    assert.match(refused, /ResourceInUse.*currently in use by a listener or a rule/);
  });

  it('is there after the world was killed, and goes with its Service', async () => {
    await world.kill();
    await world.restart();
    assert.equal((await health())[instance], 'healthy');
    await kubectl.ok('delete service web');
    const empty = { LoadBalancers: [] };
    assert.deepEqual(await json('elbv2 describe-load-balancers'), empty);
    const gone = await aws.fails(`elbv2 describe-target-health --target-group-arn ${targetGroup}`);
    assert.match(gone, /TargetGroupNotFound/);
  });
});
