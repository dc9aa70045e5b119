import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { named, TestWorld } from '../../../test/builders/world-kube-server.ts';
import { servingRequest } from '../controllers/csr-samples.ts';
import { metadataOf, objectsOf, specOf, statusOf } from './objects.ts';

const pods = '/api/v1/namespaces/demo/pods';
const cms = '/api/v1/namespaces/demo/configmaps';
const deployments = '/apis/apps/v1/namespaces/demo/deployments';
const nodes = '/api/v1/nodes';

const deployment = (replicas: number, more: JsonObject = {}): JsonObject => ({
  metadata: { name: 'd' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'd' } },
    template: {
      metadata: { labels: { app: 'd' } },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    },
    ...more,
  },
});

const firstCause = (body: JsonObject): JsonObject | undefined =>
  objectsOf(objectOr(body.details).causes)[0];

describe('creating', () => {
  it('sets uid, creationTimestamp, resourceVersion and defaults, and drops status', () => {
    const world = new TestWorld();
    const { body, code } = world.post(deployments, { ...deployment(1), status: { replicas: 9 } });
    expect(code).toBe(201);
    expect(body).toMatchObject({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', namespace: 'demo' },
      spec: { strategy: { type: 'RollingUpdate' }, revisionHistoryLimit: 10 },
    });
    expect(body.status).toEqual({});
    expect(metadataOf(body).uid).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('appends five characters to generateName', () => {
    const { body } = new TestWorld().post(cms, { metadata: { generateName: 'c-' } });
    expect(metadataOf(body).name).toMatch(/^c-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('gives pods tolerations, priority, service account, QoS class and phase', () => {
    const world = new TestWorld();
    const { body } = world.post(pods, {
      metadata: { name: 'p' },
      spec: {
        priorityClassName: 'system-node-critical',
        containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '100m' } } }],
      },
    });
    expect(specOf(body)).toMatchObject({
      priority: 2_000_001_000,
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', tolerationSeconds: 300 },
      ],
    });
    expect(statusOf(body)).toEqual({ phase: 'Pending', qosClass: 'Burstable' });
  });

  it('taints a new node until it is ready, and gives services an address that stays', () => {
    const world = new TestWorld();
    const node = world.post(nodes, named('n1'));
    expect(specOf(node.body).taints).toEqual([
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ]);
    const services = '/api/v1/namespaces/demo/services';
    const service = world.post(services, named('s', { spec: { ports: [{ port: 80 }] } }));
    expect(specOf(service.body).clusterIP).toMatch(/^10\.100\./);
    const moved = world.patch(`${services}/s`, { spec: { clusterIP: '10.100.0.9' } });
    expect(firstCause(moved.body)?.field).toBe('spec.clusterIP');
  });

  it.each<[string, string, JsonObject, number, string]>([
    ['a name taken', cms, named('taken'), 409, 'configmaps "taken" already exists'],
    ['no name', cms, {}, 422, 'metadata.name: Required value: name or generateName is required'],
    [
      'a bad name',
      cms,
      named('No_Good'),
      422,
      'metadata.name: Invalid value: "No_Good": a lowercase',
    ],
    ['another kind', cms, { kind: 'Secret', ...named('x') }, 400, 'Secret in version "v1" cannot'],
    [
      'another version',
      cms,
      { apiVersion: 'v2', ...named('x') },
      400,
      'the API version in the data (v2) does not match the expected API version (v1)',
    ],
    [
      'another namespace',
      cms,
      { metadata: { name: 'x', namespace: 'default' } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['no containers', pods, named('p', { spec: {} }), 422, 'spec.containers: Required value'],
    [
      'a resourceVersion',
      cms,
      { metadata: { name: 'x', resourceVersion: '5' } },
      500,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'a selector that misses its template',
      deployments,
      deployment(1, { selector: { matchLabels: { app: 'z' } } }),
      422,
      '`selector` does not match template `labels`',
    ],
    ['negative replicas', deployments, deployment(-1), 422, 'must be greater than or equal to 0'],
    [
      'both bounds of a budget',
      '/apis/policy/v1/namespaces/demo/poddisruptionbudgets',
      named('b', { spec: { minAvailable: 1, maxUnavailable: 1 } }),
      422,
      'minAvailable and maxUnavailable cannot be both set',
    ],
  ])('refuses %s', (_case, url, body, code, message) => {
    const world = new TestWorld();
    world.post(cms, named('taken'));
    const answer = world.post(url, body);
    expect([answer.code, answer.body.message]).toEqual([code, expect.stringContaining(message)]);
  });

  it('stores nothing in a dry run', () => {
    const world = new TestWorld();
    expect(world.post(`${cms}?dryRun=All`, named('c')).code).toBe(201);
    expect(world.get(`${cms}/c`).code).toBe(404);
  });
});

describe('fieldValidation', () => {
  const bad = { ...named('c'), spoc: 1 };
  it('Strict answers 400 and names the field', () => {
    const answer = new TestWorld().post(`${cms}?fieldValidation=Strict`, bad);
    expect(answer.code).toBe(400);
    expect(answer.body.message).toContain('strict decoding error: unknown field "spoc"');
  });
  it('Warn, the default, drops the field and says so in a header', () => {
    const answer = new TestWorld().post(cms, bad);
    expect(answer.body.spoc).toBeUndefined();
    expect(answer.headers.warning).toBe('299 - "unknown field \\"spoc\\""');
  });
  it('Ignore drops it silently', () => {
    expect(new TestWorld().post(`${cms}?fieldValidation=Ignore`, bad).headers).toEqual({});
  });
});

describe('updating', () => {
  it('raises generation with the spec only, and makes no revision of no change', () => {
    const world = new TestWorld();
    world.post(deployments, deployment(1));
    const generations = [
      { metadata: { labels: { a: 'b' } } },
      { spec: { replicas: 2 } },
      { spec: { replicas: 2 } },
      { metadata: { annotations: { a: 'b' } } },
    ].map((patch) => metadataOf(world.patch(`${deployments}/d`, patch).body).generation);
    expect(generations).toEqual([1, 2, 2, 3]);
    const before = world.api.revision;
    world.patch(`${deployments}/d`, { spec: { replicas: 2 } });
    expect(world.api.revision).toBe(before);
  });

  it('refuses a stale resourceVersion in PUT and PATCH', () => {
    const world = new TestWorld();
    const { body } = world.post(cms, named('c'));
    world.patch(`${cms}/c`, { data: { a: '1' } });
    const message =
      'Operation cannot be fulfilled on configmaps "c": the object has been modified; please ' +
      'apply your changes to the latest version and try again';
    const { resourceVersion } = metadataOf(body);
    for (const answer of [
      world.put(`${cms}/c`, body),
      world.patch(`${cms}/c`, { metadata: { resourceVersion }, data: { a: '2' } }),
    ]) {
      expect([answer.code, answer.body.reason]).toEqual([409, 'Conflict']);
      expect(answer.body.message).toBe(message);
    }
  });

  it('takes a PUT without resourceVersion for most kinds, not for budgets', () => {
    const world = new TestWorld();
    world.post(cms, named('c'));
    expect(world.put(`${cms}/c`, named('c', { data: { a: '1' } })).code).toBe(200);
    const budgets = '/apis/policy/v1/namespaces/demo/poddisruptionbudgets';
    world.post(budgets, named('b', { spec: { maxUnavailable: 1 } }));
    const answer = world.put(`${budgets}/b`, named('b', { spec: { maxUnavailable: 2 } }));
    expect(answer.body.message).toContain('metadata.resourceVersion: Invalid value: 0x0: must be');
  });

  it('keeps identity fields: a wrong uid is 422 in a patch, 409 in a PUT', () => {
    const world = new TestWorld();
    world.post(nodes, named('n1'));
    const patched = world.patch(`${nodes}/n1`, { metadata: { uid: 'other' } });
    expect(patched.code).toBe(422);
    expect(patched.body.message).toBe(
      'Node "n1" is invalid: metadata.uid: Invalid value: "other": field is immutable',
    );
    const put = world.put(`${nodes}/n1`, { metadata: { name: 'n1', uid: 'other' } });
    expect(put.code).toBe(409);
  });

  it('marks a node in one merge patch with uid and resourceVersion', () => {
    const world = new TestWorld();
    const { uid, resourceVersion } = metadataOf(world.post(nodes, named('n1')).body);
    const { code, body } = world.patch(`${nodes}/n1`, {
      metadata: { uid, resourceVersion, labels: { out: 'true' }, annotations: { why: 'x' } },
      spec: { unschedulable: true, taints: [{ key: 'a', effect: 'NoSchedule' }] },
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      metadata: { labels: { out: 'true' } },
      spec: { unschedulable: true },
    });
  });

  it.each<[string, string, string, JsonObject, string]>([
    [
      'a selector',
      deployments,
      'd',
      { spec: { selector: { matchLabels: { app: 'x' } } } },
      'spec.selector',
    ],
    [
      'the node of a pod',
      pods,
      'p',
      { spec: { nodeName: 'n9' } },
      'pod updates may not change fields',
    ],
    ['the name', cms, 'c', { metadata: { name: 'x' } }, 'does not match the name on the URL'],
  ])('refuses to change %s', (_case, url, name, patch, message) => {
    const world = new TestWorld();
    world.post(deployments, deployment(1));
    world.post(cms, named('c'));
    world.aPod('p');
    const answer = world.patch(`${url}/${name}`, patch);
    expect([400, 422]).toContain(answer.code);
    expect(answer.body.message).toContain(message);
  });

  it('lets a pod take another image and a further toleration', () => {
    const world = new TestWorld();
    const pod = world.aPod('p');
    const before = objectsOf(specOf(pod).tolerations);
    const spec = {
      containers: [{ name: 'c', image: 'nginx:2' }],
      tolerations: [...before, { key: 'x', operator: 'Exists' }],
    };
    expect(world.patch(`${pods}/p`, { spec }, 'strategic').code).toBe(200);
    const fewer = { spec: { tolerations: before.slice(1) } };
    expect(world.patch(`${pods}/p`, fewer).code).toBe(422);
  });

  it('answers unknown patch types with 415', () => {
    const world = new TestWorld();
    world.post(cms, named('c'));
    const odd = world.send('PATCH', `${cms}/c`, { body: {}, contentType: 'text/plain' });
    expect(odd.code).toBe(415);
  });

  it('answers a JSON patch whose body is an object with 400', () => {
    const world = new TestWorld();
    world.post(cms, named('c'));
    expect(world.patch(`${cms}/c`, { data: {} }, 'json').code).toBe(400);
  });
});

describe('the status subresource', () => {
  it('writes status and labels, never spec; the main resource never writes status', () => {
    const world = new TestWorld();
    world.post(nodes, named('n1'));
    world.patch(`${nodes}/n1/status`, {
      metadata: { labels: { l: '1' }, annotations: { a: '1' } },
      spec: { unschedulable: true },
      status: { capacity: { cpu: '2' } },
    });
    world.patch(`${nodes}/n1`, { status: { capacity: { cpu: '9' } } });
    const { body } = world.get(`${nodes}/n1`);
    expect(metadataOf(body)).toMatchObject({ labels: { l: '1' }, annotations: { a: '1' } });
    expect(specOf(body).unschedulable).toBeUndefined();
    expect(statusOf(body).capacity).toEqual({ cpu: '2' });
  });

  it('merges conditions by type in a strategic patch and replaces them in a merge patch', () => {
    const world = new TestWorld();
    world.post(nodes, named('n1'));
    const condition = (type: string) => ({ status: { conditions: [{ type, status: 'True' }] } });
    const types = () =>
      objectsOf(statusOf(world.get(`${nodes}/n1`).body).conditions)
        .map((one) => one.type)
        .sort();
    world.patch(`${nodes}/n1/status`, condition('Ready'), 'strategic');
    world.patch(`${nodes}/n1/status`, condition('KernelReady'), 'strategic');
    expect(types()).toEqual(['KernelReady', 'Ready']);
    world.patch(`${nodes}/n1/status`, condition('Only'), 'merge');
    expect(types()).toEqual(['Only']);
  });
});

describe('the scale subresource', () => {
  it('reads and writes replicas, and fences with a JSON patch test', () => {
    const world = new TestWorld();
    world.post(deployments, deployment(1));
    const url = `${deployments}/d/scale`;
    expect(world.get(url).body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'app=d' },
    });
    const fenced = (was: number, now: number) => [
      { op: 'test', path: '/spec/replicas', value: was },
      { op: 'replace', path: '/spec/replicas', value: now },
    ];
    expect(world.patch(url, fenced(1, 3), 'json').code).toBe(200);
    expect(world.patch(url, fenced(1, 4), 'json').code).toBe(422);
    expect(world.patch(url, { spec: { replicas: -1 } }).code).toBe(422);
    expect(world.put(url, { metadata: { name: 'd' }, spec: { replicas: 2 } }).code).toBe(200);
    expect(world.get(`${deployments}/d`).body).toMatchObject({
      metadata: { generation: 3 },
      spec: { replicas: 2 },
    });
  });
});

describe('certificate requests', () => {
  it('are signed by whoever sends them, and approved only through /approval', () => {
    const world = new TestWorld();
    const url = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const spec = {
      request: btoa(servingRequest),
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature'],
    };
    const { body } = world.post(url, named('r', { spec: { ...spec, username: 'forged' } }));
    expect(specOf(body)).toMatchObject({ username: 'tester', groups: ['system:masters'] });
    const approved = { status: { conditions: [{ type: 'Approved', status: 'True' }] } };
    world.patch(`${url}/r/status`, approved);
    expect(objectsOf(statusOf(world.get(`${url}/r`).body).conditions)).toEqual([]);
    world.patch(`${url}/r/approval`, approved);
    world.patch(`${url}/r/status`, { status: { certificate: 'Yg==' } });
    expect(statusOf(world.get(`${url}/r`).body)).toMatchObject({
      certificate: 'Yg==',
      conditions: [{ type: 'Approved' }],
    });
  });
});
