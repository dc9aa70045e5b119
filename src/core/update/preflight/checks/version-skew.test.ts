// Tests of the check version-skew: each case is a snapshot and the findings that the check reports.
import { describe, expect, it } from 'vitest';
import {
  aNode,
  aWorkload,
  briefOf,
  findingsOf,
} from '../../../../../test/builders/core-update-preflight.ts';
import type { Snapshot } from '../snapshot.ts';
import { versionSkew } from './version-skew.ts';

const to = (version: string, controlPlaneVersion: string, kubelet = 'v1.32.9') => ({
  target: { version },
  controlPlaneVersion,
  nodes: [aNode('n1', { kubelet })],
});
const proxy = (tag: string) => [
  aWorkload('DaemonSet', 'kube-proxy', {
    spec: {
      template: { spec: { containers: [{ name: 'kube-proxy', image: `eks/kube-proxy:${tag}` }] } },
    },
  }),
];
const cases: readonly (readonly [string, Partial<Snapshot>, readonly string[]])[] = [
  ['the same version', to('1.32', '1.32'), []],
  ['newer than the control plane', to('1.33', '1.32'), ['blocker NodeGroup ng']],
  ['three older', to('1.32', '1.35'), []],
  ['four older', to('1.32', '1.36'), ['blocker NodeGroup ng']],
  ['three older, before 1.25', to('1.24', '1.27', 'v1.24.1'), ['blocker NodeGroup ng']],
  ['a downgrade', to('1.31', '1.32'), ['warning NodeGroup ng']],
  ['two minors in one step', to('1.34', '1.34'), ['warning NodeGroup ng']],
  ['an image of which nobody knows the version', { target: { imageId: 'ami-1' } }, []],
  ['kube-proxy three older', { ...to('1.32', '1.32'), workloads: proxy('v1.29.0-minimal') }, []],
  [
    'kube-proxy four older',
    { ...to('1.32', '1.32'), workloads: proxy('v1.28.0-minimal') },
    ['warning DaemonSet kube-system/kube-proxy'],
  ],
];

describe('version-skew', () => {
  it.each(cases)('%s', (_, more, expected) => {
    expect(briefOf(findingsOf(versionSkew, more))).toEqual(expected);
  });
});
