// Columns of autoscalers, Ingresses, network policies, quotas, limits and endpoints, as
// kube-apiserver 1.36 prints them (measured).
import type { JsonObject } from '../../../src/api/json.ts';
import { age, type Cell, count, name, orNone, type Printer, text } from './columns.ts';
import { at, mapAt, numberAt, objectsAt, selectorText, textAt } from './read.ts';

/** `a,b,c + 2 more...`; lists at most `most` items. */
const first = (all: readonly string[], most: number, separator = ','): string =>
  all.slice(0, most).join(separator) + (all.length > most ? ` + ${all.length - most} more...` : '');

const shownHosts = 3;
const shownMetrics = 2;
const shownEndpoints = 3;
const shownPorts = 3;

/** Fields of a metric, by its type. */
const metricFields: Readonly<Record<string, string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

const metricName = (metric: JsonObject, field: string): string => {
  const own = textAt(metric, field, 'name') || textAt(metric, field, 'metric', 'name');
  return field.endsWith('esource') ? `${own}: ` : '';
};

const metricText = (metric: JsonObject, current: JsonObject | undefined): string => {
  const field = metricFields[textAt(metric, 'type')] ?? '';
  const target = mapAt(metric, field, 'target');
  const have = current === undefined ? {} : mapAt(current, field, 'current');
  const isShare = at(target, 'averageUtilization') !== undefined;
  const kind = isShare
    ? 'averageUtilization'
    : at(target, 'averageValue') === undefined
      ? 'value'
      : 'averageValue';
  const unit = isShare ? '%' : '';
  const average = kind === 'averageValue' && !field.endsWith('esource') ? ' (avg)' : '';
  const known = at(have, kind) === undefined ? '<unknown>' : `${textAt(have, kind)}${unit}`;
  return `${metricName(metric, field)}${known}/${textAt(target, kind)}${unit}${average}`;
};

const metrics: Cell = (autoscaler) => {
  const wanted = objectsAt(autoscaler, 'spec', 'metrics');
  const current = objectsAt(autoscaler, 'status', 'currentMetrics');
  const all = wanted.map((metric, index) => metricText(metric, current[index]));
  return orNone(first(all, shownMetrics, ', '));
};

const reference: Cell = (autoscaler) => {
  const target = mapAt(autoscaler, 'spec', 'scaleTargetRef');
  return `${textAt(target, 'kind')}/${textAt(target, 'name')}`;
};

const hosts: Cell = (ingress) => {
  const all = objectsAt(ingress, 'spec', 'rules')
    .map((rule) => textAt(rule, 'host'))
    .filter((host) => host !== '');
  return all.length === 0 ? '*' : first(all, shownHosts);
};

const addresses: Cell = (ingress) =>
  objectsAt(ingress, 'status', 'loadBalancer', 'ingress')
    .map((one) => textAt(one, 'ip') || textAt(one, 'hostname'))
    .sort()
    .join(',');

const parameters: Cell = (ingressClass) => {
  const own = mapAt(ingressClass, 'spec', 'parameters');
  const group = textAt(own, 'apiGroup');
  if (Object.keys(own).length === 0) return '<none>';
  return `${textAt(own, 'kind')}${group === '' ? '' : `.${group}`}/${textAt(own, 'name')}`;
};

/** Used and hard amounts; limits have a column of their own. */
const amounts =
  (areLimits: boolean): Cell =>
  (quota) =>
    Object.keys(mapAt(quota, 'status', 'hard'))
      .filter((key) => /^limits\./.test(key) === areLimits)
      .sort()
      .map((key) => {
        const used = textAt(mapAt(quota, 'status', 'used'), key);
        return `${key}: ${used || '0'}/${textAt(mapAt(quota, 'status', 'hard'), key)}`;
      })
      .join(', ');

/** Each ready address with each port; the address alone when there are no ports. */
const subsetEndpoints = (subset: JsonObject): readonly string[] => {
  const all = objectsAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
  const ports = objectsAt(subset, 'ports').map((port) => numberAt(port, 'port'));
  if (ports.length === 0) return all;
  return ports.flatMap((port) => all.map((address) => `${address}:${port}`));
};

const legacyEndpoints: Cell = (object) => {
  const subsets = objectsAt(object, 'subsets');
  return subsets.length === 0 ? '<none>' : first(subsets.flatMap(subsetEndpoints), shownEndpoints);
};

const slicePorts: Cell = (slice) => {
  const all = objectsAt(slice, 'ports').map((port) => textAt(port, 'port'));
  return all.length === 0 ? '<unset>' : first(all, shownPorts);
};

const sliceEndpoints: Cell = (slice) => {
  const all = objectsAt(slice, 'endpoints').flatMap((endpoint) =>
    Array.isArray(endpoint.addresses) ? endpoint.addresses.map(String) : [],
  );
  return all.length === 0 ? '<unset>' : first(all, shownEndpoints);
};

export const policiesAndEndpoints: Readonly<Record<string, Printer>> = {
  'autoscaling/horizontalpodautoscalers': [
    name,
    text('Reference', reference),
    text('Targets', metrics),
    text('MinPods', (object) => textAt(object, 'spec', 'minReplicas') || '<unset>'),
    { ...count('MaxPods', 'spec', 'maxReplicas'), type: 'string' },
    { ...count('Replicas', 'status', 'currentReplicas'), type: 'string' },
    age,
  ],
  'networking.k8s.io/ingresses': [
    name,
    text('Class', (object) => orNone(textAt(object, 'spec', 'ingressClassName'))),
    text('Hosts', hosts),
    text('Address', addresses),
    text('Ports', (object) => (objectsAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
    age,
  ],
  'networking.k8s.io/ingressclasses': [
    name,
    text('Controller', (object) => textAt(object, 'spec', 'controller')),
    text('Parameters', parameters),
    age,
  ],
  'networking.k8s.io/networkpolicies': [
    name,
    text('Pod-Selector', (object) => selectorText(mapAt(object, 'spec', 'podSelector'))),
    age,
  ],
  '/resourcequotas': [name, text('Request', amounts(false)), text('Limit', amounts(true)), age],
  '/limitranges': [
    name,
    {
      ...text('Created At', (object) => textAt(object, 'metadata', 'creationTimestamp')),
      type: 'date',
    },
  ],
  '/endpoints': [name, text('Endpoints', legacyEndpoints), age],
  'discovery.k8s.io/endpointslices': [
    name,
    text('AddressType', (slice) => textAt(slice, 'addressType')),
    text('Ports', slicePorts),
    text('Endpoints', sliceEndpoints),
    age,
  ],
};
