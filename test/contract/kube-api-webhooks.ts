// Contract cases: webhook configurations are stored with their defaults and listed, and invalid
// ones are refused. None matches any request of a case, so none is ever called.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import type { ContractCase, ContractEnv } from './kube-api-env.ts';

const group = '/apis/admissionregistration.k8s.io/v1';

const webhook = (more: JsonObject = {}): JsonObject => ({
  name: 'never.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/never' },
  rules: [
    {
      apiGroups: ['never.example.com'],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['nevers'],
    },
  ],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

const causesOf = (body: JsonObject): readonly string[] => {
  const { causes = [] } = body.details as { causes?: { field: string; message: string }[] };
  return causes.map(({ field, message }) => `${field}: ${message}`);
};

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'webhook configurations are stored with their defaults, listed, changed and deleted': async (
    env,
  ) => {
    const kinds = {
      validatingwebhookconfigurations: 'ValidatingWebhookConfiguration',
      mutatingwebhookconfigurations: 'MutatingWebhookConfiguration',
    };
    for (const [resource, kind] of Object.entries(kinds)) {
      const name = env.unique('webhook');
      const body = { metadata: { name }, webhooks: [webhook()] };
      const made = await env.raw('POST', `${group}/${resource}`, { body });
      assert.equal(made.code, 201, JSON.stringify(made.body));
      assert.equal(made.body.kind, kind);
      const [stored = {}] = made.body.webhooks as JsonObject[];
      const { failurePolicy, matchPolicy, namespaceSelector, objectSelector } = stored;
      assert.deepEqual(
        [failurePolicy, matchPolicy, namespaceSelector, objectSelector, stored.timeoutSeconds],
        ['Fail', 'Equivalent', {}, {}, 10],
      );
      assert.equal((made.body.metadata as JsonObject).generation, 1);
      const path = `${group}/${resource}/${name}`;
      const changed = await env.raw('PATCH', path, {
        contentType: 'application/strategic-merge-patch+json',
        body: { webhooks: [{ name: 'never.example.com', failurePolicy: 'Ignore' }] },
      });
      assert.equal(changed.code, 200, JSON.stringify(changed.body));
      const webhooks = changed.body.webhooks as JsonObject[];
      assert.deepEqual([webhooks.length, webhooks[0]?.failurePolicy], [1, 'Ignore']);
      assert.equal((changed.body.metadata as JsonObject).generation, 2);
      const table = await env.raw('GET', path, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      const columns = table.body.columnDefinitions as { name: string }[];
      assert.deepEqual(
        columns.map((column) => column.name),
        ['Name', 'Webhooks', 'Age'],
      );
      assert.equal((table.body.rows as { cells: unknown[] }[])[0]?.cells[1], 1);
      assert.equal((await env.raw('DELETE', path)).code, 200);
      assert.equal((await env.raw('GET', path)).code, 404);
    }
  },

  'webhook configurations that cannot be called are refused, each fault named': async (env) => {
    const refused = async (webhooks: readonly JsonObject[]): Promise<readonly string[]> => {
      const body = { metadata: { name: env.unique('webhook') }, webhooks };
      const { code, body: answer } = await env.raw(
        'POST',
        `${group}/validatingwebhookconfigurations`,
        { body: body as unknown as JsonObject },
      );
      assert.equal(code, 422, JSON.stringify(answer));
      return causesOf(answer);
    };
    assert.deepEqual(await refused([webhook({ name: 'short' })]), [
      'webhooks[0].name: Invalid value: "short": ' +
        'should be a domain with at least three segments separated by dots',
    ]);
    assert.deepEqual(await refused([webhook({ clientConfig: {} })]), [
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ]);
    assert.deepEqual(await refused([webhook({ timeoutSeconds: 31 })]), [
      'webhooks[0].timeoutSeconds: Invalid value: 31: ' +
        'the timeout value must be between 1 and 30 seconds',
    ]);
    assert.deepEqual(await refused([webhook({ sideEffects: 'Some' })]), [
      'webhooks[0].sideEffects: Unsupported value: "Some": ' +
        'supported values: "None", "NoneOnDryRun"',
    ]);
    assert.deepEqual(await refused([webhook(), webhook()]), [
      'webhooks[1].name: Duplicate value: "never.example.com"',
    ]);
  },
};

export const webhookCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
