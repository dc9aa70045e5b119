// Words of the command line become targets.
import { describe, expect, it } from 'vitest';
import { targetOf, targetsOf } from './target.ts';

describe('targetsOf', () => {
  it.each([
    [['n1'], [{ kind: undefined, name: 'n1' }]],
    [['node/n1'], [{ kind: 'node', name: 'n1' }]],
    [['node', 'n1'], [{ kind: 'node', name: 'n1' }]],
    [
      ['nodes', 'n1', 'n2'],
      [
        { kind: 'node', name: 'n1' },
        { kind: 'node', name: 'n2' },
      ],
    ],
    [
      ['n1', 'node/n2'],
      [
        { kind: undefined, name: 'n1' },
        { kind: 'node', name: 'n2' },
      ],
    ],
    [['ng', 'demo-ng'], [{ kind: 'nodegroup', name: 'demo-ng' }]],
    [['nodegroup/demo-ng'], [{ kind: 'nodegroup', name: 'demo-ng' }]],
    // A single word is a name, even one that is also a kind.
    [['node'], [{ kind: undefined, name: 'node' }]],
    [[], []],
  ])('%j', (words, expected) => {
    expect(targetsOf(words)).toEqual(expected);
  });
});

describe('targetOf', () => {
  it.each([
    ['update/7c9e', { kind: 'update', name: '7c9e' }],
    ['nd/i-0123', { kind: 'disruption', name: 'i-0123' }],
    ['pod/x', { kind: undefined, name: 'pod/x' }],
    ['constructor/x', { kind: undefined, name: 'constructor/x' }],
  ])('%s', (word, expected) => {
    expect(targetOf(word)).toEqual(expected);
  });
});
