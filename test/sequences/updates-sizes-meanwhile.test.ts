// An operator changes the Auto Scaling group's size by one, up or down, right after each effect of
// an update in turn, and by two the other way a few effects later. The requested size, which is
// never the one at the start, is the size after the update, however it ends.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import type { UpdateStrategy } from '../../src/api/nodegroup-update.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import {
  areOver,
  askFor,
  latest,
  makeGroup,
  newest,
  runApp,
  untilAtRest,
} from '../support/update-world.ts';

interface Course {
  readonly strategy: UpdateStrategy;
  /** The phase in which an operator stops the update. */
  readonly stopIn?: string;
  readonly ends: string;
}

interface Told {
  /** One for each state of the group that an effect of the update left. */
  readonly moments: readonly string[];
}

const stateOf = (life: GroupLife): string => {
  const [group = {}] = life.autoScalingGroups();
  const counted = (group.Instances as readonly { readonly LifecycleState: string }[]).filter(
    ({ LifecycleState }) => !LifecycleState.startsWith('Termin'),
  );
  const { status } = life.group() ?? {};
  const causes = [...life.world.kube.readAll({ group: 'drover.dev', resource: 'nodedisruptions' })]
    .flatMap(({ spec }) => objectOr(spec).causes as readonly { readonly followUp: string }[])
    .filter(({ followUp }) => followUp === 'Terminate').length;
  return [
    latest(life)?.status?.phase,
    `desired ${group.DesiredCapacity}`,
    `max ${group.MaxSize}`,
    `instances ${counted.length}`,
    `retiring ${causes}`,
    JSON.stringify(status?.surge ?? {}),
    `told ${status?.desired}`,
  ].join(', ');
};

/** The second change comes so many moments later, about as many as one node's drain has. */
const later = 4;

/** What the desired capacity changes by at the moments (from 1). */
type Changes = ReadonlyMap<number, number>;

/** A course that is stopped has one change: with two, Auto Scaling may end all old nodes before. */
const changesFrom = (nth: number, { stopIn }: Course, first: number): Changes =>
  new Map([[nth, first], ...(stopIn === undefined ? [[nth + later, -2 * first] as const] : [])]);

/** Runs the course with the changes. */
const told = async ({ strategy, stopIn, ends }: Course, changes: Changes): Promise<Told> => {
  const moments: string[] = [];
  let wanted = 2;
  const made: string[] = [];
  let begun = false;
  let last = '';
  const look = (): void => {
    if (!begun || areOver(life)) return;
    const state = stateOf(life);
    if (state === last) return;
    last = state;
    moments.push(state);
    const delta = changes.get(moments.length);
    if (delta === undefined) return;
    wanted += delta;
    made.push(`${delta} at ${state}`);
    const [group = {}] = life.autoScalingGroups();
    life.fromOutside('SetDesiredCapacity', {
      AutoScalingGroupName: String(group.AutoScalingGroupName),
      DesiredCapacity: Number(group.DesiredCapacity) + delta,
    });
  };
  const life: GroupLife = await GroupLife.begin({ afterWrite: look });
  await makeGroup(life, { desired: 2, maxSize: 9 });
  const blueGreen = strategy === 'BLUE_GREEN' ? { blueGreen: { soakSeconds: 30 } } : {};
  life.patch({
    spec: { updateConfig: { updateStrategy: strategy, maxUnavailable: 1, ...blueGreen } },
  });
  await runApp(life, 3, 1);
  begun = true;
  askFor(life, newest);
  if (stopIn !== undefined) {
    await life.until(
      stopIn,
      () => {
        look();
        return latest(life)?.status?.phase === stopIn;
      },
      7200,
    );
    life.patchUpdate(latest(life)?.metadata.name ?? '', { spec: { abort: 'Stop' } });
  }
  await life.until(
    'it is over',
    () => {
      look();
      return areOver(life);
    },
    4 * 3600,
  );
  begun = false;
  const at = made.join('; ');
  expect(latest(life)?.status?.status, at).toBe(ends);
  await untilAtRest(life, wanted).catch(() => {});
  const [group] = life.autoScalingGroups();
  const { spec, status } = life.group() ?? {};
  const end = { ...spec?.scaling, group: group?.DesiredCapacity, surge: status?.surge };
  expect(JSON.stringify(end), at).toBe(
    JSON.stringify({ minSize: 0, maxSize: 9, desired: wanted, group: wanted }),
  );
  expect(life.check().violations, at).toEqual([]);
  await life.end();
  return { moments };
};

const courses: Readonly<Record<string, Course>> = {
  'of blue/green': { strategy: 'BLUE_GREEN', ends: 'Successful' },
  'of blue/green that goes back': { strategy: 'BLUE_GREEN', stopIn: 'Soaking', ends: 'Cancelled' },
  'of blue/green that is stopped in its end': {
    strategy: 'BLUE_GREEN',
    stopIn: 'ScalingDown',
    ends: 'Cancelled',
  },
  'of SURGE': { strategy: 'SURGE', ends: 'Successful' },
  'of SURGE that is stopped': { strategy: 'SURGE', stopIn: 'Rolling', ends: 'Cancelled' },
  'of DEFAULT': { strategy: 'DEFAULT', ends: 'Successful' },
  'of DEFAULT that is stopped': { strategy: 'DEFAULT', stopIn: 'Rolling', ends: 'Cancelled' },
};

describe('a size that is set in Auto Scaling while an update runs', () => {
  it.each(Object.entries(courses))(
    'stands after every moment %s',
    async (_, course) => {
      const { moments } = await told(course, new Map());
      // Fewer moments would mean that the course does not exercise all its steps.
      expect(moments.length).toBeGreaterThan(12);
      for (let nth = 1; nth <= moments.length; nth++) {
        // KILLS=all begins with both directions at each moment.
        const firsts = process.env.KILLS === 'all' ? [1, -1] : [nth % 2 === 0 ? 1 : -1];
        for (const first of firsts) await told(course, changesFrom(nth, course, first));
      }
    },
    600_000,
  );
});
