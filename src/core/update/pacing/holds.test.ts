// The holds of an update at its start and at each node, as a table; and the holds that a plan
// predicts.

import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import { defined } from '../../../api/defined.ts';
import type { NodeGroupUpdate, NodeGroupUpdateSpec } from '../../../api/nodegroup-update.ts';
import type { Hold, UpdatePacing } from '../../../api/update-pacing.ts';
import { startHolds, stepHolds, wrongApprovals } from './holds.ts';
import { outlookOf } from './outlook.ts';

const now = epochMs(Date.parse('2026-01-05T12:00:00Z'));
const closed: UpdatePacing = { windows: [{ cron: '0 22 * * *', durationSeconds: 14_400 }] };
const required: UpdatePacing = { approval: 'Required' };

const anUpdate = (
  spec: Partial<NodeGroupUpdateSpec> = {},
  approved?: string,
  holds?: readonly Hold[],
): NodeGroupUpdate => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroupUpdate',
  metadata: {
    name: 'up',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: formatTime(now),
    ...(approved === undefined ? {} : { annotations: { 'drover.dev/approved': approved } }),
  },
  spec: { nodeGroup: 'ng', type: 'VersionUpdate', params: [], change: {}, ...spec },
  status: { status: 'InProgress', ...defined({ holds }) },
});

const kinds = (holds: readonly Hold[]): string => holds.map(({ kind }) => kind).join();

describe('what holds an update', () => {
  it.each([
    ['nothing', anUpdate(), {}, '', ''],
    ['a pause', anUpdate({ paused: true }), {}, 'Paused', 'Paused'],
    ['a window that is closed', anUpdate(), closed, 'Window', 'Window'],
    ['an approval, its start alone', anUpdate(), required, 'Approval', ''],
    [
      'all of them',
      anUpdate({ paused: true }),
      { ...closed, ...required },
      'Paused,Approval,Window',
      'Paused,Window',
    ],
    ['nothing that is approved', anUpdate({}, 'true'), required, '', ''],
    ['nothing whose plan is approved', anUpdate({ planHash: 'h' }, 'h'), required, '', ''],
    ['another plan', anUpdate({ planHash: 'h' }, 'g'), required, 'Approval', ''],
    ['an approval of a plan where none was made', anUpdate({}, 'h'), required, 'Approval', ''],
    [
      'no window and no approval on the way back',
      anUpdate({ action: 'Rollback' }),
      { ...closed, ...required },
      '',
      '',
    ],
    [
      'a pause on the way back',
      anUpdate({ action: 'Rollback', paused: true }),
      closed,
      'Paused',
      'Paused',
    ],
  ] as const)('%s', (_, update, pacing, atStart, atStep) => {
    expect(kinds(startHolds({ update, pacing, now }))).toBe(atStart);
    expect(kinds(stepHolds({ update, pacing, now }))).toBe(atStep);
  });

  it('keeps the time since when it does', () => {
    const [first] = startHolds({ update: anUpdate(), pacing: closed, now });
    const later = epochMs(now + 3_600_000);
    const again = startHolds({
      update: anUpdate({}, undefined, first && [first]),
      pacing: { ...closed, ...required },
      now: later,
    });
    expect(again.map(({ kind, since }) => [kind, since])).toEqual([
      ['Approval', formatTime(later)],
      ['Window', formatTime(now)],
    ]);
  });
});

describe('what a plan foresees', () => {
  it.each([
    [{}, '', undefined],
    [required, 'Approval', undefined],
    // Closed at noon: the length is that of the next window, four hours.
    [closed, 'Window', 14_400],
    [{ windows: [{ cron: '0 11 * * *', durationSeconds: 7200 }] }, '', 3600],
    [{ windowDefault: 'Closed' }, 'Window', undefined],
  ] as const)('%j', (pacing, held, windowSeconds) => {
    const outlook = outlookOf(pacing, now);
    expect(outlook.holds.map(({ kind }) => kind).join()).toBe(held);
    expect(outlook.windowSeconds).toBe(windowSeconds);
  });
});

describe('an approval that is none', () => {
  it.each([
    [{ planHash: 'h' }, /is "g", which approves nothing: expected is "true" or .* "h"\)/],
    [
      {},
      /is "g", which approves nothing: expected is "true", since it was asked for without a plan\)/,
    ],
  ] as const)('is reported with what is expected, once: %o', (spec, words) => {
    const before = startHolds({ update: anUpdate(spec), pacing: required, now });
    const after = startHolds({ update: anUpdate(spec, 'g'), pacing: required, now });
    expect(after[0]?.reason).toMatch(words);
    expect(wrongApprovals(before, after)).toEqual([after[0]?.reason]);
    expect(wrongApprovals(after, after)).toEqual([]);
    expect(wrongApprovals(undefined, before)).toEqual([]);
  });
});
