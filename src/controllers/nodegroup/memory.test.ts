// The memory of a group ends with the group.
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { askedFor, isMissingFor, mayBeMade, mayStand, PassMemories } from './memory.ts';

const aGroup = (uid: string) => ({ metadata: { name: 'ng', uid } }) as NodeGroup;

it('the memory of a group is kept while it is there and no longer', () => {
  const memories = new PassMemories();
  const first = memories.of(aGroup('a'));
  expect(memories.of(aGroup('a'))).toBe(first);
  const second = memories.of(aGroup('b'));
  expect(second).not.toBe(first);
  // The first memory was dropped.
  expect(memories.of(aGroup('a'))).not.toBe(first);
  const third = memories.of(aGroup('a'));
  memories.forget('ng');
  expect(memories.of(aGroup('a'))).not.toBe(third);
});

describe('an Auto Scaling group that no answer has', () => {
  const now = epochMs(1_000_000);
  const later = epochMs(1_060_000);
  const begun = (status?: object) => {
    const group = { ...aGroup('a'), status } as NodeGroup;
    return { group, memory: new PassMemories().of(group) };
  };

  it('was never made where the group had no status, until a user may have made it', () => {
    const { group, memory } = begun();
    expect(mayStand(memory, group, undefined, now)).toBe(false);
    expect(mayStand(memory, { status: { nodeMarks: {} } } as NodeGroup, undefined, now)).toBe(true);
    mayBeMade(memory);
    expect(mayStand(memory, group, undefined, now)).toBe(true);
    expect(mayStand(memory, group, undefined, later)).toBe(false);
  });

  it('may stand once it was seen', () => {
    const { group, memory } = begun();
    expect(isMissingFor(memory, {}, now)).toBe(false);
    expect(mayStand(memory, group, undefined, now)).toBe(true);
  });

  it('may stand for a minute after a restart', () => {
    const { group, memory } = begun({});
    expect(mayStand(memory, group, undefined, now)).toBe(true);
    expect(mayStand(memory, group, undefined, later)).toBe(false);
  });

  it('may stand from when it is asked for, however long it was missing before', () => {
    const { group, memory } = begun();
    isMissingFor(memory, undefined, now);
    const takeBack = askedFor(memory);
    expect(mayStand(memory, group, undefined, later)).toBe(true);
    takeBack();
    expect(mayStand(memory, group, undefined, later)).toBe(false);
  });

  it('is gone when we had it deleted', () => {
    const { group, memory } = begun({});
    memory.absence = 'deleted';
    expect(mayStand(memory, group, {}, now)).toBe(false);
    expect(mayStand(memory, group, undefined, now)).toBe(false);
  });
});
