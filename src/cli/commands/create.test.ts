import { describe, expect, it } from 'vitest';
import { existsAlready } from './create.ts';

const of = async (status: string | undefined) => {
  const state = status && { name: 's', status, statusReason: undefined, outputs: {}, tags: {} };
  const asked: string[] = [];
  const describeStack = async (name: string) => {
    asked.push(name);
    return state || undefined;
  };
  const { message, exitCode } = await existsAlready({ describeStack }, 'c', 'blue');
  expect(asked).toEqual(['eksctl-c-nodegroup-blue']);
  expect(exitCode).toBe(3);
  return message;
};

describe('a name of a node group that is taken', () => {
  it.each([
    ['CREATE_COMPLETE', /exists already in cluster c; `drover scale nodegroup` changes its size/],
    [undefined, /exists already/],
    [
      'DELETE_IN_PROGRESS',
      /is still being deleted; `drover delete nodegroup --cluster c blue --wait`/,
    ],
    ['DELETE_FAILED', /the stack of node group blue is DELETE_FAILED; .* says what holds it up/],
    ['ROLLBACK_COMPLETE', /is ROLLBACK_COMPLETE/],
  ])('with a stack that is %s', async (status, told) => {
    expect(await of(status)).toMatch(told);
  });
});
