// Webhook hooks of an update, in virtual time against a simulated endpoint: done, retried, slow,
// hanging, missing, refusing; tokens from Secrets. The end is the same wherever the process is
// killed.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import {
  type EndpointCall,
  type EndpointReply,
  SimulatedEndpoint,
} from '../../src/sim/ports/endpoint.ts';
import type { Write } from '../../src/sim/ports/network.ts';
import { type Kills, killedInTurn, noKills } from '../support/kills.ts';
import { GroupLife, type GroupLifeOptions } from '../support/nodegroup-world.ts';
import { beginWithHooks } from '../support/update-hooks.ts';
import {
  askFor,
  endState,
  isCordoned,
  latest,
  makeGroup,
  newest,
  untilAtRest,
  untilOver,
} from '../support/update-world.ts';

const url = 'https://ops.example/hook';
const webhook = (more: JsonObject = {}, around: JsonObject = {}): JsonObject => ({
  webhook: { url, ...more },
  ...around,
});

/** Returns the replies in turn, and then the last one forever. */
const inTurn = (...replies: readonly EndpointReply[]) => {
  let next = 0;
  return (): EndpointReply => replies[Math.min(next++, replies.length - 1)] ?? 'hangs';
};

const begin = async (
  hooks: JsonObject,
  reply: (call: EndpointCall) => EndpointReply,
  options: GroupLifeOptions = {},
): Promise<{ readonly life: GroupLife; readonly endpoint: SimulatedEndpoint }> => {
  const endpoint = new SimulatedEndpoint(reply);
  const life = await beginWithHooks(hooks, { ...options, http: endpoint });
  endpoint.runIn(life.world);
  return { life, endpoint };
};

/** Allows the controllers to get this one Secret, as in docs/update-hooks.md. */
const grant = (life: GroupLife, name: string): void => {
  const group = 'rbac.authorization.k8s.io';
  const apiVersion = `${group}/v1`;
  const metadata = { name: 'drover-webhook', namespace: 'default' };
  const rules = [
    { apiGroups: [''], resources: ['secrets'], resourceNames: [name], verbs: ['get'] },
  ];
  const subjects = [{ apiGroup: group, kind: 'User', name: 'eks:node-manager' }];
  const roleRef = { apiGroup: group, kind: 'Role', name: metadata.name };
  const role = { apiVersion, kind: 'Role', metadata, rules };
  const binding = { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef };
  life.make({ group, resource: 'roles' }, 'default', role);
  life.make({ group, resource: 'rolebindings' }, 'default', binding);
};

const bodyOf = ({ body }: EndpointCall): JsonObject => JSON.parse(body) as JsonObject;
const ok = { status: 200 } as const;

describe('a webhook', () => {
  it('of each kind is asked once for each node, in the order of its life', async () => {
    const hooks = {
      preDrain: webhook(),
      postDrain: webhook(),
      preTerminate: webhook(),
      postReady: webhook(),
    };
    const { life, endpoint } = await begin(hooks, () => ok);
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(latest(life)?.status).not.toHaveProperty('hooks');
    expect(latest(life)?.status).not.toHaveProperty('webhooksDone');
    expect(latest(life)?.status?.hookTimes).toHaveLength(8);
    const bodies = endpoint.calls.map(bodyOf);
    const phasesOf = (instance: unknown) =>
      bodies.filter((body) => body.instance === instance).map(({ phase }) => phase);
    const instances = [...new Set(bodies.map(({ instance }) => instance))];
    const lives = instances.map((instance) => phasesOf(instance).join(' ')).toSorted();
    const old = 'preDrain postDrain preTerminate';
    expect(lives).toEqual(['postReady', 'postReady', old, old]);
    expect(bodies[0]).toMatchObject({
      attempt: 1,
      nodeGroup: 'ng',
      update: latest(life)?.metadata.name,
    });
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it.each<[string, readonly EndpointReply[], number]>([
    ['is asked again after 202', [{ status: 202, retryAfterSeconds: 120 }, { status: 202 }, ok], 4],
    ['is asked again after 503', [{ status: 503 }, { status: 503 }, ok], 4],
    ['is asked again when it was too slow', [{ status: 200, afterMs: 30_000 }, ok], 3],
    ['is asked again when it hangs', ['hangs', 'hangs', ok], 4],
    ['is asked again when nobody is there', ['refuses', ok], 3],
    ['may take most of a try', [{ status: 200, afterMs: 9_000 }, ok], 2],
  ])('%s', async (_, replies, calls) => {
    const { life, endpoint } = await begin({ preDrain: webhook() }, inTurn(...replies));
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    expect(endpoint.calls).toHaveLength(calls);
    // All attempts for a node share one key, and each has its number.
    const firsts = endpoint.calls.slice(0, calls - 1);
    expect(new Set(firsts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(firsts.map((call) => bodyOf(call).attempt)).toEqual(firsts.map((_call, i) => i + 1));
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it.each<[string, EndpointReply, string, number]>([
    ['refuses', { status: 403 }, 'it answered 403', 1],
    ['redirects', { status: 307 }, 'redirects are not followed', 1],
    ['hangs', 'hangs', 'it was not done in 120 s; at last ', 6],
    ['stays unwell', { status: 500 }, 'it was not done in 120 s; at last it answered 500', 7],
  ])('that %s ends the update before a pod has moved', async (_, reply, why, calls) => {
    const hooks = { preDrain: webhook({}, { timeoutSeconds: 120 }) };
    const { life, endpoint } = await begin(hooks, () => reply);
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Failed', errors: [{ code: 'HookFailed' }] });
    expect(status?.message).toContain(`(webhook https://ops.example/...) failed: `);
    expect(status?.message).toContain(why);
    expect(Math.abs(endpoint.calls.length - calls)).toBeLessThanOrEqual(1);
    await untilAtRest(life, 2);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('with Continue continues, and the journal tells what it answered', async () => {
    const hooks = { preTerminate: webhook({}, { onFailure: 'Continue' }) };
    const { life } = await begin(hooks, () => ({ status: 404 }));
    askFor(life, newest);
    await untilOver(life);
    const { status } = latest(life) ?? {};
    expect(status).toMatchObject({ status: 'Successful', progress: { done: 2 } });
    const told = {
      hook: 'preTerminate',
      webhook: 'https://ops.example/...',
      state: 'Failed',
      message: 'it answered 404',
    };
    expect(status?.hooks).toMatchObject([told, told]);
    await untilAtRest(life, 2);
    await life.end();
  });

  it('of a drain that is tried again is asked again, though it failed with Continue', async () => {
    const hooks = { preDrain: webhook({}, { onFailure: 'Continue' }) };
    const { life, endpoint } = await begin(hooks, () => ({ status: 404 }));
    const drain = { onTimeout: 'Skip', timeoutSeconds: 180 };
    life.patch({ spec: { updateConfig: { drain } } });
    const budgets = { group: 'policy', resource: 'poddisruptionbudgets' };
    life.unmake(budgets, 'default', 'web');
    life.make(budgets, 'default', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
    });
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Failed' });
    const asked = endpoint.calls.map((call) => `${bodyOf(call).node} ${call.idempotencyKey}`);
    const [again] = latest(life)?.status?.failedNodes ?? [];
    const ids = asked.filter((one) => one.startsWith(`${again?.node} `));
    expect(ids).toHaveLength(2);
    expect(new Set(asked).size).toBe(asked.length);
    await untilAtRest(life, 2);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is sent the token of its Secret, which no one else receives', async () => {
    const hooks = {
      preDrain: webhook({ bearerTokenSecret: { namespace: 'default', name: 'ops' } }),
    };
    const { life, endpoint } = await begin(hooks, inTurn({ status: 500 }, ok));
    grant(life, 'ops');
    const data = { token: btoa('s3cret-t0ken\n') };
    const metadata = { name: 'ops', namespace: 'default' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data };
    life.make({ group: '', resource: 'secrets' }, 'default', secret as unknown as JsonObject);
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
    expect(new Set(endpoint.calls.map(({ bearerToken }) => bearerToken))).toEqual(
      new Set(['s3cret-t0ken']),
    );
    const said = JSON.stringify([life.updates(), life.group(), life.log]);
    expect(said).not.toContain('s3cret-t0ken');
    await life.end();
  });

  it.each<[string, JsonObject, string]>([
    ['Secret', { bearerTokenSecret: { namespace: 'default', name: 'no' } }, 'there is no Secret'],
    ['certificate', { caBundle: btoa('nothing') }, 'caBundle is no PEM'],
  ])('without its %s has failed and is never asked', async (_, more, why) => {
    const { life, endpoint } = await begin({ preDrain: webhook(more) }, () => ok);
    grant(life, 'no');
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.message).toContain(why);
    expect(endpoint.calls).toEqual([]);
    await life.end();
  });

  it('whose Secret the controllers may not get says which right they lack', async () => {
    const hooks = { preDrain: webhook({ bearerTokenSecret: { namespace: 'default', name: 's' } }) };
    const { life } = await begin(hooks, () => ok);
    askFor(life, newest);
    await untilOver(life);
    expect(latest(life)?.status?.message).toContain(
      'Grant the controller `get` of this one Secret',
    );
    await life.end();
  });
});

describe('webhooks', () => {
  it('are refused where they are none', async () => {
    const life = await GroupLife.begin();
    await makeGroup(life);
    const refused = (preDrain: JsonObject): string =>
      JSON.stringify(
        life.patch({ spec: { updateConfig: { updateStrategy: 'SURGE', hooks: { preDrain } } } }),
      );
    const job = { namespace: 'default', cronJob: 'x' };
    expect(refused({})).toContain('a hook has one of job and webhook');
    expect(refused({ job, webhook: { url } })).toContain('a hook has one of job and webhook');
    for (const bad of [
      'ftp://h/',
      'https://u:p@h/',
      'https://h/?t=1',
      'https://h/#a',
      'https://',
    ]) {
      expect(refused({ webhook: { url: bad } })).toContain('url');
    }
    expect(refused({ webhook: { url, bearerTokenSecret: { name: 's' } } })).toContain('namespace');
    expect(refused({ webhook: { url } })).not.toContain('"kind":"error"');
    await life.end();
  });

  /** Runs all hooks with kills after writes since the update's request. */
  const told = async (kills: Kills): Promise<{ writes: readonly Write[]; end: JsonObject }> => {
    const writes: Write[] = [];
    let begun = false;
    const hooks = { preDrain: webhook(), preTerminate: webhook(), postReady: webhook() };
    const { life, endpoint }: Awaited<ReturnType<typeof begin>> = await begin(hooks, () => ok, {
      afterWrite: (call) => {
        if (!begun) return;
        writes.push(call);
        if (kills.killsAfter(call)) life.killFor(3);
      },
    });
    begun = true;
    askFor(life, newest);
    await untilOver(life);
    await untilAtRest(life, 2);
    const keys = new Set(endpoint.calls.map(({ idempotencyKey }) => idempotencyKey));
    const end = { ...endState(life), keys: keys.size };
    expect(end).toMatchObject({ updates: [{ status: 'Successful' }], keys: 6 });
    // A repeated call only if the process died before it had recorded the reply.
    expect(endpoint.calls.length).toBeLessThanOrEqual(6 + kills.count());
    expect(life.check().violations).toEqual([]);
    await life.end();
    return { writes, end };
  };

  it('come to the same end, the process killed after each kind of write', async () => {
    const { writes, end } = await told(noKills);
    // One kill in a run: each may repeat one call at most.
    const ends = async (kills: Kills) => expect((await told(kills)).end).toEqual(end);
    await killedInTurn(writes, ends, { together: 1 });
  }, 600_000);
});
