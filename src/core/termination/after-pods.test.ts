import { describe, expect, it } from 'vitest';
import {
  aGroup,
  aHookCause,
  aManualCause,
  aPod,
  draining,
  type Model,
  stepNames,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import type { Pod } from '../../api/kube.ts';
import { decideDisruption } from './decide.ts';
import type { Observation } from './observation.ts';

interface Given {
  readonly attached: Observation['attached'];
  readonly cause?: DisruptionCause;
  readonly waitSeconds?: number;
  readonly pods?: readonly Pod[];
  readonly at?: number;
}

/** A drain whose last pod is gone, looked at after its settle time. */
const emptied = ({ attached, cause, waitSeconds, pods = [], at = 6 }: Given): Model => {
  const model = draining([cause ?? aHookCause()], [...pods]);
  model.change({
    ...(attached === undefined ? {} : { attached }),
    ...(waitSeconds === undefined ? {} : { group: aGroup({ volumes: { waitSeconds } }) }),
  });
  model.at(at);
  return model;
};
/** Runs the model to its end; returns the phase and the blockers. */
const outcome = (model: Model): readonly (string | undefined)[] => {
  model.settle();
  const { waitingOn } = decideDisruption(model.observation);
  return [model.status?.phase, ...waitingOn.map(({ kind }) => kind)];
};

const claims = (name: string, owner: string, ...claimNames: readonly string[]): Pod => {
  const pod = aPod(name, { owner });
  const volumes = claimNames.map((claimName) => ({
    name: claimName,
    persistentVolumeClaim: { claimName },
  }));
  return { ...pod, spec: { ...pod.spec, volumes } };
};

describe('volumes of pods that are gone', () => {
  const rows: readonly [string, Given, readonly string[]][] = [
    ['none', { attached: [] }, ['Ended']],
    ['not observed', { attached: undefined }, ['Ended']],
    ['attached still', { attached: ['pv-1'] }, ['Draining', 'volumes']],
    ['not known yet', { attached: 'unknown' }, ['Draining', 'api']],
    ['attached, and the policy does not wait', { attached: ['pv-1'], waitSeconds: 0 }, ['Ended']],
    [
      'attached to an instance that stays',
      { attached: ['pv-1'], cause: aManualCause() },
      ['Ended'],
    ],
    [
      'attached to an instance that ends after it',
      { attached: ['pv-1'], cause: aManualCause({ kind: 'Update', followUp: 'Replace' }) },
      ['Draining', 'volumes'],
    ],
    [
      'as many as claims of pods that stay',
      { attached: ['pv-1'], pods: [claims('agent', 'DaemonSet/agent', 'data')] },
      ['Ended'],
    ],
    [
      'more than that',
      { attached: ['pv-1', 'pv-2'], pods: [claims('agent', 'DaemonSet/agent', 'data')] },
      ['Draining', 'volumes'],
    ],
  ];
  it.each(rows)('%s', (_name, given, expected) => {
    expect(outcome(emptied(given))).toEqual(expected);
  });

  it('are named in the status, once, with the end of the wait; then the hook is completed', () => {
    const model = emptied({ attached: ['pv-2', 'pv-1'] });
    model.settle();
    const until = timePlus(126);
    expect(model.status).toMatchObject({
      phase: 'Draining',
      emptyAt: timePlus(6),
      podsRemaining: 0,
      waitingOn: [{ kind: 'volumes', node: 'n1', volumes: ['pv-1', 'pv-2'], until }],
    });
    model.at(60);
    expect(stepNames(decideDisruption(model.observation))).toEqual([]);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(126));
    model.change({ attached: [] });
    expect(model.settle()).toContain('CompleteHook');
    expect(model.status?.waitingOn ?? []).toEqual([]);
    expect(model.status?.outcome).toBe('Drained');
  });
  it('are waited for no longer than the policy says, from the time in the status', () => {
    const model = emptied({ attached: ['pv-1'], waitSeconds: 30 });
    model.settle();
    model.at(35);
    expect(outcome(model)).toEqual(['Draining', 'volumes']);
    model.at(36);
    expect(model.settle()).toContain('CompleteHook');
  });
  it('are not waited for past the deadline, and the drain has not failed', () => {
    for (const onDeadline of ['force', 'fail'] as const) {
      const more = { deadline: timePlus(60), onDeadline, followUp: 'Replace' } as const;
      const model = emptied({
        attached: ['pv-1'],
        cause: aManualCause({ kind: 'Update', ...more }),
      });
      model.settle();
      expect(model.status?.phase).toBe('Draining');
      model.at(61);
      model.settle();
      expect(model.status).toMatchObject({ phase: 'Ended', outcome: 'Drained' });
    }
  });
});
