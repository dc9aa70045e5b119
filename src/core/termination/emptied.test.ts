// A notice on a node that another cause has drained: the status says what each of them did.
import { describe, expect, it } from 'vitest';
import {
  aHookCause,
  aManualCause,
  aPod,
  confirmedByCloud,
  draining,
  type Model,
  timePlus,
} from '../../../test/builders/core-termination.ts';

const update = aManualCause({ kind: 'Update', followUp: 'Release', deadline: timePlus(900) });
const spot = aManualCause({
  id: 'spot',
  kind: 'SpotInterruption',
  ...confirmedByCloud,
  receivedAt: timePlus(20),
  onDeadline: 'force',
});
const hook = aHookCause({ receivedAt: timePlus(60) });

/** Two pods were evicted for the update and for every cause recorded up to then. */
const drained = (causes = [update]): Model => {
  const model = draining(causes, [aPod('p1'), aPod('p2')]);
  model.change({ pods: [] });
  model.at(10);
  model.settle();
  return model;
};

const next = (model: Model, causes: Parameters<Model['causes']>[0], seconds: number) => {
  model.causes(causes);
  model.at(seconds);
  model.settle();
  return model.status;
};

describe('a notice on a node that an update has drained', () => {
  it('says that the pods had gone before, for what and how many', () => {
    const model = drained();
    expect(model.status).toMatchObject({ outcome: 'Drained', message: 'empty', podsTotal: 2 });
    expect(next(model, [update, spot], 30)).toMatchObject({
      phase: 'Ended',
      episode: 2,
      outcome: 'Drained',
      message: 'empty already: 2 pods had gone in episode 1 (Update)',
      previous: { episode: 1, outcome: 'Drained', causes: ['Update'], podsTotal: 2 },
    });
  });

  it('passes that on to the hook of the end', () => {
    const model = drained();
    next(model, [update, spot], 30);
    expect(next(model, [update, spot, hook], 70)).toMatchObject({
      phase: 'Ended',
      episode: 3,
      message: 'empty already: 2 pods had gone in episode 1 (Update)',
      previous: { episode: 2, causes: ['SpotInterruption'] },
    });
  });

  it('shares the drain where it came meanwhile: one episode for both', () => {
    const model = drained([update, { ...spot, receivedAt: timePlus(0) }]);
    expect(model.status).toMatchObject({ episode: 1, message: 'empty', podsTotal: 2 });
    expect(next(model, [update, spot, hook], 70)).toMatchObject({
      message: 'empty already: 2 pods had gone in episode 1 (Update, SpotInterruption)',
    });
  });

  it('is not said of pods that have come since', () => {
    const model = drained();
    model.causes([update, spot]);
    model.change({ pods: [aPod('p3')] });
    model.at(30);
    model.settle();
    model.change({ pods: [] });
    model.at(40);
    model.settle();
    expect(model.status).toMatchObject({ episode: 2, message: 'empty', podsTotal: 1 });
  });
});
