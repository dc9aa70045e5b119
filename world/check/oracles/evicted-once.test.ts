// Canaries of the oracle about evictions that are sent twice.
import { describe, expect, it } from 'vitest';
import { judge, kubectl, Story, us } from '../../../test/builders/world-check.ts';
import { evictedOnce } from './evicted-once.ts';

interface Sent {
  readonly uid?: string;
  readonly code?: number;
  readonly dryRun?: boolean;
  readonly by?: string;
}

const evict = (story: Story, { uid = 'u1', code = 201, dryRun = false, by = us }: Sent = {}) =>
  story.add({
    kind: 'request',
    at: story.micros,
    userAgent: by,
    username: by,
    verb: 'create',
    resource: 'pods',
    subresource: 'eviction',
    namespace: 'demo',
    name: 'db-0',
    code,
    dryRun,
    body: { deleteOptions: { preconditions: { uid } } },
  });

const twice = (first: Sent, second: Sent, seconds = 0.003) =>
  judge(evictedOnce, evict(evict(new Story().at(100), first).at(100 + seconds), second));

describe('evictions-sent-once', () => {
  it('reports an eviction that is sent again, and one that was tried without effect first', () => {
    expect(twice({}, {})).toEqual({ said: ['demo/db-0: evicted twice, 3 ms apart'], saw: 2 });
    expect(twice({ dryRun: true }, {}).said).toHaveLength(1);
  });

  it.each([
    ['one of the next pod of the name', { uid: 'u2' }, 0.003],
    ['one of somebody else', { by: kubectl }, 0.003],
    ['one long after', {}, 6],
  ])('accepts %s', (_, second, seconds) => {
    expect(twice({}, second, seconds).said).toEqual([]);
  });

  it('accepts one after a refusal, and one soon after a fault', () => {
    expect(twice({ code: 429 }, {}).said).toEqual([]);
    const story = evict(new Story().at(60).fault('process-down', 'off').at(100), { dryRun: true });
    expect(judge(evictedOnce, evict(story)).said).toEqual([]);
  });
});
