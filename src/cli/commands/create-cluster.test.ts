// The flags of `drover create cluster`.
import { describe, expect, it } from 'vitest';
import { configOfFlags } from './create-cluster.ts';

type Flags = Parameters<typeof configOfFlags>[0];
const flags = (name: string): Flags =>
  ({ name, withoutNodegroup: true, withOidc: false, timeout: '1m' }) as Flags;

describe('the name of a cluster', () => {
  it.each(['a_b', '-a', 'a'.repeat(101), ''])('%j is none, as in a file', (name) => {
    expect(() => configOfFlags(flags(name))).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/no name of a cluster/),
        exitCode: 2,
      }),
    );
  });

  it('is what a file takes', () => {
    expect(configOfFlags(flags('ironman-2022')).name).toBe('ironman-2022');
  });
});
