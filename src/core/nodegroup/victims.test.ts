// The state of a drain requested by a scale-in or update, if other actors requested drains of the
// node since.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { NodeDisruption } from '../../api/disruption.ts';
import { victimState } from './victims.ts';

describe('a node whose later drain others have reverted', () => {
  const id = 'update/u';
  const deadline = '2022-09-25T13:00:00Z';
  it.each([
    ['is still going', 'Replace', 'Drained', 120, 'drained'],
    ['should have gone: asked again', 'Replace', 'Drained', 121, undefined],
    ['was kept, and may have been used: asked again', 'Release', 'Drained', 120, undefined],
    ['had not been drained: asked again', 'Replace', 'Failed', 120, undefined],
  ])('%s', (_name, followUp, outcome, seconds, kind) => {
    const previous = { outcome, endedAt: deadline };
    const disruption = {
      spec: { causes: [{ id, followUp, deadline }] },
      status: { phase: 'Ended', handledCauses: [id], outcome: 'Cancelled', previous },
    } as unknown as NodeDisruption;
    const now = epochMs(Date.parse(deadline) + seconds * 1000);
    expect(victimState(disruption, { id, hasNode: true, now })?.kind).toBe(kind);
  });
});
