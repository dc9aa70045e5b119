// Which nodes a command refers to, and the error for a mistyped name.
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { type Node, resourceTypes } from '../api/kube.ts';
import { disruptionNameOf } from '../core/overview/index.ts';
import { closeNames, resolveNodes } from './nodes.ts';

const names = [
  'ip-192-168-4-70.eu-west-1.compute.internal',
  'ip-192-168-58-19.eu-west-1.compute.internal',
  'worker-a',
  'worker-b',
];

const aCluster = (): FakeKube => {
  const kube = new FakeKube(new VirtualClock());
  kube.put(resourceTypes.nodes, {
    name: 'worker-a',
    spec: { providerID: 'aws:///eu-west-1a/i-0123456789abcdef0' },
  });
  kube.put(resourceTypes.nodes, {
    name: 'worker-b',
    labels: { 'eks.amazonaws.com/nodegroup': 'demo-ng' },
    spec: {},
  });
  return kube;
};

const nameOf = (node: Node): string => node.metadata.name;

describe('closeNames', () => {
  it.each([
    ['worker-c', ['worker-a', 'worker-b']],
    ['ip-192-168-4-70', ['ip-192-168-4-70.eu-west-1.compute.internal']],
    ['ip-192-168-4-7.eu-west-1.compute.internal', [names[0], names[1]]],
    ['something-else-entirely', []],
  ])('%s is close to %j', (wanted, expected) => {
    expect(closeNames(wanted, names)).toEqual(expected);
  });
});

describe('resolveNodes', () => {
  const wanted = (...given: readonly string[]) => ({ names: given, selector: undefined });

  it('finds nodes by name, by node/NAME and by instance id, each once', async () => {
    const found = await resolveNodes(
      aCluster(),
      wanted('worker-b', 'node/worker-a', 'i-0123456789abcdef0'),
    );
    expect(found.map(nameOf)).toEqual(['worker-b', 'worker-a']);
  });

  it.each([
    [
      ['node', 'worker-a', 'worker-b'],
      ['worker-a', 'worker-b'],
    ],
    [['nodegroup', 'demo-ng'], ['worker-b']],
    [
      ['ng/demo-ng', 'worker-a'],
      ['worker-b', 'worker-a'],
    ],
  ])('takes the words %j', async (words, expected) => {
    expect((await resolveNodes(aCluster(), wanted(...words))).map(nameOf)).toEqual(expected);
  });

  it.each([
    [wanted('nodegroup/demo-gn'), 1, /node group demo-gn has no nodes; did you mean demo-ng/],
    [wanted('update/7c9e'), 2, /update 7c9e is not a node/],
    [wanted('worker-x'), 1, /no node worker-x in this cluster; did you mean worker-a/],
    [wanted('zzzzzzzzzzzzzzz'), 1, /the cluster has worker-a, worker-b/],
    [wanted('Not A Name!'), 1, /no node Not A Name!/],
    [wanted(), 2, /name at least one node, or give --selector/],
    [{ names: ['worker-a'], selector: 'a=b' }, 2, /not both/],
  ])('refuses %j with exit code %i', async (given, exitCode, message) => {
    const refused = resolveNodes(aCluster(), given);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ exitCode });
  });

  it('refuses an instance id that two nodes carry', async () => {
    const kube = aCluster();
    const spec = { providerID: 'aws:///eu-west-1b/i-0123456789abcdef0' };
    kube.put(resourceTypes.nodes, { name: 'worker-old', spec });
    await expect(resolveNodes(kube, wanted('i-0123456789abcdef0'))).rejects.toThrow(
      /several nodes \(worker-a, worker-old\)/,
    );
  });

  it('names the disruption of a node without an instance after its uid', async () => {
    const [a, b] = await resolveNodes(aCluster(), wanted('worker-a', 'worker-b'));
    expect(a && disruptionNameOf(a)).toBe('i-0123456789abcdef0');
    expect(b && disruptionNameOf(b)).toBe(`node-${b?.metadata.uid}`);
  });
});
