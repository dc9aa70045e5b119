// Validates a container's ports with the API server's messages (measured on 1.36). The scheduler
// handles host ports that two pods request.
import type { JsonObject } from '../../../../src/api/json.ts';
import { numberOf, objectsOf, textOf } from '../objects.ts';
import {
  duplicateValue,
  type FieldError,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';

const largestPort = 65_535;
const longestName = 15;
const protocols = ['SCTP', 'TCP', 'UDP'];

/** IANA service names, each rule with the API server's message. */
const nameRules: readonly { readonly holds: (name: string) => boolean; readonly words: string }[] =
  [
    {
      holds: (name) => name.length <= longestName,
      words: `must be no more than ${longestName} characters`,
    },
    {
      holds: (name) => /^[-a-z0-9]+$/.test(name),
      words: 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    },
    { holds: (name) => /[a-z]/.test(name), words: 'must contain at least one letter (a-z)' },
    { holds: (name) => !name.includes('--'), words: 'must not contain consecutive hyphens' },
    { holds: (name) => !/^-|-$/.test(name), words: 'must not begin or end with a hyphen' },
  ];

const isPort = (port: number): boolean => port >= 1 && port <= largestPort;
const portWords = `must be between 1 and ${largestPort}, inclusive`;

const numberErrors = (port: JsonObject, at: string): readonly FieldError[] => {
  const errors: FieldError[] = [];
  const own = numberOf(port.containerPort) ?? 0;
  if (own === 0) errors.push(requiredValue(`${at}.containerPort`));
  else if (!isPort(own)) errors.push(invalidValue(`${at}.containerPort`, own, portWords));
  const host = numberOf(port.hostPort) ?? 0;
  if (host !== 0 && !isPort(host)) errors.push(invalidValue(`${at}.hostPort`, host, portWords));
  return errors;
};

/** Containers that run at the same time may not share a host port. */
export const validateHostPorts = (
  containers: readonly JsonObject[],
  path: string,
): readonly FieldError[] => {
  const errors: FieldError[] = [];
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [nth, port] of objectsOf(container.ports).entries()) {
      const host = numberOf(port.hostPort) ?? 0;
      if (host === 0) continue;
      const key = `${textOf(port.protocol) ?? 'TCP'}/${textOf(port.hostIP) ?? ''}/${host}`;
      const at = `${path}[${index}].ports[${nth}].hostPort`;
      if (taken.has(key)) errors.push(duplicateValue(at, key));
      taken.add(key);
    }
  }
  return errors;
};

/** Validates `container.ports`; `path` is the container's. */
export const validateContainerPorts = (
  container: JsonObject,
  path: string,
): readonly FieldError[] => {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of objectsOf(container.ports).entries()) {
    const at = `${path}.ports[${index}]`;
    const name = textOf(port.name) ?? '';
    const broken = name === '' ? [] : nameRules.filter(({ holds }) => !holds(name));
    for (const { words } of broken) errors.push(invalidValue(`${at}.name`, name, words));
    if (names.has(name)) errors.push(duplicateValue(`${at}.name`, name));
    else if (name !== '' && broken.length === 0) names.add(name);
    errors.push(...numberErrors(port, at));
    const protocol = textOf(port.protocol) ?? '';
    if (protocol !== '' && !protocols.includes(protocol)) {
      errors.push(unsupportedValue(`${at}.protocol`, protocol, protocols));
    }
  }
  return errors;
};
