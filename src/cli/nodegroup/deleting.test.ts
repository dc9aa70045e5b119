// What the deletion of a node group reports while it waits, and before it begins.
import { describe, expect, it } from 'vitest';
import type { NodeDisruption, WaitingOn } from '../../api/disruption.ts';
import type { Node } from '../../api/kube.ts';
import type { NodeRepair } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { holdingLines, noOtherPlace, quarantineLines } from './deleting.ts';

const blocked: WaitingOn = {
  kind: 'pdb',
  pod: 'demo/web-0',
  budgets: ['demo/web'],
  message: 'The disruption budget web needs 1 healthy pods and has 1 currently',
  neverAllows: true,
};

const drain = (waitingOn: readonly WaitingOn[], { group = 'ng', phase = 'Draining' } = {}) =>
  ({
    metadata: { name: 'i-1' },
    spec: { nodeGroup: group, nodeName: 'n1', causes: [] },
    status: { phase, waitingOn },
  }) as unknown as NodeDisruption;

const failure = {
  code: 'PodEvictionFailure',
  message: 'Held by demo/web-0 (budget demo/web).',
  resourceIds: ['n1'],
};
const group = { status: { health: [failure] } } as unknown as NodeGroup;

describe('a deletion that waits', () => {
  it('names node, pod and budget with its numbers, then the health issue with its remedy', () => {
    expect(holdingLines(group, [drain([blocked])], 'ng')).toEqual([
      expect.stringMatching(
        /^node n1: pod demo\/web-0 waits for budget demo\/web \(.*needs 1 healthy pods and has 1/,
      ),
      expect.stringMatching(
        /^PodEvictionFailure: Held by .*\); remedy: .*drover delete nodegroup ng/,
      ),
    ]);
  });

  it('says nothing of other groups, of drains that are over, and of pods that are stopping', () => {
    const stopping = { kind: 'settling', pod: 'demo/web-0' } as unknown as WaitingOn;
    const all = [
      drain([blocked], { group: 'other' }),
      drain([blocked], { phase: 'Ended' }),
      drain([stopping]),
    ];
    expect(holdingLines(undefined, all, 'ng')).toEqual([]);
  });

  it('counts what are more than a few', () => {
    const many = Array.from({ length: 7 }, (_, i) => ({ ...blocked, pod: `demo/web-${i}` }));
    expect(holdingLines(undefined, [drain(many)], 'ng').at(-1)).toBe('and 2 more pods');
  });
});

describe('pods of a group that is deleted', () => {
  const node = (of: string, spec: object = {}, label = 'eks.amazonaws.com/nodegroup') =>
    ({ metadata: { name: of, labels: { [label]: of } }, spec }) as unknown as Node;
  const noSchedule = { taints: [{ key: 'k', effect: 'NoSchedule' }] };
  const preferred = { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] };

  it.each([
    ['no other node', [node('ng')], true],
    ['another that is cordoned', [node('ng'), node('b', { unschedulable: true })], true],
    ['another with a taint', [node('ng'), node('b', noSchedule)], true],
    ['another', [node('ng'), node('b')], false],
    ['another that is only the last choice', [node('ng'), node('b', preferred)], false],
    ['no node of its own', [node('b', noSchedule)], false],
    ['a self-managed group alone', [node('ng', {}, 'alpha.eksctl.io/nodegroup-name')], true],
  ])('with %s', (_, nodes, hasNone) => {
    const warning = noOtherPlace(nodes, 'ng');
    if (hasNone) expect(warning).toMatch(/Create another node group first.*--force/);
    else expect(warning).toBeUndefined();
  });
});

describe('instances in quarantine', () => {
  const repair = (status: object | undefined, spec: object = {}) =>
    ({
      metadata: { name: 'r1' },
      spec: { nodeGroup: 'ng', instanceId: 'i-1', node: { name: 'n1', uid: 'u1' }, ...spec },
      ...(status === undefined ? {} : { status }),
    }) as unknown as NodeRepair;
  const byHand = { requested: { action: 'Quarantine', at: '2026-01-01T00:00:00Z' } };

  it('are named with their repair and its time limit', () => {
    const until = '2026-01-02T00:00:00Z';
    const kept = repair({ phase: 'Quarantined', quarantinedUntil: until }, byHand);
    expect(quarantineLines([kept], 'ng')).toEqual([
      `instance i-1 (node n1) is in quarantine until ${until} (NodeRepair r1): the deletion ` +
        'terminates it; finish its inspection first',
    ]);
  });

  it.each([
    ['a request that no controller has taken up', repair(undefined, byHand), 1],
    ['a drain that ends in quarantine', repair({ phase: 'Repairing', action: 'Quarantine' }), 1],
    ['a replacement', repair({ phase: 'Repairing', action: 'Replace' }), 0],
    ['a quarantine that is over', repair({ phase: 'Succeeded', action: 'Quarantine' }, byHand), 0],
    ['one of another group', repair({ phase: 'Quarantined' }, { nodeGroup: 'other' }), 0],
  ])('%s', (_, one, count) => {
    expect(quarantineLines([one], 'ng')).toHaveLength(count);
  });
});
