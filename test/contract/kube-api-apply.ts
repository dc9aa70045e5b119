// Contract cases: server-side apply, the recorded managers of each field, conflicts and their
// messages.
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../src/api/json.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import type { ContractCase, ContractEnv } from './kube-api-env.ts';

const objectAt = (body: JsonObject, key: string): JsonObject => body[key] as JsonObject;
const listAt = (body: JsonObject, key: string): readonly JsonObject[] =>
  (body[key] ?? []) as readonly JsonObject[];

/**
 * Maps `me Apply status` to its fields. System controllers are left out, since they write at any
 * time.
 */
const managers = ({ body }: RawAnswer): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    listAt(objectAt(body, 'metadata'), 'managedFields')
      .filter(({ manager }) => !String(manager).startsWith('kube-'))
      .map(({ manager, operation, subresource = '', fieldsV1 }) => [
        `${String(manager)} ${String(operation)} ${String(subresource)}`.trim(),
        fieldsV1 ?? null,
      ]),
  );

const leaf = {};

/** A ConfigMap or Deployment in its own namespace, and a function that applies to it. */
const place = async (env: ContractEnv, kind: 'ConfigMap' | 'Deployment') => {
  const namespace = await env.namespace();
  const isMap = kind === 'ConfigMap';
  const root = isMap ? '/api/v1' : '/apis/apps/v1';
  const items = `${root}/namespaces/${namespace}/${isMap ? 'configmaps' : 'deployments'}`;
  const type = { apiVersion: isMap ? 'v1' : 'apps/v1', kind };
  const send = (method: string, query: string, body: JsonObject): Promise<RawAnswer> =>
    env.raw(method, `${items}/x?${query}`, {
      contentType: method === 'PUT' ? 'application/json' : 'application/merge-patch+json',
      body,
    });
  return {
    items,
    create: (manager: string, more: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', `${items}?fieldManager=${manager}`, {
        body: { ...type, metadata: { name: 'x' }, ...more },
      }),
    apply: (manager: string, more: JsonObject, query = ''): Promise<RawAnswer> =>
      env.raw('PATCH', `${items}/x?fieldManager=${manager}${query}`, {
        contentType: 'application/apply-patch+yaml',
        body: { ...type, metadata: { name: 'x' }, ...more },
      }),
    merge: (manager: string, body: JsonObject): Promise<RawAnswer> =>
      send('PATCH', `fieldManager=${manager}`, body),
    put: (manager: string, body: JsonObject): Promise<RawAnswer> =>
      send('PUT', `fieldManager=${manager}`, { ...type, ...body }),
    get: (): Promise<RawAnswer> => env.raw('GET', `${items}/x`),
  };
};

const deployment = (spec: JsonObject, container: JsonObject): JsonObject => ({
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'c', image: 'example/image:1', ...container }] },
    },
    ...spec,
  },
});

const containersOf = ({ body }: RawAnswer): readonly JsonObject[] =>
  listAt(objectAt(objectAt(objectAt(body, 'spec'), 'template'), 'spec'), 'containers');

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'says who created which field, and refuses an apply that would change it': async (env) => {
    const x = await place(env, 'ConfigMap');
    const made = await x.create('maker', { data: { a: '1', b: '2' } });
    assert.deepEqual(managers(made), {
      'maker Update': { 'f:data': { '.': leaf, 'f:a': leaf, 'f:b': leaf } },
    });
    const one = await x.apply('me', { data: { a: '9' } });
    assert.equal(one.code, 409);
    assert.equal(one.body.reason, 'Conflict');
    assert.equal(
      one.body.message,
      'Apply failed with 1 conflict: conflict with "maker" using v1: .data.a',
    );
    assert.deepEqual(objectAt(one.body, 'details'), {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "maker" using v1',
          field: '.data.a',
        },
      ],
    });
    const two = await x.apply('me', { data: { a: '9', b: '9' } });
    assert.equal(
      two.body.message,
      'Apply failed with 2 conflicts: conflicts with "maker" using v1:\n- .data.a\n- .data.b',
    );
    const same = await x.apply('me', { data: { a: '1' } });
    assert.equal(same.code, 200, 'the same value is no conflict: both own it');
    assert.deepEqual(managers(same), {
      'maker Update': { 'f:data': { '.': leaf, 'f:a': leaf, 'f:b': leaf } },
      'me Apply': { 'f:data': { 'f:a': leaf } },
    });
  },

  'takes fields by force, shares them, and removes what nobody applies any more': async (env) => {
    const x = await place(env, 'ConfigMap');
    await x.create('maker', { data: { a: '1', z: '0' } });
    const forced = await x.apply('me', { data: { a: '2', n: '3' } }, '&force=true');
    assert.deepEqual(managers(forced), {
      'maker Update': { 'f:data': { '.': leaf, 'f:z': leaf } },
      'me Apply': { 'f:data': { 'f:a': leaf, 'f:n': leaf } },
    });
    const against = await x.apply('you', { data: { a: '5' } });
    assert.equal(against.body.message, 'Apply failed with 1 conflict: conflict with "me": .data.a');
    assert.equal((await x.apply('you', { data: { a: '2' } })).code, 200);
    const less = await x.apply('me', {});
    assert.deepEqual(less.body.data, { a: '2', z: '0' }, 'n is gone, a is still of somebody');
    const none = await x.apply('you', {});
    assert.deepEqual(none.body.data, { z: '0' });
  },

  'creates what is not there, unless it is only asked what would happen': async (env) => {
    const x = await place(env, 'ConfigMap');
    const dry = await x.apply('me', { data: { a: '1' } }, '&dryRun=All');
    assert.equal(dry.code, 201);
    assert.equal((await x.get()).code, 404);
    assert.equal((await x.apply('me', { data: { a: '1' } })).code, 201);
    const again = await x.apply('me', { data: { a: '1' } });
    assert.equal(again.code, 200);
    const changed = await x.apply('me', { data: { a: '2' } }, '&dryRun=All');
    assert.deepEqual(changed.body.data, { a: '2' });
    const { body } = await x.get();
    assert.deepEqual(body, again.body, 'neither a dry run nor the same again is a write');
  },

  'merges keyed lists by their keys': async (env) => {
    const x = await place(env, 'Deployment');
    const made = await x.apply('me', deployment({}, { env: [{ name: 'A', value: '1' }] }));
    assert.equal(made.code, 201, JSON.stringify(made.body));
    const sidecar = { template: { spec: { containers: [{ name: 's', image: 'side' }] } } };
    const both = await x.apply('you', { spec: sidecar });
    assert.deepEqual(
      containersOf(both).map(({ name }) => name),
      ['c', 's'],
    );
    const image = [{ name: 'c', image: 'example/image:2' }];
    const conflict = await x.apply('you', { spec: { template: { spec: { containers: image } } } });
    assert.equal(
      conflict.body.message,
      'Apply failed with 1 conflict: conflict with "me": ' +
        '.spec.template.spec.containers[name="c"].image',
    );
    const bare = await x.apply('me', deployment({}, {}));
    assert.equal(containersOf(bare)[0]?.env, undefined);
    const alone = await x.apply('you', {});
    assert.deepEqual(
      containersOf(alone).map(({ name }) => name),
      ['c'],
    );
  },

  'gives replicas to whoever scales': async (env) => {
    const x = await place(env, 'Deployment');
    await x.apply('me', deployment({ replicas: 0 }, {}));
    const scale = await env.raw('PATCH', `${x.items}/x/scale?fieldManager=hpa`, {
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 1 } },
    });
    assert.equal(scale.code, 200);
    const after = managers(await x.get());
    assert.deepEqual(after['hpa Update scale'], { 'f:spec': { 'f:replicas': leaf } });
    const { message } = (await x.apply('me', deployment({ replicas: 0 }, {}))).body;
    assert.equal(
      message,
      'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" ' +
        'using apps/v1: .spec.replicas',
    );
    const left = await x.apply('me', deployment({}, {}));
    assert.equal(objectAt(left.body, 'spec').replicas, 1);
  },

  'lets kubectl take over what client-side apply left': async (env) => {
    const x = await place(env, 'ConfigMap');
    const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: '1' } };
    const key = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [key]: JSON.stringify(last) };
    const metadata = { name: 'x', annotations };
    await x.create('kubectl-client-side-apply', { metadata, data: { a: '1' } });
    const refused = await x.apply('other', { data: { a: '2' } });
    assert.equal(
      refused.body.message,
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a',
    );
    const taken = await x.apply('kubectl', { data: { a: '2' } });
    assert.equal(taken.code, 200, JSON.stringify(taken.body));
    const kept = objectAt(objectAt(taken.body, 'metadata'), 'annotations')[key];
    assert.equal(
      kept,
      '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"x"}}\n',
    );
  },

  'forgets managers when told to, and takes up again at the first apply': async (env) => {
    const x = await place(env, 'ConfigMap');
    await x.create('maker', { data: { a: '1' } });
    const forgotten = await x.put('maker', {
      metadata: { name: 'x', managedFields: [{}] },
      data: { a: '2' },
    });
    assert.deepEqual(managers(forgotten), {});
    assert.deepEqual(managers(await x.merge('later', { data: { b: '3' } })), {});
    const refused = await x.apply('me', { data: { a: '5' } });
    assert.equal(
      refused.body.message,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
  },

  'refuses configurations that do not fit, in the words of structured merge': async (env) => {
    const x = await place(env, 'ConfigMap');
    await x.create('maker', {});
    const said = async (ask: Promise<RawAnswer>): Promise<readonly unknown[]> => {
      const { code, body } = await ask;
      return [code, body.message];
    };
    const typed = 'failed to create typed patch object (/x; /v1, Kind=ConfigMap): ';
    assert.deepEqual(await said(x.apply('me', { dato: {} })), [
      500,
      `${typed}.dato: field not declared in schema`,
    ]);
    assert.deepEqual(await said(x.apply('me', { data: { a: 1 } })), [
      500,
      `${typed}.data.a: expected string, got &value.valueUnstructured{Value:1}`,
    ]);
    assert.deepEqual(await said(x.apply('me', { kind: 'Secret' })), [
      400,
      'invalid object type: /v1, Kind=Secret',
    ]);
    assert.deepEqual(await said(x.apply('me', { metadata: { name: 'x', managedFields: [] } })), [
      400,
      'metadata.managedFields must be nil',
    ]);
    assert.deepEqual(await said(x.apply('', {})), [
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: ' +
        'is required for apply patch',
    ]);
    const forced = env.raw('PATCH', `${x.items}/x?force=true`, {
      contentType: 'application/merge-patch+json',
      body: {},
    });
    assert.deepEqual(await said(forced), [
      422,
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: ' +
        'may not be specified for non-apply patch',
    ]);
  },

  'keeps what custom resources say of their lists': async (env) => {
    const group = `${env.unique('g')}.example.com`;
    const list = (type: string, more: JsonObject): JsonObject => ({
      type: 'array',
      'x-kubernetes-list-type': type,
      ...more,
    });
    const member = { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string' } } };
    const spec = {
      type: 'object',
      properties: {
        keyed: list('map', {
          'x-kubernetes-list-map-keys': ['k'],
          items: { ...member, required: ['k'] },
        }),
        set: list('set', { items: { type: 'string' } }),
        whole: { type: 'array', items: { type: 'string' } },
      },
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const crd = await env.raw('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        metadata: { name: `things.${group}` },
        spec: {
          group,
          scope: 'Cluster',
          names: { plural: 'things', kind: 'Thing' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    });
    assert.equal(crd.code, 201, JSON.stringify(crd.body));
    const apply = async (manager: string, wanted: JsonObject): Promise<RawAnswer> => {
      const until = performance.now() + 10_000;
      for (;;) {
        const answer = await env.raw(
          'PATCH',
          `/apis/${group}/v1/things/x?fieldManager=${manager}`,
          {
            contentType: 'application/apply-patch+yaml',
            body: {
              apiVersion: `${group}/v1`,
              kind: 'Thing',
              metadata: { name: 'x' },
              spec: wanted,
            },
          },
        );
        // The server serves a CRD a moment after it is stored.
        if (answer.code !== 404 || performance.now() > until) return answer;
      }
    };
    const mine = await apply('me', { keyed: [{ k: 'a', v: '1' }], set: ['p'], whole: ['x'] });
    assert.equal(mine.code, 201, JSON.stringify(mine.body));
    const yours = await apply('you', { keyed: [{ k: 'b', v: '2' }], set: ['q', 'p'] });
    const { keyed, set } = objectAt(yours.body, 'spec');
    assert.deepEqual(keyed, [
      { k: 'a', v: '1' },
      { k: 'b', v: '2' },
    ]);
    assert.deepEqual([...(set as string[])].sort(), ['p', 'q']);
    const whole = await apply('you', { whole: ['y'] });
    assert.equal(
      whole.body.message,
      'Apply failed with 1 conflict: conflict with "me": .spec.whole',
    );
    const item = await apply('you', { keyed: [{ k: 'a', v: '3' }] });
    assert.equal(
      item.body.message,
      'Apply failed with 1 conflict: conflict with "me": .spec.keyed[k="a"].v',
    );
  },
};

export const applyCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
