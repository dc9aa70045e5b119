import { describe, expect, it } from 'vitest';
import { allKinds, findSchema, namedType, resolveType, type TypeRef } from './facts.ts';

const field = (type: string, name: string) => {
  const fact = namedType(type);
  return fact.kind === 'struct' ? fact.fields.get(name) : undefined;
};

describe('facts about built-in kinds', () => {
  it.each([
    ['', 'v1', 'Node', false],
    ['', 'v1', 'Pod', true],
    ['apps', 'v1', 'Deployment', true],
    ['policy', 'v1', 'PodDisruptionBudget', true],
    ['coordination.k8s.io', 'v1', 'Lease', true],
    ['events.k8s.io', 'v1', 'Event', true],
    ['rbac.authorization.k8s.io', 'v1', 'ClusterRole', false],
    ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', false],
    ['admissionregistration.k8s.io', 'v1', 'ValidatingAdmissionPolicy', false],
  ])('knows %s/%s %s and its scope', (group, version, kind, namespaced) => {
    expect(findSchema({ group, version, kind })?.namespaced).toBe(namespaced);
  });

  it('answers undefined for a kind it does not hold', () => {
    expect(findSchema({ group: 'drover.dev', version: 'v1alpha1', kind: 'NodeGroup' })).toBe(
      undefined,
    );
  });

  it('keeps node taints atomic and merges containers by name, volumes also with retainKeys', () => {
    expect(field('core/v1.NodeSpec', 'taints')).toMatchObject({
      patchStrategy: [],
      mergeKey: undefined,
      listType: 'atomic',
    });
    expect(field('core/v1.PodSpec', 'containers')).toMatchObject({
      patchStrategy: ['merge'],
      mergeKey: 'name',
    });
    expect(field('core/v1.PodSpec', 'volumes')).toMatchObject({
      patchStrategy: ['merge', 'retainKeys'],
      mergeKey: 'name',
    });
  });

  it('flattens embedded structs and keeps the path of their protobuf numbers', () => {
    expect(field('core/v1.Volume', 'emptyDir')?.proto).toEqual([2, 2]);
    expect(field('core/v1.Probe', 'httpGet')?.proto).toEqual([1, 2]);
  });

  it('resolves every type that a served kind reaches', () => {
    const seen = new Set<string>();
    const walk = (ref: TypeRef): void => {
      const type = resolveType(ref);
      if (type.kind === 'list' || type.kind === 'map') walk(type.of);
      if (type.kind !== 'struct' || seen.has(type.name)) return;
      seen.add(type.name);
      for (const fact of type.fields.values()) walk(fact.type);
    };
    for (const schema of allKinds()) walk({ kind: 'named', name: schema.type.name });
    expect(seen.size).toBeGreaterThan(300);
  });
});
