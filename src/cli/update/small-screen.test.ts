// A very small terminal: what the update waits for is the last to be omitted.
import { describe, expect, it } from 'vitest';
import { aGroup, anUpdate, blocked, now, running } from '../../../test/builders/cli-update.ts';
import { timePlus } from '../../../test/builders/core-termination.ts';
import { updateView } from '../../core/overview/index.ts';
import { screenLines } from './screen.ts';

const node = 'ip-192-168-17-197';
const stuck = (index: number) => {
  const { status, ...rest } = blocked(index);
  const name = `${node}${index === 1 ? '' : index}.eu-west-1.compute.internal`;
  const identity = { name, uid: `node-${index}` };
  return { ...rest, status: { ...status, episode: 1, phase: 'Draining', node: identity } } as const;
};
const at = (columns: number, rows: number, disruptions = [stuck(1)], update = anUpdate()) =>
  screenLines(updateView({ update, group: aGroup(), disruptions }), now, { columns, rows });

describe('a screen with hardly any room', () => {
  it.each([
    [80, 23],
    [50, 9],
    [40, 9],
    [40, 4],
    [60, 4],
    [50, 5],
    [30, 6],
    [120, 3],
  ])('of %d columns and %d lines names node, time, pod and budget', (columns, rows) => {
    const lines = at(columns, rows);
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    const text = lines.join(' ').replaceAll(/\s+/g, ' ');
    for (const word of [node, 'gives up in 12m30s', 'budget web/web', 'web/web-1-0']) {
      expect(text).toContain(word);
    }
  });

  it('says how many others wait, and names the one that ends first', () => {
    const lines = at(60, 6, [stuck(1), stuck(2), stuck(3)]).join('\n');
    expect(lines).toContain(`${node}  gives up in`);
    expect(lines).toContain('and 2 nodes more wait');
  });

  it.each([
    [50, 9],
    [40, 5],
    [40, 4],
  ])('shows what holds the update, %d by %d', (columns, rows) => {
    const hold = { kind: 'Window', reason: 'no window is open', since: timePlus(0) } as const;
    const update = anUpdate({ status: { ...running, holds: [hold], message: 'm '.repeat(90) } });
    expect(at(columns, rows, [], update).join(' ')).toContain('held by Window for');
  });
});
