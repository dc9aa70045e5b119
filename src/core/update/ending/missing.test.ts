// New nodes that an update waits for: which launches fail and since when, which instances have not
// joined.
import { describe, expect, it } from 'vitest';
import { failedLaunches } from './missing.ts';

const tried = (zone: string, status: string, minute: number, message = '') => ({
  description:
    status === 'Successful' ? 'Launching a new EC2 instance: i-1' : 'Launching a new EC2 instance',
  status,
  message,
  startedAt: `2026-01-01T00:0${minute}:00Z`,
  zone,
});
const noAddress = (subnet: string): string =>
  `InsufficientFreeAddressesInSubnet - There are not enough free addresses in subnet '${subnet}'`;

describe('launches that fail', () => {
  it('are reported by zone, in the newest words, since the first that failed', () => {
    const newestFirst = [
      tried('a', 'Failed', 4, noAddress('s-a')),
      tried('b', 'Failed', 4, noAddress('s-b')),
      tried('c', 'Successful', 3),
      tried('c', 'Failed', 2, 'other'),
      tried('a', 'Failed', 2, 'InsufficientInstanceCapacity'),
      tried('a', 'Successful', 1),
      tried('a', 'Failed', 0, 'old'),
    ];
    expect(failedLaunches(newestFirst)).toEqual([
      {
        zone: 'a',
        code: 'InsufficientFreeAddresses',
        message: noAddress('s-a'),
        since: '2026-01-01T00:02:00Z',
      },
      {
        zone: 'b',
        code: 'InsufficientFreeAddresses',
        message: noAddress('s-b'),
        since: '2026-01-01T00:04:00Z',
      },
    ]);
  });

  it('are none where the last one is under way or done', () => {
    const under = [tried('a', 'PreInService', 2), tried('a', 'Failed', 1, 'x')];
    expect(failedLaunches(under)).toEqual([]);
    const ends = { ...tried('a', 'Failed', 3), description: 'Terminating EC2 instance: i-1' };
    expect(failedLaunches([ends])).toEqual([]);
  });
});
