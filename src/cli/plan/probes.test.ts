// What a plan reports about health probes before an update begins.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import { FakeKube } from '../../../test/builders/runtime-kube.ts';
import type { Probe } from '../../api/update-pacing.ts';
import { preflightTypes } from '../../api/workloads.ts';
import { Collector } from './collect.ts';
import { readProbes } from './probes.ts';

const http = (url: string): Probe => ({ name: 'web', http: { url } });
const condition = (kind: string, name: string): Probe => ({
  name: 'web',
  condition: { apiVersion: 'apps/v1', kind, namespace: 'shop', name, type: 'Available' },
});
const slice = (isReady: boolean) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { 'kubernetes.io/service-name': 'web' },
  },
  endpoints: [{ conditions: { ready: isReady } }],
});

interface Around {
  readonly isEmbedded?: boolean;
  readonly isReady?: boolean;
  /** Why reading EndpointSlices is refused. */
  readonly refusal?: string;
}

const look = async (probe: Probe, { isEmbedded = false, isReady = true, refusal }: Around = {}) => {
  const kube = new FakeKube(new VirtualClock());
  kube.put(preflightTypes.services, { name: 'web', namespace: 'shop', spec: {} });
  const elsewhere = { type: 'ExternalName', externalName: 'web.example.com' };
  kube.put(preflightTypes.services, { name: 'far', namespace: 'shop', spec: elsewhere });
  const deployments = {
    ...preflightTypes.statefulsets,
    resource: 'deployments',
    kind: 'Deployment',
  };
  const status = (value: string) => ({ conditions: [{ type: 'Available', status: value }] });
  kube.put(deployments, { name: 'well', namespace: 'shop', status: status('True') });
  kube.put(deployments, { name: 'ill', namespace: 'shop', status: status('False') });
  const collector = new Collector();
  if (refusal !== undefined) collector.note('endpoints', refusal);
  const around = {
    kube,
    isEmbedded,
    endpointSlices: refusal === undefined ? [slice(isReady)] : [],
  };
  const { probes = [] } = await readProbes(around, collector, [probe]);
  return probes.map(
    ({ state, object, message }) => `${state} ${object.kind} ${object.name}: ${message}`,
  );
};

describe('a probe of', () => {
  it.each([
    [http('http://web.shop.svc/healthz'), []],
    [http('http://web.shop.svc.cluster.local:8080'), []],
    [http('http://api.shop.svc'), ['gone Service shop/api: there is no Service shop/api']],
    [
      http('https://shop.example.com/'),
      [
        'unknown URL https://shop.example.com/: only the controller calls https://shop.example.com/, from where it runs',
      ],
    ],
    [condition('Deployment', 'well'), []],
    [
      condition('Deployment', 'ill'),
      [
        'failing Deployment shop/ill: condition Available of Deployment shop/ill is False, expected True',
      ],
    ],
    [
      condition('Deployment', 'none'),
      ['gone Deployment shop/none: there is no Deployment shop/none'],
    ],
  ])('%j: %j', async (probe, found) => {
    expect(await look(probe)).toEqual(found);
  });

  it('a Service without a Ready endpoint fails now', async () => {
    expect(await look(http('http://web.shop.svc'), { isReady: false })).toEqual([
      'failing Service shop/web: Service shop/web has no Ready endpoint',
    ]);
  });

  it('a Service whose EndpointSlices may not be read is not known, and not said to have no endpoint', async () => {
    expect(
      await look(http('http://web.shop.svc'), { refusal: 'endpointslices is forbidden' }),
    ).toEqual([
      'unknown Service shop/web: Service shop/web is there; who serves it is not known: endpointslices is forbidden',
    ]);
  });

  it('a Service that stands for another name is called by the controller alone', async () => {
    expect(await look(http('http://far.shop.svc'))).toEqual([
      'unknown Service shop/far: Service shop/far stands for web.example.com, which only the controller calls, from where it runs',
    ]);
  });

  it('a Service of an embedded world cannot be called', async () => {
    expect(await look(http('http://web.shop.svc'), { isEmbedded: true })).toEqual([
      expect.stringMatching(/^gone Service shop\/web: .*where web.shop.svc is no known host$/),
    ]);
  });
});
