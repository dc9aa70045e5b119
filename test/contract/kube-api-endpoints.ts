// Contract cases: Endpoints maintained by hand, and the EndpointSlices that mirror them.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const label = 'kubernetes.io/service-name';
const contentType = 'application/merge-patch+json';

/** The addresses, readiness and ports of each slice of a Service; waits until there are `count`. */
const slicesOf = (
  env: ContractEnv,
  namespace: string,
  isRight: (slices: readonly JsonObject[]) => boolean,
): Promise<readonly JsonObject[]> =>
  eventually('slices', async () => {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const { body } = await env.raw('GET', `${path}?labelSelector=${label}%3Dext`);
    const items = body.items as readonly JsonObject[];
    return isRight(items) ? items : undefined;
  });

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'mirrors Endpoints of a Service without a selector in slices, and drops them with it': async (
    env,
  ) => {
    const namespace = await env.namespace();
    const root = `/api/v1/namespaces/${namespace}`;
    const made = await env.raw('POST', `${root}/services`, {
      body: { metadata: { name: 'ext' }, spec: { ports: [{ name: 'http', port: 80 }] } },
    });
    assert.equal(made.code, 201, String(made.body.message));
    const subsets = [
      {
        addresses: [{ ip: '10.1.2.3', hostname: 'h', nodeName: 'n' }],
        notReadyAddresses: [{ ip: '10.1.2.5' }],
        ports: [{ name: 'http', port: 8080 }],
      },
      { addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'other', port: 9000 }] },
    ];
    const metadata = { name: 'ext', labels: { l: '1' }, annotations: { x: 'y' } };
    const { body: endpoints } = await env.raw('POST', `${root}/endpoints`, {
      body: { metadata, subsets },
    });
    const { uid } = endpoints.metadata as JsonObject;
    const slices = await slicesOf(env, namespace, (all) => all.length === 2);
    const http = slices.find((slice) => (slice.endpoints as readonly unknown[]).length === 2);
    assert.ok(http);
    const { labels, annotations, generateName, ownerReferences } = http.metadata as JsonObject;
    assert.deepEqual(labels, {
      l: '1',
      [label]: 'ext',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    });
    assert.deepEqual([annotations, generateName], [{ x: 'y' }, 'ext-']);
    assert.deepEqual(ownerReferences, [
      {
        ...{ apiVersion: 'v1', kind: 'Endpoints', name: 'ext', uid },
        ...{ controller: true, blockOwnerDeletion: true },
      },
    ]);
    assert.deepEqual(http.ports, [{ name: 'http', port: 8080, protocol: 'TCP' }]);
    // The server does not keep their order.
    const inOrder = (http.endpoints as readonly JsonObject[]).toSorted((a, b) =>
      String(a.addresses) < String(b.addresses) ? -1 : 1,
    );
    assert.deepEqual(inOrder, [
      {
        ...{ addresses: ['10.1.2.3'], conditions: { ready: true } },
        ...{ hostname: 'h', nodeName: 'n' },
      },
      { addresses: ['10.1.2.5'], conditions: { ready: false } },
    ]);
    const fewer = [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ name: 'http', port: 8080 }] }];
    const body = { subsets: fewer };
    await env.raw('PATCH', `${root}/endpoints/ext`, { body, contentType });
    await slicesOf(env, namespace, (all) => {
      const [only] = all;
      const [first] = (only?.endpoints ?? []) as readonly JsonObject[];
      return all.length === 1 && JSON.stringify(first?.addresses) === '["10.9.9.9"]';
    });
    const skip = { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } };
    await env.raw('PATCH', `${root}/endpoints/ext`, { body: skip, contentType });
    await slicesOf(env, namespace, (all) => all.length === 0);
    const again = { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } } };
    await env.raw('PATCH', `${root}/endpoints/ext`, { body: again, contentType });
    await slicesOf(env, namespace, (all) => all.length === 1);
    await env.raw('DELETE', `${root}/services/ext`);
    await slicesOf(env, namespace, (all) => all.length === 0);
    await eventually('no Endpoints', async () => {
      const { code } = await env.raw('GET', `${root}/endpoints/ext`);
      return code === 404 ? true : undefined;
    });
  },
};

export const endpointCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
