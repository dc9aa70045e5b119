// Which instances a scale-in terminates, and why.
import { describe, expect, it } from 'vitest';
import { type Candidate, chooseForScaleIn } from './scale-in.ts';

const one = (instanceId: string, more: Partial<Candidate> = {}): Candidate => ({
  instanceId,
  zone: 'a',
  isProtected: false,
  isEmpty: false,
  isHealthy: true,
  isDraining: false,
  templateVersion: 1,
  startedAt: '2026-01-01T00:00:00Z',
  ...more,
});
const empty = 'nothing runs on it that would have to move';

describe('who goes at scale-in', () => {
  it.each([
    ['the empty', [one('i1', { isHealthy: false }), one('i2', { isEmpty: true })], 'i2', empty],
    [
      'the unhealthy',
      [one('i1', { zone: 'b' }), one('i2', { isHealthy: false }), one('i3', { zone: 'b' })],
      'i2',
      'it is not healthy',
    ],
    [
      'of the empty the unhealthy',
      [one('i1', { isEmpty: true }), one('i2', { isEmpty: true, isHealthy: false })],
      'i2',
      `${empty}, it is not healthy`,
    ],
    [
      'the fullest zone',
      [one('i1', { zone: 'b' }), one('i2'), one('i3')],
      'i2',
      'zone a has the most instances',
    ],
    [
      'who is drained anyway',
      [one('i1'), one('i2', { isDraining: true })],
      'i2',
      'it is being drained anyway',
    ],
    [
      'the oldest template',
      [one('i1', { templateVersion: 2 }), one('i2')],
      'i2',
      'it has the oldest version of the launch template',
    ],
    [
      'the oldest',
      [one('i1'), one('i2', { startedAt: '2025-01-01T00:00:00Z' })],
      'i2',
      'it is the oldest',
    ],
    [
      'the oldest of the fullest zone',
      [one('i0', { zone: 'b' }), one('i1'), one('i2', { startedAt: '2025-01-01T00:00:00Z' })],
      'i2',
      'zone a has the most instances, it is the oldest',
    ],
    ['any, where nothing sets one apart', [one('i1'), one('i2')], 'i1', ''],
  ] as const)('%s first', (_, candidates, instanceId, why) => {
    expect(chooseForScaleIn(candidates, 1)).toEqual([{ instanceId, why }]);
  });

  it('no one who is protected, empty or not', () => {
    expect(chooseForScaleIn([one('i1', { isProtected: true, isEmpty: true })], 1)).toEqual([]);
  });

  it('keeps the zones in balance while it chooses', () => {
    const all = ['a', 'a', 'a', 'b', 'b', 'c'].map((zone, i) => one(`i${i}`, { zone }));
    const ids = chooseForScaleIn(all, 3).map(({ instanceId }) => instanceId);
    expect(ids).toEqual(['i0', 'i1', 'i3']);
  });
});
