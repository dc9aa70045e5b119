// The drains of a delete: a failure of its own delays it; a failure from before the delete does
// not.
import { describe, expect, it } from 'vitest';
import { aGroupSpec } from '../../../test/builders/controllers.ts';
import { epochMs } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { deleteTry } from './deletion.ts';

const deletionTimestamp = '2026-01-01T00:00:10Z';
const now = epochMs(Date.parse('2026-01-01T00:01:00Z'));
const failedAt = (at: string) => ({
  failure: { code: 'PodEvictionFailure', message: '', resourceIds: [], generation: 1, at },
});
const scaleIn = { id: 'scale-in/ng/old', target: 0, since: '2026-01-01T00:00:00Z' };

const tried = (status: object) => {
  const metadata = {
    name: 'ng',
    uid: 'u',
    creationTimestamp: deletionTimestamp,
    deletionTimestamp,
  };
  return deleteTry({ metadata, spec: aGroupSpec(), status } as unknown as NodeGroup, now);
};

describe('the drains of a delete', () => {
  it('continue where they are under way', () => {
    expect(tried({ scaleIn })).toEqual({ scaleIn });
  });

  it('wait five minutes after they failed', () => {
    const status = failedAt('2026-01-01T00:00:12.000Z');
    const dueAt = Date.parse('2026-01-01T00:05:12.000Z');
    expect(tried(status)).toEqual({ ...status, dueAt });
  });

  it.each([
    ['long before', failedAt('2025-12-31T23:00:00.000Z')],
    ['in the second of the delete', failedAt('2026-01-01T00:00:10.400Z')],
    ['and was being given up', { ...failedAt('2026-01-01T00:00:10.400Z'), scaleIn }],
  ])('begin at once where a scale-in failed %s', (_, status) => {
    const { scaleIn: begun, failure, dueAt } = tried(status);
    expect(begun).toMatchObject({ target: 0, since: '2026-01-01T00:01:00.000Z' });
    expect([failure, dueAt]).toEqual([undefined, undefined]);
  });
});
