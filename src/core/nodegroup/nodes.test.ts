// When a node gets the labels and taints of its group, and what the status remembers of it.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { markedBy, mustMark, wantedAnew } from './nodes.ts';

describe('when a node is made as the spec has it', () => {
  const now = epochMs(Date.parse('2026-01-01T01:00:00Z'));
  const wanted = { labels: { a: '1' }, taints: [{ key: 'k', effect: 'NoExecute' as const }] };
  const minutesAgo = (minutes: number) => epochMs(now - minutes * 60_000);
  const settled = markedBy(wanted, {}, [], minutesAgo(30));
  const old = {
    instanceId: 'i-1',
    isOwed: false,
    joinedAt: minutesAgo(40),
    isCurrent: true,
  };

  it('once when labels or taints have changed; what an agent takes off later is not put back', () => {
    expect(mustMark(wanted, {}, old, now)).toBe(true);
    expect(mustMark(wanted, settled, old, now)).toBe(false);
    expect(mustMark({ ...wanted, labels: { a: '2' } }, settled, old, now)).toBe(true);
    const valued = [{ key: 'k', value: 'v', effect: 'NoExecute' as const }];
    expect(mustMark({ ...wanted, taints: valued }, settled, old, now)).toBe(true);
  });

  it('once more when it was starting from an older template meanwhile', () => {
    const late = { ...old, joinedAt: minutesAgo(5), isCurrent: false };
    expect(mustMark(wanted, settled, late, now)).toBe(true);
    expect(mustMark(wanted, settled, { ...late, isCurrent: true }, now)).toBe(false);
    expect(mustMark(wanted, settled, { ...late, joinedAt: minutesAgo(20) }, now)).toBe(false);
    expect(mustMark(wanted, settled, { ...late, joinedAt: minutesAgo(35) }, now)).toBe(false);
  });

  it('again where it was refused, and the others not', () => {
    const owed = markedBy(wanted, settled, [old, { ...old, instanceId: 'i-2', isOwed: true }], now);
    expect(owed.nodeMarks).toEqual({ ...settled.nodeMarks, owed: ['i-2'] });
    expect(mustMark(wanted, owed, { ...old, isOwed: true }, now)).toBe(true);
    expect(mustMark(wanted, owed, old, now)).toBe(false);
    // Keys removed from the spec are remembered for the node that still has them.
    expect(markedBy({}, settled, [{ ...old, isOwed: true }], now).nodeLabels).toEqual(['a']);
    expect(markedBy(wanted, owed, [old], now)).toEqual(settled);
  });

  it('again throughout where more were refused than a status names', () => {
    const many = Array.from({ length: 51 }, (_, n) => ({
      ...old,
      instanceId: `${n}`,
      isOwed: true,
    }));
    expect(markedBy({}, settled, many, now)).toEqual(settled);
  });

  it('remembers what has left the spec while a node with it may still join', () => {
    const starting = [{ ...old, joinedAt: undefined, isCurrent: false }];
    const left = markedBy({}, settled, starting, now);
    expect(left).toMatchObject({
      nodeLabels: ['a'],
      nodeTaints: [{ key: 'k', effect: 'NoExecute' }],
    });
    expect(markedBy({}, left, starting, now)).toEqual(left);
    expect(markedBy({}, left, [old], now)).toMatchObject({ nodeLabels: [], nodeTaints: [] });
  });
});

describe('what a node must have that registers again', () => {
  const group = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: { name: 'ng', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: {
      amiType: 'AL2_x86_64',
      capacityType: 'SPOT',
      labels: { a: '1' },
      launchTemplate: { id: 'lt-1', version: '2' },
    },
  } as unknown as NodeGroup;
  const eks = 'eks.amazonaws.com';
  const always = {
    a: '1',
    [`${eks}/nodegroup`]: 'ng',
    [`${eks}/capacityType`]: 'SPOT',
    [`${eks}/sourceLaunchTemplateId`]: 'lt-1',
  };
  const image = { [`${eks}/nodegroup-image`]: 'ami-1' };
  const version = { [`${eks}/sourceLaunchTemplateVersion`]: '2' };

  it.each([
    ['ami-1', true, { ...always, ...image, ...version }],
    ['ami-1', false, { ...always, ...image }],
    [undefined, false, always],
  ])('goes by the instance: image %s, current template %s', (imageId, isCurrent, labels) => {
    expect(wantedAnew(group, { imageId, isCurrent })).toEqual({ labels, taints: [] });
  });

  it('is the same where the image has a bootstrap of its own', () => {
    const custom = { ...group, spec: { ...group.spec, amiType: 'CUSTOM' } };
    const { labels } = wantedAnew(custom, { imageId: 'ami-1', isCurrent: false });
    expect(labels).toEqual({ ...always, ...image });
  });
});
