// Notifications of drains in virtual time: one per transition, the same id from every process, none
// lost while the receiver fails, wherever the process is killed.
import { describe, expect, it } from 'vitest';
import { notificationNames } from '../../src/api/controller-rights.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type EndpointReply, SimulatedEndpoint } from '../../src/sim/ports/endpoint.ts';
import { CollectingJournal } from '../builders/runtime.ts';
import { GroupLife, type GroupLifeOptions } from '../support/nodegroup-world.ts';

const { namespace, secret } = notificationNames;
const url = 'https://hooks.example.com/drover';

/** What docs/notifications.md asks an operator to apply. */
const configure = (life: GroupLife, data: Readonly<Record<string, string>>): void => {
  const group = 'rbac.authorization.k8s.io';
  const apiVersion = `${group}/v1`;
  const metadata = { name: 'notifications', namespace };
  const named = {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [secret],
    verbs: ['get'],
  };
  const cursor = [notificationNames.cursor];
  const maps = { apiGroups: [''], resources: ['configmaps'], resourceNames: cursor };
  const rules = [named, { ...maps, verbs: ['get', 'patch'] }];
  const subjects = [{ apiGroup: group, kind: 'User', name: 'eks:node-manager' }];
  const roleRef = { apiGroup: group, kind: 'Role', name: metadata.name };
  life.make({ group, resource: 'roles' }, namespace, { apiVersion, kind: 'Role', metadata, rules });
  const binding = { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef };
  life.make({ group, resource: 'rolebindings' }, namespace, binding);
  const encoded = Object.entries(data).map(([key, value]) => [key, btoa(value)]);
  life.make({ group: '', resource: 'secrets' }, namespace, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret, namespace },
    data: Object.fromEntries(encoded),
  });
};

const begin = async (
  reply: (calls: number) => EndpointReply,
  options: GroupLifeOptions = {},
  data: Readonly<Record<string, string>> = { url },
) => {
  const endpoint: SimulatedEndpoint = new SimulatedEndpoint(() => reply(endpoint.calls.length));
  const journal = new CollectingJournal();
  const notifications = { secret: { namespace, name: secret }, allowPrivate: false };
  const life = await GroupLife.begin({ journal, ...options, http: endpoint, notifications });
  endpoint.runIn(life.world);
  configure(life, data);
  await life.driver.advance(120);
  const results = (): readonly string[] =>
    journal.types().flatMap((type) => /^notification:(.*)/.exec(type)?.[1] ?? []);
  const types = (): readonly string[] =>
    endpoint.calls.map(({ body }) => String(JSON.parse(body).type));
  const ids = (): readonly string[] => endpoint.calls.map(({ idempotencyKey }) => idempotencyKey);
  return { life, endpoint, results, types, ids };
};

const drainOne = (life: GroupLife): void => {
  const group = life.facts.managed[0]?.spec.autoScalingGroupName ?? '';
  const answer = life.world.aws.call('autoscaling', 'DescribeAutoScalingGroups', {
    AutoScalingGroupNames: [group],
  }) as { AutoScalingGroups: readonly { Instances: readonly { InstanceId: string }[] }[] };
  life.world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
    InstanceId: answer.AutoScalingGroups[0]?.Instances[0]?.InstanceId ?? '',
    ShouldDecrementDesiredCapacity: true,
  });
};

const drained = ['dev.drover.node.drain.started.v1', 'dev.drover.node.drain.completed.v1'];

describe('notifications', () => {
  it('tell of a drain once each, in order, and nothing of what was before them', async () => {
    const verbs: string[] = [];
    const audit = ({ objectRef, verb }: JsonObject): void => {
      if (objectOr(objectRef).name === notificationNames.cursor) verbs.push(String(verb));
    };
    const { life, types, ids } = await begin(() => ({ status: 204 }), { audit });
    expect(types()).toEqual([]);
    drainOne(life);
    await life.driver.advance(600);
    expect(types()).toEqual(drained);
    expect(new Set(ids()).size).toBe(2);
    // Read until the rights were granted; then only one write for each delivery.
    expect(verbs.slice(verbs.indexOf('create'))).toEqual(['create', 'patch', 'patch']);
    await life.end();
  });

  it('wait for a receiver that does not answer, however it fails, and then come in order', async () => {
    const failures: readonly EndpointReply[] = [
      { status: 503 },
      'hangs',
      'refuses',
      { status: 429 },
    ];
    const { life, types, ids } = await begin((calls) => failures[calls - 1] ?? { status: 200 });
    drainOne(life);
    await life.driver.advance(900);
    expect(types()).toEqual([...failures.map(() => drained[0]), ...drained]);
    expect(new Set(ids()).size).toBe(2);
    await life.end();
  });

  it('give up what the receiver refuses for good', async () => {
    const { life, types } = await begin(() => ({ status: 403 }));
    drainOne(life);
    await life.driver.advance(600);
    expect(types()).toEqual(drained);
    await life.end();
  });

  it('wait an hour at most, whatever the receiver asks for', async () => {
    const reply = { status: 429, retryAfterSeconds: 999_999_999 };
    const { life, endpoint } = await begin((calls) => (calls === 1 ? reply : { status: 204 }));
    drainOne(life);
    await life.driver.advance(3_500);
    expect(endpoint.calls).toHaveLength(1);
    await life.driver.advance(400);
    expect(endpoint.calls).toHaveLength(3);
    await life.end();
  });

  it('are kept while the address may not be called, and then come', async () => {
    const { life, endpoint, results } = await begin((calls) =>
      calls <= 3 ? 'not-allowed' : { status: 204 },
    );
    drainOne(life);
    await life.driver.advance(600);
    expect(results()).toEqual([...Array(3).fill('misconfigured'), 'sent', 'sent']);
    expect(endpoint.calls).toHaveLength(5);
    await life.end();
  });

  it('give one up after 60 attempts, with an event, and send the next', async () => {
    const isFirst = ({ body }: { readonly body: string }): boolean => body.includes('started');
    const { life, results, endpoint } = await begin(
      () => (isFirst(endpoint.calls.at(-1) ?? { body: '' }) ? { status: 500 } : { status: 204 }),
      { hasEvents: true },
    );
    drainOne(life);
    await life.until('all are sent', () => results().includes('sent'), 6 * 3_600);
    expect(results()).toEqual([...Array(59).fill('retried'), 'given-up', 'sent']);
    const told = JSON.stringify([...life.world.kube.readAll({ group: '', resource: 'events' })]);
    expect(told).toContain('"reason":"NotificationGivenUp"');
    expect(told).toMatch(/"involvedObject":\{[^}]*"kind":"NodeDisruption"/);
    await life.end();
  });

  it('of two replicas, the leader killed between the drain and its end, repeat only ids', async () => {
    const { life, ids } = await begin(() => ({ status: 200 }), { twoLeaders: true });
    drainOne(life);
    await life.until('the first is sent', () => ids().length > 0, 120);
    life.killLeader();
    await life.driver.advance(900);
    const unique = [...new Set(ids())];
    expect(unique.map((id) => id.split('/').at(-1))).toEqual([
      'node.drain.started',
      'node.drain.completed',
    ]);
    expect(ids().length).toBeLessThanOrEqual(3);
    await life.end();
  });

  it('are kept while the Secret cannot be used, and no value of it is logged', async () => {
    const bad = { url, token: 'hunter2-canary' };
    const { life, endpoint } = await begin(() => ({ status: 200 }), {}, bad);
    drainOne(life);
    await life.driver.advance(300);
    expect(endpoint.calls).toEqual([]);
    const said = JSON.stringify(life.log.lines);
    expect(said).toContain('unknown key token');
    expect(said).not.toMatch(/hunter2|hooks\.example/);
    const secrets = { group: '', resource: 'secrets' };
    const body = { data: { token: null } };
    life.user.patch(secrets, { namespace, name: secret }, { type: 'merge', body });
    await life.driver.advance(300);
    expect(endpoint.calls).toHaveLength(2);
    await life.end();
  });
});
