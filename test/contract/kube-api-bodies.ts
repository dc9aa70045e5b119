// Contract cases: how the API server treats a body before it stores it, and objects stored under an
// older schema. They cover duplicate fields, keys, sizes, defaults and conditions.
import assert from 'node:assert/strict';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { requestCertificate } from '../support/certificates.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const yaml = 'application/yaml';
const messageOf = ({ body }: RawAnswer): string => String(body.message);
const warned = ({ warnings }: RawAnswer): readonly string[] =>
  [...warnings.join(', ').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    String(JSON.parse(`"${text}"`)),
  );

const configMaps = async (env: ContractEnv): Promise<string> =>
  `/api/v1/namespaces/${await env.namespace()}/configmaps`;

const twiceInJson =
  '{"metadata":{"name":"d","name":"d","labels":{"a":"1","a":"2"}},' +
  '"data":{"k":"1","k":"2","k":"3"},"foo":{"a":1,"a":2}}';
const twiceInYaml =
  'metadata:\n  name: d\n  name: d\n  labels: {a: "1", a: "2"}\ndata:\n  k: "1"\n  k: "2"\nfoo: 1\n';
const inWords =
  'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ';
const jsonProblems = [
  'duplicate field "metadata.name"',
  'duplicate field "metadata.labels.a"',
  'duplicate field "data.k"',
  'unknown field "foo"',
];
const yamlProblems = [
  'line 3: key "name" already set in map',
  'line 4: key "a" already set in map',
  'line 7: key "k" already set in map',
];

const kind = (
  env: ContractEnv,
): JsonObject & { readonly plural: string; readonly group: string } => {
  const plural = env.unique('things').replace('-', '');
  return { plural, group: 'contract.drover.dev' };
};

const definition = (plural: string, group: string, spec: JsonObject): JsonObject => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural, kind: `K${plural}` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: spec } },
          },
        },
      },
    ],
  },
});

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'names fields that a JSON body has twice, as an error, as warnings or not at all': async (
    env,
  ) => {
    const path = await configMaps(env);
    const ask = (mode: string): Promise<RawAnswer> =>
      env.raw('POST', `${path}?dryRun=All&fieldValidation=${mode}`, { body: twiceInJson });
    const refused = await ask('Strict');
    assert.equal(refused.code, 400);
    assert.equal(messageOf(refused), inWords + jsonProblems.join(', '));
    const made = await ask('Warn');
    assert.equal(made.code, 201);
    assert.deepEqual(warned(made), jsonProblems);
    assert.deepEqual(made.body.data, { k: '3' });
    assert.deepEqual(warned(await ask('Ignore')), []);
    const list = await env.raw('POST', `${path}?dryRun=All&fieldValidation=Strict`, {
      body: '{"metadata":{"name":"d","ownerReferences":[{"uid":"a","uid":"b"}]}}',
    });
    assert.match(messageOf(list), /duplicate field "metadata\.ownerReferences\[0\]\.uid"$/);
  },

  'names keys that a YAML body has twice by their lines': async (env) => {
    const path = await configMaps(env);
    const ask = (mode: string): Promise<RawAnswer> =>
      env.raw('POST', `${path}?dryRun=All&fieldValidation=${mode}`, {
        body: twiceInYaml,
        contentType: yaml,
      });
    const refused = await ask('Strict');
    assert.equal(refused.code, 400);
    const lines = ['yaml: unmarshal errors:', ...yamlProblems].join('\n  ');
    assert.equal(messageOf(refused), `${inWords}${lines}, unknown field "foo"`);
    assert.deepEqual(warned(await ask('Warn')), [...yamlProblems, 'unknown field "foo"']);
    const made = await ask('Ignore');
    assert.deepEqual([made.code, warned(made), made.body.data], [201, [], { k: '2' }]);
  },

  'names fields that a patch or an applied configuration has twice': async (env) => {
    const path = await configMaps(env);
    assert.equal((await env.raw('POST', path, { body: { metadata: { name: 'd' } } })).code, 201);
    const ask = (mode: string, contentType: string, body: string): Promise<RawAnswer> => {
      const query = `dryRun=All&fieldManager=m&fieldValidation=${mode}`;
      return env.raw('PATCH', `${path}/d?${query}`, { body, contentType });
    };
    for (const type of ['merge-patch', 'strategic-merge-patch']) {
      const body = '{"data":{"k":"1","k":"2"},"foo":1}';
      const refused = await ask('Strict', `application/${type}+json`, body);
      assert.equal(refused.code, 422);
      assert.match(messageOf(refused), /error: duplicate field "data\.k", unknown field "foo"$/);
      const said = warned(await ask('Warn', `application/${type}+json`, body));
      assert.deepEqual(said, ['duplicate field "data.k"', 'unknown field "foo"']);
    }
    const steps = '[{"op":"add","op":"add","path":"/data","value":{"k":"1"}}]';
    const refused = await ask('Strict', 'application/json-patch+json', steps);
    assert.match(messageOf(refused), /error: json patch duplicate field "\[0\]\.op"$/);
    const config =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata:\n  k: "1"\n  k: "2"\n';
    const applied = await ask('Strict', 'application/apply-patch+yaml', config);
    assert.equal(applied.code, 400);
    assert.equal(
      messageOf(applied),
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n' +
        '  line 6: key "k" already set in map',
    );
    const said = warned(await ask('Warn', 'application/apply-patch+yaml', config));
    assert.deepEqual(said, ['line 6: key "k" already set in map']);
  },

  'checks the keys of ConfigMaps and Secrets': async (env) => {
    const path = await configMaps(env);
    const charset =
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. " +
      "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    const why: Readonly<Record<string, string>> = {
      'a b': charset,
      '..x': "must not start with '..'",
      '.': "must not be '.'",
      '..': "must not be '..'",
      [`${'k'.repeat(254)}`]: 'must be no more than 253 characters',
    };
    for (const [key, words] of Object.entries(why)) {
      const map = await env.raw('POST', path, {
        body: { metadata: { name: 'm' }, data: { [key]: 'x' } },
      });
      assert.equal(
        messageOf(map),
        `ConfigMap "m" is invalid: data[${key}]: Invalid value: "${key}": ${words}`,
      );
      const body = { metadata: { name: 's' }, stringData: { [key]: 'x' } };
      const secret = await env.raw('POST', path.replace('configmaps', 'secrets'), { body });
      assert.equal(
        messageOf(secret),
        `Secret "s" is invalid: data[${key}]: Invalid value: "${key}": ${words}`,
      );
    }
    const both = { metadata: { name: 'm' }, data: { k: 'x' }, binaryData: { k: 'aGk=' } };
    assert.equal(
      messageOf(await env.raw('POST', path, { body: both })),
      'ConfigMap "m" is invalid: data[k]: Invalid value: "k": duplicate of key present in binaryData',
    );
  },

  'keeps 1 MiB in a ConfigMap or Secret, 256 KiB in annotations and 1.5 MiB in any object': async (
    env,
  ) => {
    const path = await configMaps(env);
    const post = (resource: string, body: JsonObject): Promise<RawAnswer> =>
      env.raw('POST', path.replace('configmaps', resource), { body });
    const text = (length: number): string => 'x'.repeat(length);
    const mebi = 1024 * 1024;
    const fits = { metadata: { name: 'a' }, data: { k: text(mebi) } };
    assert.equal((await post('configmaps', fits)).code, 201);
    const map = await post('configmaps', { metadata: { name: 'b' }, data: { k: text(mebi + 1) } });
    const limit = `Too long: may not be more than ${mebi} bytes`;
    assert.equal(messageOf(map), `ConfigMap "b" is invalid: []: ${limit}`);
    const much = { metadata: { name: 'b' }, stringData: { k: text(mebi + 1) } };
    assert.equal(messageOf(await post('secrets', much)), `Secret "b" is invalid: data: ${limit}`);
    const annotations = { a: text(256 * 1024) };
    assert.equal(
      messageOf(await post('configmaps', { metadata: { name: 'c', annotations } })),
      'ConfigMap "c" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    );
    const account = (name: string, length: number): Promise<RawAnswer> =>
      post('serviceaccounts', { metadata: { name }, imagePullSecrets: [{ name: text(length) }] });
    assert.equal((await account('d', 1.5 * mebi - 1000)).code, 201);
    const { code, body } = await account('e', 1.5 * mebi);
    assert.deepEqual(
      [code, body.message, body.reason],
      [500, 'etcdserver: request is too large', undefined],
    );
    const huge = await account('f', 2 * mebi);
    assert.equal(huge.code, 500);
    assert.match(messageOf(huge), /^rpc error: code = ResourceExhausted desc = trying to send/);
  },

  'reads a stored custom object under the schema of today: defaults are added, fields pruned':
    async (env) => {
      const { plural, group } = kind(env);
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const first = { size: { type: 'integer' }, old: { type: 'string' } };
      const made = await env.raw('POST', path, { body: definition(plural, group, first) });
      assert.equal(made.code, 201, messageOf(made));
      const things = `/apis/${group}/v1/${plural}`;
      const thing = {
        apiVersion: `${group}/v1`,
        kind: `K${plural}`,
        metadata: { name: 't' },
        spec: { size: 1, old: 'x' },
      };
      await eventually('the kind to be served', async () => {
        const { code } = await env.raw('POST', things, { body: thing });
        return code === 201 ? true : undefined;
      });
      const second = { size: { type: 'integer' }, color: { type: 'string', default: 'red' } };
      const { spec } = definition(plural, group, second);
      const contentType = 'application/merge-patch+json';
      await env.raw('PATCH', `${path}/${plural}.${group}`, { body: { spec }, contentType });
      const found = await eventually('the default', async () => {
        const { body } = await env.raw('GET', `${things}/t`);
        return objectOr(body.spec).color === undefined ? undefined : body;
      });
      assert.deepEqual(found.spec, { size: 1, color: 'red' });
      const { body: list } = await env.raw('GET', things);
      const items = list.items as readonly JsonObject[];
      assert.deepEqual(
        items.map((one) => one.spec),
        [{ size: 1, color: 'red' }],
      );
      await env.raw('DELETE', `${path}/${plural}.${group}`);
    },

  'keeps conditions of other types that are written through the approval of a request': async (
    env,
  ) => {
    const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const name = env.unique('csr');
    const asked = await requestCertificate('CN=somebody');
    const spec = {
      request: btoa(asked.request),
      signerName: 'example.com/own',
      usages: ['client auth'],
    };
    const made = await env.raw('POST', csrs, { body: { metadata: { name }, spec } });
    assert.equal(made.code, 201, messageOf(made));
    const other = { type: 'Seen', status: 'True', reason: 'Test', message: 'm' };
    const patched = await env.raw('PATCH', `${csrs}/${name}/approval`, {
      body: { status: { conditions: [other] } },
      contentType: 'application/merge-patch+json',
    });
    assert.equal(patched.code, 200, messageOf(patched));
    const approved = { type: 'Approved', status: 'True', reason: 'Test', message: 'm' };
    const { status } = patched.body;
    const conditions = [...(objectOr(status).conditions as readonly JsonObject[]), approved];
    const answer = await env.raw('PUT', `${csrs}/${name}/approval`, {
      body: { ...patched.body, status: { conditions } },
    });
    assert.equal(answer.code, 200, messageOf(answer));
    const kept = objectOr(answer.body.status).conditions as readonly JsonObject[];
    assert.deepEqual(
      kept.map(({ type, status: is }) => [type, is]),
      [
        ['Seen', 'True'],
        ['Approved', 'True'],
      ],
    );
    assert.ok(kept.every(({ lastTransitionTime }) => typeof lastTransitionTime === 'string'));
    await env.raw('DELETE', `${csrs}/${name}`);
  },
};

export const bodyCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
