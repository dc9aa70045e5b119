// Attack row 20: secrets in outputs. Unique texts stand in for secrets while an update takes its
// error paths. Nothing that Drover writes or prints may contain one of them.
import { afterAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/adapters/log/index.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { type EndpointReply, SimulatedEndpoint } from '../../src/sim/ports/endpoint.ts';
import { nodeManagerAgent } from '../../world/index.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { askFor, latest, makeGroup, newest, untilOver } from '../support/update-world.ts';

const canary = {
  bearerToken: 'canary-bearer-token-7f1a',
  webhookPath: 'canary-webhook-path-7f1b',
  otherSecret: 'canary-other-secret-7f1c',
  configMap: 'canary-config-map-7f1d',
  environment: 'canary-environment-7f1e',
  userData: 'canary-user-data-7f1f',
} as const;

/** Each canary in plain text, and in base64 at every offset of a longer text. */
const needles = Object.entries(canary).flatMap(([name, text]) => [
  { name, needle: text },
  ...['', 'x', 'xx'].map((before) => ({
    name: `${name} in base64`,
    needle: btoa(`${before}${text}`).slice(4, -4),
  })),
]);
const leaksIn = (where: string, text: string): readonly string[] =>
  needles.filter(({ needle }) => text.includes(needle)).map(({ name }) => `${where}: ${name}`);

const { secrets, configmaps } = resourceTypes;

const plant = (life: GroupLife): void => {
  const group = 'rbac.authorization.k8s.io';
  const meta = (name: string) => ({ name, namespace: 'default' });
  const secret = (name: string, token: string): void =>
    life.make(secrets, 'default', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: meta(name),
      data: { token: btoa(token) },
    });
  secret('hook-token', canary.bearerToken);
  secret('other', canary.otherSecret);
  life.make(configmaps, 'default', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: meta('settings'),
    data: { password: canary.configMap },
  });
  life.make({ group, resource: 'roles' }, 'default', {
    apiVersion: `${group}/v1`,
    kind: 'Role',
    metadata: meta('hook-token'),
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  });
  life.make({ group, resource: 'rolebindings' }, 'default', {
    apiVersion: `${group}/v1`,
    kind: 'RoleBinding',
    metadata: meta('hook-token'),
    subjects: [{ apiGroup: group, kind: 'User', name: 'eks:node-manager' }],
    roleRef: { apiGroup: group, kind: 'Role', name: 'hook-token' },
  });
  life.make({ group: '', resource: 'pods' }, 'default', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta('bare'), labels: { app: 'bare' } },
    spec: {
      nodeSelector: { 'eks.amazonaws.com/nodegroup': 'ng' },
      containers: [
        { name: 'c', image: 'web:1', env: [{ name: 'PASSWORD', value: canary.environment }] },
      ],
    },
  });
};

/** Every output of Drover: objects it writes, its log, its requests, tags in AWS. */
const outputsOf = (life: GroupLife, requests: readonly JsonObject[]) => {
  const log: string[] = [];
  const output = { write: (text: string) => void log.push(text) };
  const real = createLog({ level: 'debug', pretty: false, output });
  for (const { level, message, facts } of life.log.lines) real[level](message, facts);
  const own = ['nodegroups', 'nodegroupupdates', 'nodedisruptions'] as const;
  const statuses = own.flatMap((plural) =>
    [...life.world.kube.readAll(resourceTypes[plural])].map(({ status, metadata }) => [
      status,
      metadata.labels,
      metadata.annotations,
    ]),
  );
  const nodes = life.nodes().map(({ metadata, spec }) => [metadata, spec]);
  return {
    log: log.join(''),
    statuses: JSON.stringify(statuses),
    nodes: JSON.stringify(nodes),
    events: JSON.stringify([...life.world.kube.readAll(resourceTypes.events)]),
    requests: JSON.stringify(requests),
    tags: JSON.stringify(life.autoScalingGroups().map(({ Tags }) => Tags ?? [])),
  };
};

const replies: Readonly<Record<string, EndpointReply>> = {
  'that refuses': 'refuses',
  'that hangs': 'hangs',
  'that answers 503': { status: 503 },
  'that answers 400': { status: 400 },
};

const looked = new Set<string>();

describe('secrets', () => {
  afterAll(() => {
    // A canary that no life used would make the search meaningless.
    expect([...looked].sort()).toEqual(['bearerToken', 'webhookPath']);
  });

  it.each(Object.entries(replies))(
    'are in no output of an update whose webhook is one %s',
    async (_, reply) => {
      const requests: JsonObject[] = [];
      const endpoint = new SimulatedEndpoint(() => reply);
      const life = await GroupLife.begin({
        hasEvents: true,
        http: endpoint,
        audit: (event) => {
          if (event.userAgent === nodeManagerAgent) requests.push(objectOr(event.requestObject));
        },
      });
      endpoint.runIn(life.world);
      await makeGroup(life);
      plant(life);
      const bearerTokenSecret = { namespace: 'default', name: 'hook-token' };
      const url = `https://ops.example/hook/${canary.webhookPath}`;
      const preDrain = { webhook: { url, bearerTokenSecret }, timeoutSeconds: 120 };
      const updateConfig = { updateStrategy: 'SURGE', hooks: { preDrain } };
      life.patch({ spec: { updateConfig } });
      askFor(life, newest);
      await untilOver(life);
      expect(latest(life)?.status?.status).toBe('Failed');
      for (const call of endpoint.calls) {
        if (call.bearerToken === canary.bearerToken) looked.add('bearerToken');
        if (call.url === url) looked.add('webhookPath');
      }
      const outputs = Object.entries(outputsOf(life, requests));
      for (const [, text] of outputs) expect(text.length).toBeGreaterThan(20);
      expect(outputs.flatMap(([where, text]) => leaksIn(where, text))).toEqual([]);
      // The failure still names the endpoint.
      expect(JSON.stringify(latest(life)?.status)).toContain('https://ops.example');
      await life.end();
    },
  );
});
