import { describe, expect, it } from 'vitest';
import { existsAlready } from './create.ts';

interface Left {
  readonly kind?: 'managed' | 'unmanaged';
  readonly isGroupThere?: boolean;
}

const of = async (
  status: string | undefined,
  { kind = 'unmanaged', isGroupThere = true }: Left = {},
) => {
  const tags = { 'alpha.eksctl.io/nodegroup-type': kind };
  const state = status && { name: 's', status, statusReason: undefined, outputs: {}, tags };
  const kube = { get: async () => ({ kind: isGroupThere ? 'found' : 'gone' }) };
  const asked: string[] = [];
  const describeStack = async (name: string) => {
    asked.push(name);
    return state || undefined;
  };
  const { message, exitCode } = await existsAlready(
    { describeStack },
    kube as unknown as Parameters<typeof existsAlready>[1],
    'c',
    'blue',
  );
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
    ['DELETE_FAILED', /the stack of node group blue is DELETE_FAILED; .* shows what blocks that/],
    ['ROLLBACK_COMPLETE', /is ROLLBACK_COMPLETE/],
  ])('with a stack that is %s', async (status, told) => {
    expect(await of(status)).toMatch(told);
  });

  it('with a stack that is left of a managed group is told so', async () => {
    const left =
      /the stack of node group blue is left, .*`drover delete nodegroup --cluster c blue/;
    expect(await of('CREATE_COMPLETE', { kind: 'managed', isGroupThere: false })).toMatch(left);
    expect(await of('CREATE_COMPLETE', { kind: 'managed' })).toMatch(/exists already/);
    expect(await of('CREATE_COMPLETE', { isGroupThere: false })).toMatch(/exists already/);
  });
});
