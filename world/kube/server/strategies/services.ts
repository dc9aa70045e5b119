// Services: allocates a cluster IP from the service range and node ports from those not in use; the
// address never changes. Controllers handle endpoints and load balancers.
import type { Json, JsonObject } from '../../../../src/api/json.ts';
import type { Strategy, WriteContext } from '../definition.ts';
import { numberOf, objectsOf, type Stored, specOf, textOf, withFields } from '../objects.ts';
import { type FieldError, immutableField, internalError, requiredValue } from '../status.ts';

const services = { group: '', resource: 'services' };
const nodePortRange = { first: 30_000, last: 32_767 } as const;

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const toAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** The first free address after a random start; .1 is the API server's own. */
function allocateAddress(context: WriteContext): string {
  const [base = '0.0.0.0', bits = '16'] = context.serviceCidr.split('/');
  const size = 2 ** (32 - Number(bits));
  const used = new Set(
    context.store.list(services).map((service) => textOf(specOf(service).clusterIP)),
  );
  const start = context.random.below(size);
  for (let i = 0; i < size; i++) {
    const offset = (start + i) % size;
    if (offset < 2 || offset === size - 1) continue;
    const address = toAddress(toNumber(base) + offset);
    if (!used.has(address)) return address;
  }
  throw internalError('failed to allocate a serviceIP: range is full');
}

function withNodePorts(spec: JsonObject, context: WriteContext): JsonObject {
  const type = textOf(spec.type);
  if (type !== 'NodePort' && type !== 'LoadBalancer') return spec;
  const used = new Set<number>();
  for (const service of context.store.list(services)) {
    for (const port of objectsOf(specOf(service).ports)) {
      const value = numberOf(port.nodePort);
      if (value !== undefined) used.add(value);
    }
  }
  const count = nodePortRange.last - nodePortRange.first + 1;
  const ports: Json[] = objectsOf(spec.ports).map((port) => {
    if ((numberOf(port.nodePort) ?? 0) !== 0) return port;
    let candidate = nodePortRange.first + context.random.below(count);
    for (let i = 0; i < count && used.has(candidate); i++) {
      candidate = candidate === nodePortRange.last ? nodePortRange.first : candidate + 1;
    }
    used.add(candidate);
    return { ...port, nodePort: candidate };
  });
  return { ...spec, ports };
}

function withAddress(spec: JsonObject, context: WriteContext): JsonObject {
  if (textOf(spec.type) === 'ExternalName') return spec;
  const wanted = textOf(spec.clusterIP) ?? '';
  const address = wanted === '' ? allocateAddress(context) : wanted;
  return {
    ...spec,
    clusterIP: address,
    clusterIPs: [address],
    ipFamilies: spec.ipFamilies ?? ['IPv4'],
    ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
    internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
  };
}

const standardType = (spec: JsonObject): JsonObject =>
  spec.type === undefined ? { ...spec, type: 'ClusterIP' } : spec;

export const serviceStrategy: Strategy = {
  prepareForCreate: (service, context) => {
    const spec = withAddress(standardType(specOf(service)), context);
    return { ...service, spec: withNodePorts(spec, context) };
  },
  initialStatus: () => ({ loadBalancer: {} }),
  prepareForUpdate: (next, old: Stored, context) => {
    const before = specOf(old);
    const spec = standardType(specOf(next));
    const kept = (textOf(spec.clusterIP) ?? '') === '' && textOf(spec.type) !== 'ExternalName';
    const filled = kept
      ? withFields(spec, { clusterIP: before.clusterIP, clusterIPs: before.clusterIPs })
      : spec;
    return { ...next, spec: withNodePorts(filled, context) };
  },
  validate: (service) => {
    const spec = specOf(service);
    const errors: FieldError[] = [];
    const ports = objectsOf(spec.ports);
    const headless = spec.clusterIP === 'None' || spec.type === 'ExternalName';
    if (ports.length === 0 && !headless) errors.push(requiredValue('spec.ports'));
    for (const [index, port] of ports.entries()) {
      if (ports.length > 1 && (textOf(port.name) ?? '') === '') {
        errors.push(requiredValue(`spec.ports[${index}].name`));
      }
    }
    return errors;
  },
  validateUpdate: (next, old) => {
    const before = specOf(old).clusterIP;
    const after = specOf(next).clusterIP;
    return before === undefined || before === after || specOf(next).type === 'ExternalName'
      ? []
      : [immutableField('spec.clusterIP', after)];
  },
};
