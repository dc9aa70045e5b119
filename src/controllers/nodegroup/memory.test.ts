// What is remembered of a group ends with it.
import { expect, it } from 'vitest';
import type { NodeGroup } from '../../api/nodegroup.ts';
import { PassMemories } from './memory.ts';

const aGroup = (uid: string) => ({ metadata: { name: 'ng', uid } }) as NodeGroup;

it('the memory of a group is kept while it is there and no longer', () => {
  const memories = new PassMemories();
  const first = memories.of(aGroup('a'));
  expect(memories.of(aGroup('a'))).toBe(first);
  const second = memories.of(aGroup('b'));
  expect(second).not.toBe(first);
  // The first was not kept beside it.
  expect(memories.of(aGroup('a'))).not.toBe(first);
  const third = memories.of(aGroup('a'));
  memories.forget('ng');
  expect(memories.of(aGroup('a'))).not.toBe(third);
});
