import { describe, expect, it } from 'vitest';
import type { UpdateWaitingOn } from '../../api/update-waiting.ts';
import { explainUpdateWaiting } from './explain-waiting.ts';

const hold = { kind: 'Window', reason: 'No window is open until 22:00.', since: 't' } as const;
const missing = { code: 'NodeCreationFailure', message: 'is not Ready', since: 't' };
const surplus = { kind: 'surplus', node: 'n1', heldBy: 'p1 waits', deadline: 't' } as const;

describe('why an update has not gone on', () => {
  it.each<[string, UpdateWaitingOn]>([
    ['No window is open until 22:00.', { kind: 'hold', hold }],
    [
      'waits for update u1 (VersionUpdate) to end: a node group has one at a time',
      { kind: 'turn', update: 'u1', type: 'VersionUpdate' },
    ],
    [
      'A change to release r2 waits for update u1 to end.',
      { kind: 'change', revision: 'release r2', update: 'u1', more: 0 },
    ],
    [
      'A change to release r2 waits for update u1 and 2 more to end.',
      { kind: 'change', revision: 'release r2', update: 'u1', more: 2 },
    ],
    [
      'i-1 in eu-west-1a, launched t: is not Ready',
      { kind: 'newNode', node: { ...missing, instanceId: 'i-1', zone: 'eu-west-1a' } },
    ],
    [
      'A launch in eu-west-1a fails since t: NodeCreationFailure: is not Ready',
      { kind: 'newNode', node: { ...missing, zone: 'eu-west-1a' } },
    ],
    [
      'A launch fails since t: NodeCreationFailure: is not Ready',
      { kind: 'newNode', node: missing },
    ],
    [
      'The surplus cannot be taken back yet: node n1. p1 waits. What is left by t is deleted.',
      { ...surplus, atDeadline: 'force' },
    ],
    [
      'The surplus cannot be taken back yet: node n1. p1 waits. ' +
        'Its lifecycle hook ends at t, and its instance goes with what is left.',
      { ...surplus, atDeadline: 'hookEnds' },
    ],
    [
      'The surplus cannot be taken back yet: node n1. p1 waits. ' +
        'The update fails with PodEvictionFailure at t if that lasts.',
      { ...surplus, atDeadline: 'fail' },
    ],
    [
      'No room for new nodes beside the old ones, which are drained first and replaced then. ' +
        'InsufficientFreeAddresses: none left',
      { kind: 'room', code: 'InsufficientFreeAddresses', message: 'none left' },
    ],
    [
      'The update paused itself: a drain was not over in time. n1 (and 1 more): p1 waits ' +
        '`drover resume update u1` continues it.',
      { kind: 'resume', update: 'u1', node: 'n1', message: 'p1 waits', more: 1 },
    ],
    ['is in phase Rolling', { kind: 'phase', phase: 'Rolling' }],
  ])('%s', (words, waiting) => {
    expect(explainUpdateWaiting(waiting)).toBe(words);
  });
});
