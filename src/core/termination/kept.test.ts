// A drained instance whose termination is on hold: its hooks are completed, and it is terminated
// only after the hold and the cooldown. Nothing waits for it if others terminate it.
import { describe, expect, it } from 'vitest';
import {
  aHookCause,
  aManualCause,
  draining,
  type Model,
  timePlus,
  tPlus,
} from '../../../test/builders/core-termination.ts';
import type { DisruptionCause } from '../../api/disruption.ts';
import { decideDisruption } from './decide.ts';

const keeping = (more: Partial<DisruptionCause> = {}): DisruptionCause => ({
  kind: 'Update',
  id: 'update/u-1',
  receivedAt: timePlus(0),
  deadline: timePlus(900),
  onDeadline: 'fail',
  followUp: 'Replace',
  cooldownSeconds: 60,
  holdTermination: true,
  ...more,
});
const free = { holdTermination: false, terminationFreeAt: timePlus(120) } as const;

const drained = (...causes: readonly DisruptionCause[]): Model => {
  const model = draining(causes);
  model.change({ pods: [] });
  model.at(100);
  model.settle();
  return model;
};

const kept = { kind: 'terminationHold', by: 'update u-1' };

describe('a drained instance that is kept', () => {
  it('stays, and the journal says for whom', () => {
    const model = drained(keeping());
    expect(model.status).toMatchObject({
      phase: 'Completing',
      drainedAt: timePlus(100),
      waitingOn: [{ kind: 'cooldown', until: timePlus(160) }, kept],
      waitingOnTotal: 2,
    });
    model.at(5_000);
    expect(model.settle()).toEqual([]);
    expect(decideDisruption(model.observation).waitingOn).toEqual([kept]);
  });
  it.each([
    [120, 160],
    [200, 200],
  ])('goes when it is let go, at %d s, and its cooldown is over, at %d s', (letGo, ends) => {
    const model = drained(keeping());
    model.at(letGo);
    model.causes([keeping(free)]);
    if (letGo < ends) {
      model.at(ends - 1);
      expect(model.settle()).toEqual([]);
    }
    model.at(ends);
    expect(model.settle()).toEqual(['TerminateInstance', 'Ended']);
    expect(model.status?.waitingOn).toBeUndefined();
  });
  it('goes for another cause that asks for its end and waits for nobody', () => {
    const model = drained(keeping(), aManualCause({ followUp: 'Terminate' }));
    model.at(160);
    expect(model.settle()).toEqual(['TerminateInstance', 'Ended']);
  });
  it('is not kept from going by itself', () => {
    const model = drained(keeping());
    model.at(110);
    const late = aHookCause({ receivedAt: timePlus(105), deadline: timePlus(1005) });
    model.causes([keeping(), late]);
    model.settle();
    expect(model.done).not.toContain('TerminateInstance');
    expect(model.status).toMatchObject({ episode: 2 });
  });
  it('is asked about while its node is not there, and forgotten when it is gone', () => {
    const model = drained(keeping());
    model.change({ node: undefined });
    model.at(110);
    expect(model.settle()).toEqual(['Confirm']);
    expect(decideDisruption(model.observation).nextCheckAt).toBe(tPlus(140));
    model.instanceGone = true;
    model.at(140);
    expect(model.settle()).toEqual(['Confirm', 'Ended']);
  });
  it('is given back with its node where the update is withdrawn', () => {
    const model = drained(keeping());
    model.at(110);
    model.causes([keeping({ cancelledAt: timePlus(110) })]);
    expect(model.settle()).toEqual(['Ended', 'Undoing', 'PatchNode', 'Ended']);
    expect(model.done).not.toContain('TerminateInstance');
  });
});
