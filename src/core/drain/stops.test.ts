// How long pods took to stop, according to the watch of their node.
import { describe, expect, it } from 'vitest';
import { aPod, kubeTimePlus, type PodOverrides, tPlus } from '../../../test/builders/core-drain.ts';
import type { Pod } from '../../api/kube.ts';
import { StopLog } from './stops.ts';

/** Deleted at `since` seconds with `asked` seconds of grace. */
const stopping = (
  name: string,
  { since = 0, asked = 30, ...more }: PodOverrides & { since?: number; asked?: number } = {},
): Pod =>
  aPod(name, {
    ...more,
    deletionTimestamp: kubeTimePlus(since + asked),
    deletionGracePeriodSeconds: asked,
  });

type Seen = readonly [pod: Pod, at: number, gone?: 'gone'];

const timesOf = (...seen: readonly Seen[]) => {
  const log = new StopLog();
  for (const [pod, at, gone] of seen) log.observe(pod, { gone: gone === 'gone', now: tPlus(at) });
  return log.times();
};

describe('the times that pods took to stop', () => {
  const web = 'ReplicaSet/demo/web';
  const p1 = stopping('p1');
  /** The kubelet's own final deletion. */
  const stopped = stopping('p1', { asked: 0 });
  const daemon = stopping('p1', { owner: 'DaemonSet/web' });
  const bare = stopping('p1', { owner: '' });
  const done = stopping('p1', { phase: 'Succeeded' });
  const long = stopping('p1', { graceSeconds: 120, asked: 120 });

  it.each<readonly [string, readonly Seen[], readonly unknown[]]>([
    [
      'run from the deletion until the pod is gone',
      [
        [p1, 0],
        [p1, 12, 'gone'],
      ],
      [12],
    ],
    [
      'count where the kubelet deletes it at last',
      [
        [p1, 0],
        [stopped, 9],
        [stopped, 9, 'gone'],
      ],
      [9],
    ],
    [
      'count where the watch began later',
      [
        [p1, 8],
        [p1, 12, 'gone'],
      ],
      [12],
    ],
    [
      'count where the whole grace was used',
      [
        [long, 0],
        [long, 121, 'gone'],
      ],
      [121],
    ],
    ['are not of pods that still stop', [[p1, 0]], []],
    [
      'are not of pods that nobody deleted',
      [
        [aPod('p1'), 0],
        [aPod('p1'), 9, 'gone'],
      ],
      [],
    ],
    [
      'are not of pods that were forced at once',
      [
        [stopped, 0],
        [stopped, 1, 'gone'],
      ],
      [],
    ],
    [
      'are not of pods that were forced later',
      [
        [long, 0],
        [stopping('p1', { graceSeconds: 120, asked: 10 }), 5],
        [long, 15, 'gone'],
      ],
      [],
    ],
    [
      'are not of pods that no kubelet stopped',
      [
        [p1, 0],
        [p1, 400, 'gone'],
      ],
      [],
    ],
    [
      'are not of DaemonSets',
      [
        [daemon, 0],
        [daemon, 9, 'gone'],
      ],
      [],
    ],
    [
      'are not of bare pods',
      [
        [bare, 0],
        [bare, 9, 'gone'],
      ],
      [],
    ],
    [
      'are not of finished pods',
      [
        [done, 0],
        [done, 9, 'gone'],
      ],
      [],
    ],
  ])('%s', (_, seen, seconds) => {
    expect(timesOf(...seen)).toEqual(seconds.length === 0 ? [] : [{ owner: web, seconds }]);
  });

  it('are those of the slowest owners and of the last pods', () => {
    const seen = Array.from({ length: 30 }, (_, i) => i).flatMap((i): readonly Seen[] =>
      Array.from({ length: 12 }, (_, pod) => `p-${i}-${pod}`).flatMap((name): readonly Seen[] => {
        const pod = stopping(name, { owner: `ReplicaSet/a${i}`, graceSeconds: 60, asked: 60 });
        return [
          [pod, 0],
          [pod, i, 'gone'],
        ];
      }),
    );
    const times = timesOf(...seen);
    expect(times.map(({ owner }) => owner)).toEqual(
      Array.from({ length: 20 }, (_, i) => `ReplicaSet/demo/a${29 - i}`),
    );
    expect(new Set(times.map(({ seconds }) => seconds.length))).toEqual(new Set([10]));
  });
});
