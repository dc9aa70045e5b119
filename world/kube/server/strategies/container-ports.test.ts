// Each case and its message were measured on a kube-apiserver 1.36.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/api/json.ts';
import { validateContainerPorts } from './container-ports.ts';
import { validatePodSpec } from './pods.ts';

const at = 'spec.containers[0].ports[0]';
const told = (...ports: JsonObject[]): readonly string[] =>
  validateContainerPorts({ ports }, 'spec.containers[0]').map(
    ({ field, body }) => `${field}: ${body}`,
  );

describe('the ports of a container', () => {
  it.each([
    [{ containerPort: 70_000 }, 'containerPort: Invalid value: 70000: must be between 1 and 65535'],
    [{ containerPort: -1 }, 'containerPort: Invalid value: -1: must be between 1 and 65535'],
    [{ containerPort: 0 }, 'containerPort: Required value'],
    [{}, 'containerPort: Required value'],
    [
      { hostPort: 70_000 },
      'hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
    [{ protocol: 'HTTP' }, 'protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP"'],
    [{ name: 'a-name-of-16-sig' }, 'name: Invalid value: "a-name-of-16-sig": must be no more than'],
    [
      { name: 'A_b' },
      'name: Invalid value: "A_b": must contain only alpha-numeric characters (a-z',
    ],
    [{ name: '123' }, 'name: Invalid value: "123": must contain at least one letter (a-z)'],
    [{ name: 'a--b' }, 'name: Invalid value: "a--b": must not contain consecutive hyphens'],
    [{ name: '-a-' }, 'name: Invalid value: "-a-": must not begin or end with a hyphen'],
  ] as const)('%j are refused', (port: JsonObject, words) => {
    const isAboutNumber = words.startsWith('containerPort');
    const errors = told(isAboutNumber ? port : { containerPort: 80, ...port });
    expect(errors).toEqual([expect.stringContaining(`${at}.${words}`)]);
  });

  it('are accepted at their bounds, twice the same number, unnamed', () => {
    expect(told({ containerPort: 1 }, { containerPort: 65_535, hostPort: 65_535 })).toEqual([]);
    expect(told({ containerPort: 80, name: '' }, { containerPort: 80, name: '' })).toEqual([]);
    expect(told({ containerPort: 80, name: 'a-name-of-15-si', protocol: 'SCTP' })).toEqual([]);
  });

  it('have names of their own', () => {
    const twice = told({ containerPort: 80, name: 'web' }, { containerPort: 81, name: 'web' });
    expect(twice).toEqual(['spec.containers[0].ports[1].name: Duplicate value: "web"']);
  });

  it('are checked in every container of a template, init containers after the others', () => {
    const container = { name: 'c', image: 'i', ports: [{ containerPort: 70_000 }] };
    const spec = { containers: [container], initContainers: [{ ...container, name: 'i' }] };
    const fields = validatePodSpec(spec, 'spec.template.spec').map(({ field }) => field);
    expect(fields).toEqual([
      'spec.template.spec.containers[0].ports[0].containerPort',
      'spec.template.spec.initContainers[0].ports[0].containerPort',
    ]);
  });
});
