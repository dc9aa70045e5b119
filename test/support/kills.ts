// Kills the process after writes of a story in turn: chooses the writes, and names the one after
// which the story ended differently. Runs no story itself.
import { isObject, type Json } from '../../src/api/json.ts';
import type { Write } from '../../src/sim/ports/network.ts';

/** Fields whose value shows progress; for all other fields only name and type are compared. */
const telling = new Set(['phase', 'status', 'outcome']);
/** Fields that many writes set besides others; they do not distinguish kinds of writes. */
const accompanying = new Set(['conditions', 'observedGeneration', 'resourceVersion', 'message']);
const depth = 3;

const shapeOf = (value: Json | undefined, name: string, left: number): string => {
  if (Array.isArray(value)) {
    return `[${[...new Set(value.map((one) => shapeOf(one, name, left)))].join('|')}]`;
  }
  if (!isObject(value)) return telling.has(name) || value === null ? String(value) : typeof value;
  if (left === 0) return '{}';
  const fields = Object.keys(value).filter((field) => !accompanying.has(field));
  const shapes = fields.toSorted().map((one) => `${one}:${shapeOf(value[one], one, left - 1)}`);
  return `{${shapes.join()}}`;
};

/** Writes of one kind set the same fields of the same resource, whatever their names and times. */
const kindOf = ({ verb, resource, body }: Write): string =>
  `${verb} ${resource} ${shapeOf(body as Json | undefined, '', depth)}`;

/** Asked after each write of a story, in order: whether the process is killed now. */
export interface Kills {
  readonly killsAfter: (write: Write) => boolean;
  /** Kills until now. */
  readonly count: () => number;
}

export const noKills: Kills = { killsAfter: () => false, count: () => 0 };

const isWhole = (): boolean => process.env.KILLS === 'all';

interface KillPoint {
  /** The number of the write, from 1, in the story without kills. */
  readonly nth: number;
  readonly kind: string;
}

interface Choice {
  /** The first write that counts, from 1. */
  readonly first?: number;
  /** Take every write, not only the first of each kind. KILLS=all does so for all stories. */
  readonly isEach?: boolean;
}

/**
 * The first write of each kind: a kill after the same write for another node proves the same. The
 * lives of the simulation kill after any write.
 */
export const killPoints = (
  writes: readonly Write[],
  { first = 1, isEach = isWhole() }: Choice = {},
): readonly KillPoint[] => {
  const seen = new Set<string>();
  return writes.flatMap((write, index) => {
    if (index + 1 < first) return [];
    const kind = kindOf(write);
    const isKnown = seen.has(kind) && !isEach;
    seen.add(kind);
    return isKnown ? [] : [{ nth: index + 1, kind }];
  });
};

/** One kill, after write `nth`. */
const single = (nth: number): Kills => {
  let written = 0;
  return {
    killsAfter: () => ++written === nth,
    count: () => (written >= nth ? 1 : 0),
  };
};

/**
 * A kill after each of the points that the run reaches. A write that an earlier kill caused to be
 * repeated shifts later writes, so a point applies to the first write of its kind from its number
 * on.
 */
const severalOf = (points: readonly KillPoint[]) => {
  const left = new Set(points);
  let written = 0;
  return {
    left,
    killsAfter: (write: Write): boolean => {
      written += 1;
      const kind = kindOf(write);
      const reached = [...left].find((point) => point.nth <= written && point.kind === kind);
      return reached !== undefined && left.delete(reached);
    },
    count: () => points.length - left.size,
  };
};

type KilledStory = (kills: Kills) => Promise<void>;

const killedOnce = async (
  writes: readonly Write[],
  story: KilledStory,
  nth: number,
): Promise<void> => {
  try {
    await story(single(nth));
  } catch (error) {
    const { verb, resource } = writes[nth - 1] ?? {};
    throw new Error(`killed after write ${nth}: ${verb} ${resource}`, { cause: error });
  }
};

const mostTogether = 6;

/**
 * Runs `story` with a kill after each kill point: several kills in a run, as far apart as their
 * number allows, and a run for each point that such a run did not reach. Throws the first failure,
 * named by its single kill if that alone fails too. Throws if there is no write to kill after.
 */
export const killedInTurn = async (
  writes: readonly Write[],
  story: KilledStory,
  { together = mostTogether, ...choice }: Choice & { readonly together?: number } = {},
): Promise<void> => {
  const points = killPoints(writes, choice);
  if (points.length === 0) throw new Error('no write to kill the process after');
  const most = isWhole() ? 1 : together;
  const runs = Math.ceil(points.length / most);
  for (let run = 0; run < runs; run++) {
    const chosen = points.filter((_, index) => index % runs === run);
    const kills = severalOf(chosen);
    let failure: unknown;
    let alone: Iterable<KillPoint> = chosen;
    if (most > 1) {
      failure = await story(kills).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) alone = kills.left;
    }
    for (const { nth } of alone) await killedOnce(writes, story, nth);
    if (failure !== undefined) {
      const numbers = chosen.map(({ nth }) => nth).join(', ');
      throw new Error(`killed after writes ${numbers} of one run`, { cause: failure });
    }
  }
};
