// Health probes of a group before an update begins: whether their targets exist and are healthy. A
// URL is not called: the controller does that from its own network. Reads only.
import type { KubeObject } from '../../api/kube.ts';
import type { Probe } from '../../api/update-pacing.ts';
import { preflightTypes } from '../../api/workloads.ts';
import { type Conditioned, conditionComplaint, probedPlace } from '../../core/update/index.ts';
import type { Snapshot } from '../../core/update/preflight/index.ts';
import type { KubeApi } from '../../ports/index.ts';
import type { Collector } from './collect.ts';

type Facts = NonNullable<Snapshot['probes']>;

interface Service extends KubeObject {
  readonly spec: { readonly type?: string; readonly externalName?: string };
}

interface Around {
  readonly kube: KubeApi;
  readonly isEmbedded?: boolean;
  readonly endpointSlices: Snapshot['endpointSlices'];
}

const servicePattern = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.cluster\.local)?\.?$/;

const hostOf = (url: string): string => {
  try {
    return new URL(url).hostname;
  } catch {
    return '';
  }
};

const hasServers = ({ endpointSlices }: Around, namespace: string, name: string): boolean =>
  endpointSlices.some(
    ({ metadata, endpoints = [] }) =>
      metadata.namespace === namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === name &&
      endpoints.some(({ conditions }) => conditions?.ready !== false),
  );

const httpFacts = async (
  around: Around,
  unreadSlices: string | undefined,
  name: string,
  { url }: NonNullable<Probe['http']>,
): Promise<Facts> => {
  const [, service, namespace] = servicePattern.exec(hostOf(url)) ?? [];
  if (service === undefined || namespace === undefined) {
    const message = `only the controller calls ${url}, from where it runs`;
    return [{ name, object: { kind: 'URL', name: url }, state: 'unknown', message }];
  }
  const object = { kind: 'Service', name: `${namespace}/${service}` };
  const found = await around.kube.get<Service>(preflightTypes.services, {
    namespace,
    name: service,
  });
  if (found.kind === 'gone') {
    return [{ name, object, state: 'gone', message: `there is no Service ${object.name}` }];
  }
  if (around.isEmbedded === true) {
    const message =
      `the controller of this world runs on this machine, where ${hostOf(url)} is no known ` +
      'host';
    return [{ name, object, state: 'gone', message }];
  }
  const { type, externalName = '' } = found.object.spec;
  if (type === 'ExternalName') {
    const message =
      `Service ${object.name} stands for ${externalName}, which only the controller calls, ` +
      'from where it runs';
    return [{ name, object, state: 'unknown', message }];
  }
  if (unreadSlices !== undefined) {
    const message = `Service ${object.name} is there; who serves it is not known: ${unreadSlices}`;
    const remedy = 'let the reader of the plan list EndpointSlices, then plan again';
    return [{ name, object, state: 'unknown', message, remedy }];
  }
  if (hasServers(around, namespace, service)) return [];
  const message = `Service ${object.name} has no Ready endpoint`;
  return [{ name, object, state: 'failing', message }];
};

const conditionFacts = async (
  { kube }: Around,
  name: string,
  wanted: NonNullable<Probe['condition']>,
): Promise<Facts> => {
  const { resource, where } = probedPlace(wanted);
  const found = await kube.get<Conditioned>(resource, where);
  const message = conditionComplaint(wanted, found.kind === 'gone' ? undefined : found.object);
  if (message === undefined) return [];
  const path = wanted.namespace === undefined ? wanted.name : `${wanted.namespace}/${wanted.name}`;
  const state = found.kind === 'gone' ? 'gone' : 'failing';
  return [{ name, object: { kind: wanted.kind, name: path }, state, message }];
};

/** Findings for probes that do not pass. `collector` has already read the EndpointSlices. */
export const readProbes = async (
  around: Around,
  collector: Collector,
  probes: readonly Probe[] = [],
): Promise<Pick<Snapshot, 'probes'>> => {
  const facts = await Promise.all(
    probes.map(({ name, http, condition }) =>
      collector.read<Facts>('probes', [], async () => {
        if (http !== undefined) return httpFacts(around, collector.unread.endpoints, name, http);
        return condition === undefined ? [] : conditionFacts(around, name, condition);
      }),
    ),
  );
  const found = facts.flat();
  return found.length === 0 ? {} : { probes: found };
};
