// A repair may terminate an instance, so arguments that could mean several nodes are refused.
import { describe, expect, it } from 'vitest';
import { aNode } from '../../../test/builders/core-termination.ts';
import type { KubeApi } from '../../ports/index.ts';
import { repairedNode } from './one-node.ts';

const node = aNode();
const name = node.metadata.name;

/** A cluster with that node as a member of node group g; it counts the reads. */
const cluster = () => {
  const labels = { 'eks.amazonaws.com/nodegroup': 'g' };
  const member = { ...node, metadata: { ...node.metadata, labels } };
  const reads: string[] = [];
  const kube = {
    get: async (_type: unknown, of: { readonly name: string }) => {
      reads.push(of.name);
      return of.name === name ? { kind: 'found', object: member } : { kind: 'gone' };
    },
    list: async () => {
      reads.push('all');
      return { items: [member], resourceVersion: '1' };
    },
  } as unknown as KubeApi;
  return { kube, reads };
};

describe('the node of drover repair', () => {
  it.each([[[name]], [[`node/${name}`]], [['node', name]], [['no', name]]])(
    'is %j',
    async (words) => {
      const { kube } = cluster();
      expect((await repairedNode(kube, words)).metadata.name).toBe(name);
    },
  );

  it.each([
    [['nodegroup/g'], /takes exactly one node: .*; nodegroup g is not a node/],
    [['nodegroup', 'g'], /takes exactly one node: .*; nodegroup g is not a node/],
    [['ng/g'], /nodegroup g is not a node/],
    [['update/u'], /update u is not a node/],
    [[name, 'n2'], /it got 2 names/],
    [['node', name, 'n2'], /it got 2 names/],
    [[], /it got 0 names/],
  ])('is none of %j: usage, and nothing is read', async (words, message) => {
    const { kube, reads } = cluster();
    const refusal = repairedNode(kube, words);
    await expect(refusal).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
    });
    expect(reads).toEqual([]);
  });
});
