// An update object that is deleted during the update after its finalizer was removed by hand, in
// each phase of each strategy. Drover recreates it and stops it. Sizes, types, suspended processes
// and node marks are as after any stopped update.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import type { UpdatePhase, UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  imageOf,
  isCordoned,
  latest,
  makeGroup,
  namesOf,
  newest,
  older,
  runApp,
  untilAtRest,
} from '../support/update-world.ts';

const traces = ['drover.dev/outdated', 'scale-down-disabled', 'drover.dev/shield', 'quarantined'];

const tracesOf = (life: GroupLife): readonly string[] =>
  traces.filter((trace) => JSON.stringify(life.nodes()).includes(trace));

const begin = async (strategy: UpdateStrategy): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 2, zones: 2, maxSize: 3 });
  const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 300 } } : {};
  const updateConfig: JsonObject = { updateStrategy: strategy, maxUnavailable: 1, ...blueGreen };
  life.patch({ spec: { updateConfig } });
  await runApp(life, 4, 1);
  return life;
};

/**
 * Removes the finalizers and deletes the object, as `kubectl patch --type json` and `kubectl
 * delete` do.
 */
const strip = (life: GroupLife): string => {
  const name = latest(life)?.metadata.name ?? '';
  life.patchUpdate(name, { metadata: { finalizers: null } });
  life.user.delete(resourceTypes.nodegroupupdates, { name });
  expect(life.updates()).toEqual([]);
  return name;
};

const phases: readonly (readonly [UpdateStrategy, UpdatePhase, number])[] = [
  ['BLUE_GREEN', 'ScalingUp', 3],
  ['BLUE_GREEN', 'Marking', 0],
  ['BLUE_GREEN', 'Rolling', 3],
  ['BLUE_GREEN', 'Soaking', 10],
  ['BLUE_GREEN', 'ScalingDown', 2],
  ['SURGE', 'ScalingUp', 3],
  ['SURGE', 'Rolling', 0],
  ['SURGE', 'Rolling', 90],
  ['DEFAULT', 'ScalingUp', 3],
  ['DEFAULT', 'Rolling', 90],
  ['DEFAULT', 'ScalingDown', 1],
  ['MINIMAL', 'Rolling', 30],
];

describe('an update that vanishes', () => {
  it.each(phases)('of %s in %s after %d s is set back', async (strategy, phase, seconds) => {
    const life = await begin(strategy);
    const before = namesOf(life);
    askFor(life, newest);
    const isThere = (): boolean => latest(life)?.status?.phase === phase;
    await life.until(phase, isThere, 7200);
    await life.driver.advance(seconds);
    const name = strip(life);
    const isBack = (): boolean => life.updates().length === 1 && areOver(life);
    await life.until('it is there again, and over', isBack, 7200);
    expect(latest(life)?.metadata.name).toBe(name);
    expect(latest(life)?.status).toMatchObject({
      status: 'Cancelled',
      message: expect.stringContaining('its object was deleted while it ran'),
    });
    await untilAtRest(life, 2);
    const [group = {}] = life.autoScalingGroups();
    expect(group).toMatchObject({ MinSize: 0, MaxSize: 3, DesiredCapacity: 2 });
    expect(objectOr(group).SuspendedProcesses ?? []).toEqual([]);
    expect(tracesOf(life)).toEqual([]);
    expect(life.nodes().filter(isCordoned)).toEqual([]);
    expect(life.group()?.status).not.toHaveProperty('updating');
    expect(life.group()?.status).not.toHaveProperty('surge');
    expect(life.runningPods('web')).toBe(4);
    const isEarly = phase === 'ScalingUp' || phase === 'Marking';
    if (isEarly || (strategy === 'BLUE_GREEN' && phase !== 'ScalingDown')) {
      expect(namesOf(life).toSorted()).toEqual(before.toSorted());
      expect(life.group()?.status?.releaseVersion).toBe(older);
      expect(new Set(life.nodes().map(imageOf)).size).toBe(1);
    }
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
