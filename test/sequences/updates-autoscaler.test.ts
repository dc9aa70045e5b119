// The cluster autoscaler beside an update: nodes that it removes from the update's surplus do not
// reduce the users' desired size. During the update it is kept from the nodes, and a user's value
// of its annotation is restored afterwards.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import {
  autoscalerAnnotation,
  type EmptyNode,
  scaleDownCall,
} from '../../src/sim/lives/autoscaler.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  latest,
  makeGroup,
  namesOf,
  newest,
  runApp,
  untilAtRest,
} from '../support/update-world.ts';

const strategies = ['DEFAULT', 'MINIMAL', 'SURGE', 'BLUE_GREEN'] as const;

const begin = async (strategy: UpdateStrategy): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await makeGroup(life, { desired: 3, maxSize: 12, zones: 3 });
  const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 30 } } : {};
  life.patch({ spec: { updateConfig: { updateStrategy: strategy, ...blueGreen } } });
  // With MINIMAL, pods have no other node while their node is drained.
  await runApp(life, 6, strategy === 'MINIMAL' ? 6 : 1);
  return life;
};

const annotationsOf = ({ metadata }: JsonObject) => objectOr(objectOr(metadata).annotations);

interface Autoscaler {
  readonly mayTake: (node: EmptyNode) => boolean;
  readonly most: number;
  readonly everySeconds: number;
}

/**
 * Runs an autoscaler that removes one node every `everySeconds` until the update ends. Returns the
 * number of nodes that it removed.
 */
const updateBeside = async (
  life: GroupLife,
  { mayTake, most, everySeconds }: Autoscaler,
): Promise<number> => {
  let taken = 0;
  let next = 0;
  await life.until(
    'the update is over',
    () => {
      if (life.updates().length > 0 && life.seconds >= next && !areOver(life)) {
        next = life.seconds + everySeconds;
        const call = taken < most ? scaleDownCall(life.world, mayTake) : undefined;
        if (call !== undefined) {
          life.fromOutside(call.operation, call.input);
          taken++;
        }
      }
      return areOver(life);
    },
    4 * 3600,
  );
  return taken;
};

const expectWanted = async (life: GroupLife, before: readonly string[]): Promise<void> => {
  expect(latest(life)?.status).toMatchObject({ status: 'Successful' });
  await untilAtRest(life, 3);
  expect(life.group()?.spec.scaling).toEqual({ minSize: 0, maxSize: 12, desired: 3 });
  expect(life.autoScalingGroups()[0]).toMatchObject({ DesiredCapacity: 3, MaxSize: 12 });
  expect(namesOf(life).filter((name) => before.includes(name))).toEqual([]);
  const ours = life.nodes().flatMap((node) => Object.keys(annotationsOf(node)));
  expect(ours.filter((key) => key.includes('scale-down-disabled'))).toEqual([]);
  expect(life.check().violations).toEqual([]);
  await life.end();
};

describe('a cluster autoscaler beside an update', () => {
  it.each(strategies)('of %s finds no node that it may take', async (strategy) => {
    const life = await begin(strategy);
    const before = namesOf(life);
    askFor(life, newest);
    const freeSince = new Map<string, number>();
    // The real autoscaler waits until a node is unneeded for ten minutes; this one, for ten
    // seconds.
    const mayTake = ({ isDisabled, name }: EmptyNode): boolean => {
      const isOfGroup = namesOf(life).includes(name);
      if (isDisabled || !isOfGroup) return false;
      const since = freeSince.get(name) ?? life.seconds;
      freeSince.set(name, since);
      return life.seconds - since >= 10;
    };
    const taken = await updateBeside(life, { mayTake, most: 99, everySeconds: 5 });
    expect(taken).toBe(0);
    await expectWanted(life, before);
  });

  it.each(strategies)('of %s that minds no annotation takes surplus alone', async (strategy) => {
    const life = await begin(strategy);
    const before = namesOf(life);
    const isNew = ({ name }: EmptyNode) =>
      namesOf(life).includes(name) &&
      !before.includes(name) &&
      Number(life.autoScalingGroups()[0]?.DesiredCapacity) > 3;
    askFor(life, newest);
    const taken = await updateBeside(life, { mayTake: isNew, most: 2, everySeconds: 7 });
    if (strategy === 'MINIMAL') expect(taken).toBe(0);
    else expect(taken).toBeGreaterThan(0);
    await expectWanted(life, before);
  });

  it.each(strategies)('of %s: a value that people gave the annotation comes back', async (of) => {
    const life = await begin(of);
    const [first, second] = namesOf(life);
    life.annotate(first ?? '', { [autoscalerAnnotation]: 'false' });
    life.annotate(second ?? '', { [autoscalerAnnotation]: 'true' });
    askFor(life, newest);
    const phase = of === 'MINIMAL' ? 'Rolling' : 'ScalingUp';
    await life.until(phase, () => latest(life)?.status?.phase === phase, 600);
    const valuesOf = () =>
      new Map(
        life.nodes().map((node) => [String(objectOr(node.metadata).name), annotationsOf(node)]),
      );
    await life.until(
      'all are annotated',
      () => [...valuesOf().values()].every((one) => one[autoscalerAnnotation] === 'true'),
      60,
    );
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
    await life.until('it is over', () => areOver(life), 4 * 3600);
    const values = valuesOf();
    for (const [name, value] of [
      [first, 'false'],
      [second, 'true'],
    ] as const) {
      const own = values.get(name ?? '');
      // A node that was already drained is deleted, and its annotation with it.
      if (own === undefined) continue;
      expect(Object.entries(own).filter(([key]) => key.includes('scale-down'))).toEqual([
        [autoscalerAnnotation, value],
      ]);
    }
    expect(values.has(first ?? '') || values.has(second ?? '')).toBe(true);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });
});
