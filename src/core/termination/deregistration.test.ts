// Both waits for load balancers: when they hold, what they name, and what ends them.
import { describe, expect, it } from 'vitest';
import {
  aDisruption,
  aGroup,
  aHookCause,
  aManualCause,
  draining,
  type Model,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { DrainPolicy } from '../../api/drain-policy.ts';
import { decideDisruption } from './decide.ts';
import { beforeEvictions, needsTargets, type Targets } from './deregistration.ts';
import type { Compat } from './observation.ts';

const healthy: Targets = [
  { group: 'tg-b', state: 'healthy' },
  { group: 'tg-a', state: 'initial' },
];
const leaving: Targets = [
  { group: 'tg-a', state: 'draining' },
  { group: 'tg-b', state: 'unused' },
];

interface Given {
  readonly targets?: Targets;
  readonly at?: number;
  readonly policy?: DrainPolicy['loadBalancers'];
  readonly deadline?: number;
  readonly causes?: readonly DisruptionCause[];
  readonly compat?: Compat;
  readonly phase?: 'Marking' | 'Draining';
}

const marked = ({ causes, deadline = 900, phase = 'Draining' }: Given) =>
  aDisruption(causes, {
    episode: 1,
    phase,
    markedAt: timePlus(0),
    deadline: timePlus(deadline),
    node: { name: 'n1', uid: 'uid-n1' },
  });

const wait = (given: Given) => {
  const { targets, at = 1, policy, compat = 'native' } = given;
  const found = beforeEvictions({
    disruption: marked(given),
    group: aGroup(policy === undefined ? {} : { loadBalancers: policy }),
    compat,
    targets,
    now: tPlus(at),
  });
  if (found === undefined) return 'none';
  const { waiting, until } = found;
  const names = waiting.kind === 'deregistration' ? waiting.targetGroups.join() : waiting.kind;
  return `${names} until ${(until - tPlus(0)) / 1000}`;
};

const spot = aHookCause({ kind: 'SpotInterruption', id: 'spot/1' });

describe('the first eviction', () => {
  const rows: readonly [string, Given, string][] = [
    ['nobody asks', {}, 'none'],
    ['no target group', { targets: [] }, 'none'],
    ['still sent to', { targets: healthy }, 'tg-a,tg-b until 15'],
    ['deregistering', { targets: leaving }, 'none'],
    ['for 15 seconds', { targets: healthy, at: 15 }, 'none'],
    [
      'as long as the policy says',
      { targets: healthy, policy: { beforeSeconds: 60 }, at: 59 },
      'tg-a,tg-b until 60',
    ],
    ['not where the policy says 0', { targets: healthy, policy: { beforeSeconds: 0 } }, 'none'],
    ['not with the marks of EKS', { targets: healthy, compat: 'eks' }, 'none'],
    ['half of the time to the deadline', { targets: healthy, deadline: 20 }, 'tg-a,tg-b until 10'],
    ['five seconds after a spot notice', { targets: healthy, causes: [spot] }, 'tg-a,tg-b until 5'],
    [
      'an answer for 15 seconds',
      { targets: 'unknown', policy: { beforeSeconds: 60 } },
      'api until 15',
    ],
    ['no answer for longer', { targets: 'unknown', policy: { beforeSeconds: 60 }, at: 15 }, 'none'],
    ['not before the marks', { targets: healthy, phase: 'Marking' }, 'none'],
  ];
  it.each(rows)('waits: %s', (_name, given, expected) => {
    expect(wait(given)).toBe(expected);
  });
});

describe('the load balancers are asked', () => {
  const rows: readonly [string, Given, boolean][] = [
    ['from the intent to mark', { phase: 'Marking' }, true],
    ['not with the marks of EKS', { compat: 'eks' }, false],
    ['with them where the policy says so', { compat: 'eks', policy: { afterSeconds: 9 } }, true],
    [
      'not for the end of an instance that stays',
      { compat: 'eks', policy: { afterSeconds: 9 }, causes: [aManualCause()] },
      false,
    ],
  ];
  it.each(rows)('%s', (_name, given, expected) => {
    const { policy, compat = 'native' } = given;
    const group = aGroup(policy === undefined ? {} : { loadBalancers: policy });
    expect(needsTargets(marked(given), group, compat)).toBe(expected);
  });
});

/** A drain whose last pod is gone. */
const emptied = (targets: Targets, cause: DisruptionCause, at: number): Model => {
  const model = draining([cause], []);
  model.change({ targets, group: aGroup({ loadBalancers: { afterSeconds: 60 } }) });
  model.at(6);
  model.settle();
  model.at(at);
  model.settle();
  return model;
};

describe('the end of the instance', () => {
  const rows: readonly [string, Targets, DisruptionCause, number, readonly string[]][] = [
    ['waits for connections to drain', leaving, aHookCause(), 6, ['Draining', 'deregistration']],
    ['for as long as the policy says', leaving, aHookCause(), 66, ['Ended']],
    ['not once it is let go', [{ group: 'tg-b', state: 'unused' }], aHookCause(), 6, ['Ended']],
    ['not where the instance stays', leaving, aManualCause(), 6, ['Ended']],
    ['not past the deadline', leaving, aHookCause({ deadline: timePlus(30) }), 30, ['Ended']],
  ];
  it.each(rows)('%s', (_name, targets, cause, at, expected) => {
    const model = emptied(targets, cause, at);
    const { waitingOn } = decideDisruption(model.observation);
    expect([model.status?.phase, ...waitingOn.map(({ kind }) => kind)]).toEqual(expected);
  });
});
