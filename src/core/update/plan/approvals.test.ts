// When approvals are needed, according to the model: before the start, and when a wave with that
// gate is settled.
import { expect, it } from 'vitest';
import {
  aGroup,
  aNode,
  aPod,
  aSnapshot,
  t0,
} from '../../../../test/builders/core-update-preflight.ts';
import { outlookOf } from '../pacing/index.ts';
import { planUpdate } from './index.ts';

const count = 4;
const names = Array.from({ length: count }, (_, i) => `n${i + 1}`);
const planOf = (pacing: Parameters<typeof outlookOf>[0]) =>
  planUpdate(
    aSnapshot({
      group: aGroup({ strategy: 'SURGE', sizes: { minSize: 0, maxSize: 10, desired: count } }),
      nodes: names.map((name) => aNode(name)),
      pods: names.map((node) => aPod(`web-${node}`, { node })),
      outlook: outlookOf(pacing, t0),
    }),
    { runs: 3 },
  );

it('no one has to where nothing asks for it', () => {
  expect(planOf({ waves: [{ percent: 50, soakSeconds: 60 }] }).approvals).toEqual([]);
});

it('each gate is reported with the nodes that are updated by then and with its minute', () => {
  const waves = [
    { percent: 25, soakSeconds: 600, gates: ['Approval'] },
    { percent: 50, gates: ['Probes'] },
    { percent: 100, gates: ['Approval'] },
  ] as const;
  const { approvals, batches, minutes } = planOf({ approval: 'Required', waves });
  expect(approvals).toMatchObject([
    { nodes: 0, minute: 0 },
    { wave: { number: 1, of: 3 }, nodes: 1 },
    { wave: { number: 3, of: 3 }, nodes: 4 },
  ]);
  const [, first, last] = approvals;
  // The time at which the soak begins, not at which it ends.
  expect(first?.minute).toBeCloseTo((batches[1]?.startMinute ?? 0) - 10);
  expect(last?.minute).toBe(batches[3]?.endMinute);
  expect(last?.minute).toBeLessThanOrEqual(minutes.p90);
});
