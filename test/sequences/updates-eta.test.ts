// The predicted end of an update compared with its actual end, in virtual time.
import { expect, it } from 'vitest';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  askFor,
  latest,
  makeGroup,
  newest,
  older,
  untilAtRest,
  untilOver,
  updatesOf,
} from '../support/update-world.ts';

const secondsOf = (time: string | undefined): number => Date.parse(time ?? '') / 1000;
const progressOf = (life: GroupLife) => latest(life)?.status?.progress;
const doneAt = (life: GroupLife): number => secondsOf(latest(life)?.status?.pace?.at(-1)?.at);

it('an update says when it is over from its second node on, from the first where it knows an earlier one', async () => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 6, maxSize: 12 });
  const updateConfig = { updateStrategy: 'SURGE', maxUnavailable: 1 };
  life.patch({ spec: { updateConfig } });
  askFor(life, newest);
  await life.until('one is done', () => progressOf(life)?.done === 1, 3600);
  expect(progressOf(life)?.eta).toBeUndefined();
  await life.until('three are done', () => progressOf(life)?.done === 3, 3600);
  const eta = progressOf(life)?.eta;
  expect(eta).toBeDefined();
  const name = latest(life)?.metadata.name ?? '';
  life.patchUpdate(name, { spec: { paused: true } });
  await life.until('it says nothing', () => progressOf(life)?.eta === undefined, 60);
  life.patchUpdate(name, { spec: { paused: false } });
  await untilOver(life);
  await untilAtRest(life, 6);
  // Nodes of this world take equal times, so the prediction at half-way is close.
  const told = secondsOf(eta?.p50) - secondsOf(latest(life)?.status?.startedAt);
  const took = doneAt(life) - secondsOf(latest(life)?.status?.startedAt);
  expect(Math.abs(took - told) / took).toBeLessThan(0.25);
  expect(progressOf(life)?.eta).toBeUndefined();

  askFor(life, older);
  await life.until('the next rolls', () => latest(life)?.status?.phase === 'Rolling', 600);
  expect(updatesOf(life)).toHaveLength(2);
  expect(progressOf(life)).toMatchObject({ done: 0, eta: expect.anything() });
  await life.end();
}, 60_000);
