// What `drover world status` prints as text.
import { describe, expect, it } from 'vitest';
import { statusLines } from './world.ts';

describe('statusLines', () => {
  it('says that no fault is on', () => {
    expect(statusLines({ now: '2026-01-01T00:00:00Z', faults: [] })).toEqual([
      'now               2026-01-01T00:00:00Z',
      'faults            none',
    ]);
  });

  it('gives each fault a line, as it was injected', () => {
    const faults = [
      { id: 'f-1', kind: 'kubelet-stop', target: { node: 'n1' }, since: '2026-01-01T00:00:00Z' },
      { id: 'f-2', kind: 'api-errors', target: {}, since: '2026-01-01T00:00:01Z' },
    ];
    expect(statusLines({ faults })).toEqual([
      'faults            kubelet-stop --node n1, since 2026-01-01T00:00:00Z',
      '                  api-errors, since 2026-01-01T00:00:01Z',
    ]);
  });
});
