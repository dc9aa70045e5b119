// Contract cases: LimitRanges, which set missing requests and limits of containers and refuse
// values out of range; and ephemeral containers added to a running pod.
import assert from 'node:assert/strict';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { RawAnswer } from '../support/kube-raw.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const limited = async (env: ContractEnv, limits: readonly JsonObject[]): Promise<string> => {
  const namespace = await env.namespace();
  const root = `/api/v1/namespaces/${namespace}`;
  const body = { metadata: { name: 'l' }, spec: { limits } };
  const made = await env.raw('POST', `${root}/limitranges`, { body });
  assert.equal(made.code, 201, String(made.body.message));
  // A real server's caches see the service account and the LimitRange a moment later.
  await eventually('pods to be let in', async () => {
    const { code, body: answer } = await pod(env, root, [{}]);
    return code === 201 || !/service account|status unknown/.test(String(answer.message))
      ? true
      : undefined;
  });
  return root;
};

const pod = (
  env: ContractEnv,
  root: string,
  resources: readonly JsonObject[],
): Promise<RawAnswer> =>
  env.raw('POST', `${root}/pods?dryRun=All`, {
    body: {
      metadata: { name: 'p' },
      spec: {
        containers: resources.map((each, at) => ({ name: `c${at}`, image: 'x', resources: each })),
      },
    },
  });

const resourcesOf = ({ body }: RawAnswer): readonly unknown[] =>
  (body.spec as { containers: readonly { resources: unknown }[] }).containers.map(
    (container) => container.resources,
  );

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'gives containers what the namespace has as standard, and says so': async (env) => {
    const root = await limited(env, [
      {
        type: 'Container',
        default: { cpu: '500m', memory: '1Gi' },
        defaultRequest: { cpu: '100m' },
      },
    ]);
    const made = await pod(env, root, [{}, { requests: { cpu: '200m', memory: '64Mi' } }]);
    assert.equal(made.code, 201, String(made.body.message));
    assert.deepEqual(resourcesOf(made), [
      { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '100m', memory: '1Gi' } },
      { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '200m', memory: '64Mi' } },
    ]);
    const { annotations } = made.body.metadata as { annotations: Readonly<Record<string, string>> };
    assert.equal(
      annotations['kubernetes.io/limit-ranger'],
      'LimitRanger plugin set: cpu, memory request for container c0; ' +
        'cpu, memory limit for container c0; cpu, memory limit for container c1',
    );
  },

  'refuses containers and pods that ask for too little or too much': async (env) => {
    const root = await limited(env, [
      { type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } },
      { type: 'Pod', max: { cpu: '1500m' } },
    ]);
    const said = async (...resources: readonly JsonObject[]): Promise<unknown> => {
      const answer = await pod(env, root, resources);
      assert.equal(answer.code, 403, JSON.stringify(answer.body));
      return answer.body.message;
    };
    const of = (request: string, limit: string): JsonObject => ({
      requests: { cpu: request },
      limits: { cpu: limit },
    });
    assert.equal(
      await said(of('50m', '500m')),
      'pods "p" is forbidden: minimum cpu usage per Container is 100m, but request is 50m',
    );
    assert.equal(
      await said(of('500m', '2')),
      'pods "p" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, ' +
        'maximum cpu usage per Pod is 1500m, but limit is 2]',
    );
    assert.equal(
      await said(of('500m', '1'), of('500m', '1')),
      'pods "p" is forbidden: maximum cpu usage per Pod is 1500m, but limit is 2',
    );
    assert.equal((await pod(env, root, [of('500m', '1')])).code, 201);
  },

  'refuses limits that are too far above requests, and claims of the wrong size': async (env) => {
    const root = await limited(env, [
      { type: 'Container', maxLimitRequestRatio: { memory: '2' } },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
    ]);
    const memory = { requests: { memory: '1Gi' }, limits: { memory: '3Gi' } };
    assert.equal(
      (await pod(env, root, [memory])).body.message,
      'pods "p" is forbidden: memory max limit to request ratio per Container is 2, ' +
        'but provided ratio is 3.000000',
    );
    const claim = async (storage: string): Promise<unknown> => {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
      const body = { metadata: { name: 'c' }, spec };
      const path = `${root}/persistentvolumeclaims?dryRun=All`;
      const answer = await env.raw('POST', path, { body });
      return answer.code === 201 ? 201 : answer.body.message;
    };
    assert.equal(
      await claim('20Gi'),
      'persistentvolumeclaims "c" is forbidden: maximum storage usage per ' +
        'PersistentVolumeClaim is 10Gi, but request is 20Gi',
    );
    assert.equal(
      await claim('100Mi'),
      'persistentvolumeclaims "c" is forbidden: minimum storage usage per ' +
        'PersistentVolumeClaim is 1Gi, but request is 100Mi',
    );
    assert.equal(await claim('5Gi'), 201);
  },

  'adds ephemeral containers to a pod, and never changes or removes one': async (env) => {
    const namespace = await env.namespace();
    await env.pod(namespace, 'p1');
    const item = `/api/v1/namespaces/${namespace}/pods/p1`;
    const contentType = 'application/merge-patch+json';
    const debug = (containers: readonly JsonObject[]): Promise<RawAnswer> =>
      env.raw('PATCH', `${item}/ephemeralcontainers`, {
        contentType,
        body: { spec: { ephemeralContainers: containers } },
      });
    const one = { name: 'debugger', image: 'busybox', targetContainerName: 'c' };
    const added = await debug([one]);
    assert.equal(added.code, 200, JSON.stringify(added.body));
    assert.deepEqual(objectOr(added.body.spec).ephemeralContainers, [
      {
        ...one,
        imagePullPolicy: 'Always',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ]);
    const two = { name: 'two', image: 'x' };
    const existing = ': Forbidden: existing ephemeral containers "debugger" may not be';
    const refused: readonly (readonly [readonly JsonObject[], string])[] = [
      [[], `${existing} removed\n`],
      [[{ ...one, image: 'other' }], `${existing} changed\n`],
      [
        [one, { ...two, targetContainerName: 'nope' }],
        '[1].targetContainerName: Not found: "nope"',
      ],
      [
        [one, { ...two, ports: [{ containerPort: 80 }] }],
        '[1].ports: Forbidden: cannot be set for an Ephemeral Container',
      ],
      [[one, { ...two, name: 'c' }], '[1].name: Duplicate value: "c"'],
    ];
    for (const [containers, why] of refused) {
      const { code, body } = await debug(containers);
      assert.equal(code, 422);
      // A real server adds a diff of the fields.
      const said = String(body.message).split('@@')[0];
      assert.equal(said, `Pod "p1" is invalid: spec.ephemeralContainers${why}`);
    }
    const body = { spec: { ephemeralContainers: [one, two] } };
    assert.equal((await env.raw('PATCH', item, { contentType, body })).code, 422);
    const fresh = await env.raw('POST', `/api/v1/namespaces/${namespace}/pods`, {
      body: {
        metadata: { name: 'p2' },
        spec: { containers: [{ name: 'c', image: 'x' }], ephemeralContainers: [one] },
      },
    });
    const why = /spec\.ephemeralContainers: Forbidden: cannot be set on create/;
    assert.match(String(fresh.body.message), why);
  },
};

export const limitCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
