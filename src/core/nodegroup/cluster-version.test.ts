import { describe, expect, it } from 'vitest';
import { clusterSkewComplaint, nextMinor } from './cluster-version.ts';

describe('the version of a cluster', () => {
  it.each<[string, string, string, boolean]>([
    ['1.32', '1.33', '1.32', true],
    ['1.32', '1.33', '1.30', true],
    ['1.32', '1.33', '1.29', false],
    ['1.33', '1.34', '1.31', true],
    ['1.33', '1.34', '1.30', false],
    // Kubelets before 1.25 may be two versions behind.
    ['1.26', '1.27', '1.25', true],
    ['1.27', '1.28', '1.25', true],
    ['1.25', '1.26', '1.24', true],
    ['1.26', '1.27', '1.24', false],
    ['1.32', '1.33', 'custom', true],
  ])('moves from %s to %s with a group on %s: %s', (from, to, version, isTaken) => {
    const complaint = clusterSkewComplaint({ from, to }, [
      { name: 'new', version: from },
      { name: 'old', version },
    ]);
    expect(complaint).toBe(
      isTaken
        ? undefined
        : `Nodegroups old must be updated to match cluster version ${from} before updating cluster version`,
    );
  });

  it.each([
    ['1.32', '1.33'],
    ['1.9', '1.10'],
    ['2.0', undefined],
    ['1.32.4', undefined],
  ])('after %s is %s', (version, next) => {
    expect(nextMinor(version)).toBe(next);
  });
});
