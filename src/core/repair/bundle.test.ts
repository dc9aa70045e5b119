// The log bundle before a repair acts: when it is asked for, what ends the wait, and that a silent
// agent holds nothing up.
import { describe, expect, it } from 'vitest';
import {
  aMember,
  aRepair,
  aRepairGroup,
  aRepairObservation,
  atMinute,
  bad,
  healthyMembers,
  idOf,
  timeAt,
} from '../../../test/builders/core-repair.ts';
import { bundleAnnotation, bundleAnswer } from '../../api/log-bundle.ts';
import type { NodeRepairStatus, RepairAction, RepairBundle } from '../../api/node-repair.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { explainRepair } from '../explain/index.ts';
import { decideRepairs, type RepairMember } from './index.ts';

const causeId = `repair/${idOf(1)}-1/1/${timeAt(30)}`;
const withBundles = aRepairGroup({ nodeRepair: { collectBundle: true } });
const asked = { [bundleAnnotation]: causeId };

const started = (bundle?: RepairBundle, action: RepairAction = 'Replace'): NodeRepairStatus => ({
  phase: 'Repairing',
  action,
  attempts: [
    { action, causeId, startedAt: timeAt(30), ...(bundle === undefined ? {} : { bundle }) },
  ],
});
const pending = started({ requestedAt: timeAt(30) });

const ill = (m: number, more: Parameters<typeof aMember>[2] = {}) =>
  aMember(1, m, { ...more, conditions: [bad(0), ...(more.conditions ?? [])] });

const decide = (
  m: number,
  status: NodeRepairStatus,
  member: RepairMember = ill(m),
  group: NodeGroup = withBundles,
) => {
  const members = [member, ...healthyMembers(2, 3, m)];
  const repairs = [aRepair(1, 0, status)];
  const plan = decideRepairs(aRepairObservation(m, members, { repairs, group }));
  const { steps, outlook, nextCheckAt } = plan;
  return { steps, kinds: steps.map(({ kind }) => kind), status: outlook[0]?.status, nextCheckAt };
};
const bundleOf = (of: { readonly status: NodeRepairStatus | undefined }) =>
  of.status?.attempts?.[0]?.bundle;

describe('the bundle of a repair', () => {
  it('is not asked for unless the group says so, nor before a quarantine', () => {
    expect(decide(30, started(), ill(30), aRepairGroup()).kinds).toEqual(['RecordCause']);
    expect(decide(30, started(undefined, 'Quarantine')).kinds).toEqual(['RecordCause']);
  });

  it('is intended, then asked for, and the cause waits', () => {
    const first = decide(30, started());
    expect(first.kinds).toEqual(['WriteRepair']);
    expect(bundleOf(first)).toEqual({ requestedAt: timeAt(30) });
    const second = decide(30, pending);
    expect(second.steps).toEqual([
      { kind: 'AskForBundle', nodeName: 'n1', uid: 'uid-n1', request: causeId },
    ]);
    const third = decide(30.5, pending, ill(30.5, { annotations: asked }));
    expect(third.steps).toEqual([]);
    expect(third.nextCheckAt).toBe(atMinute(31));
  });

  it.each([
    [true, 'Collected', '/b/x.tar.gz (4 KiB)'],
    [false, 'NotCollected', 'no space left'],
  ] as const)('ends with the answer of the agent (%s)', (isCollected, outcome, message) => {
    const answer = bundleAnswer(causeId, { isCollected, message });
    const member = ill(30.5, { annotations: asked, conditions: [answer] });
    const after = decide(30.5, pending, member);
    expect(bundleOf(after)).toMatchObject({ outcome, message, endedAt: timeAt(30.5) });
    expect(after.steps).toMatchObject([
      { kind: 'WriteRepair' },
      { kind: 'AskForBundle', request: null },
    ]);
    expect(decide(31, after.status ?? pending).kinds).toEqual(['RecordCause']);
  });

  it('takes no answer to another request', () => {
    const answer = bundleAnswer(`${causeId}0`, { isCollected: true, message: 'old' });
    const member = ill(30.5, { annotations: asked, conditions: [answer] });
    expect(decide(30.5, pending, member).steps).toEqual([]);
  });

  it('is given up after 60 s, and the drain of a dead node keeps its two minutes', () => {
    const late = decide(31, pending, ill(31, { annotations: asked }));
    expect(bundleOf(late)).toMatchObject({
      outcome: 'NotCollected',
      message: 'no node agent answered within 60 s',
    });
    expect(decide(31, late.status ?? pending).steps).toMatchObject([
      { kind: 'RecordCause', cause: { deadline: timeAt(33) } },
    ]);
  });

  it('is not waited for when the group no longer asks for it', () => {
    const member = ill(30.5, { annotations: asked });
    const after = decide(30.5, pending, member, aRepairGroup());
    const message = 'collectBundle was switched off';
    expect(bundleOf(after)).toMatchObject({ outcome: 'NotCollected', message });
    expect(after.kinds).toEqual(['WriteRepair', 'AskForBundle']);
    expect(decide(31, after.status ?? pending, ill(31), aRepairGroup()).kinds).toEqual([
      'RecordCause',
    ]);
  });

  it('is not waited for where there is no Node', () => {
    const { node: _node, ...rest } = ill(30);
    const after = decide(30, started(), { ...rest, node: undefined });
    expect(bundleOf(after)).toMatchObject({ message: 'the instance has no Node object' });
  });

  it.each([
    [{ requestedAt: timeAt(30) }, `logs: asked for at ${timeAt(30)}, for 60 s at most`],
    [
      { requestedAt: timeAt(30), outcome: 'Collected', message: '/b/x (4 KiB)' },
      'logs: collected: /b/x (4 KiB)',
    ],
    [{ requestedAt: timeAt(30), outcome: 'NotCollected', message: 'no' }, 'logs: none: no'],
  ] as const)('is explained: %o', (bundle, line) => {
    const repair = aRepair(1, 0, started(bundle));
    expect(explainRepair(ill(30).health, { repair, group: withBundles })).toContain(line);
  });

  it('leaves no request behind when its repair has ended', () => {
    const over: NodeRepairStatus = { ...pending, phase: 'Cancelled', endedAt: timeAt(31) };
    const member = aMember(1, 32, { annotations: asked });
    expect(decide(32, over, member).steps).toEqual([
      { kind: 'AskForBundle', nodeName: 'n1', uid: 'uid-n1', request: null },
    ]);
  });
});
