// Which instances a scale-in terminates, and why. First those that run nothing or are unhealthy,
// then in EC2 Auto Scaling's order (user guide, default termination policy). Instances that are
// already draining precede those that serve. Pure.

export interface Candidate {
  readonly instanceId: string;
  readonly zone: string;
  readonly isProtected: boolean;
  /** No pod on the node would have to move to another one. */
  readonly isEmpty: boolean;
  /** In service, healthy for Auto Scaling, its node Ready. */
  readonly isHealthy: boolean;
  /** Its node is already being taken out of service. */
  readonly isDraining: boolean;
  readonly templateVersion: number;
  /** RFC 3339; the empty string sorts first. */
  readonly startedAt: string;
}

export interface Victim {
  readonly instanceId: string;
  /** Half a sentence: how it differs from the instances that stay. */
  readonly why: string;
}

/** How instances of one zone differ, strongest difference first. */
const differences: readonly {
  readonly compare: (a: Candidate, b: Candidate) => number;
  readonly why: string;
}[] = [
  {
    compare: (a, b) => Number(b.isDraining) - Number(a.isDraining),
    why: 'it is being drained anyway',
  },
  {
    compare: (a, b) => a.templateVersion - b.templateVersion,
    why: 'it has the oldest version of the launch template',
  },
  { compare: (a, b) => a.startedAt.localeCompare(b.startedAt), why: 'it is the oldest' },
];

const compare = (a: Candidate, b: Candidate): number => {
  for (const difference of differences) {
    const order = difference.compare(a, b);
    if (order !== 0) return order;
  }
  return a.instanceId.localeCompare(b.instanceId);
};

/** The order in which the pods of instances are read, whatever their zones. */
export const byAge = (candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.toSorted((a, b) => Number(a.isHealthy) - Number(b.isHealthy) || compare(a, b));

/** The first of `pool`, which is not empty, and the difference that decided. */
const firstOf = (
  pool: readonly Candidate[],
  alone: string,
): { readonly one: Candidate; readonly why: string } | undefined => {
  const [one, second] = pool.toSorted(compare);
  if (one === undefined) return undefined;
  if (second === undefined) return { one, why: alone };
  const difference = differences.find((each) => each.compare(one, second) < 0);
  return { one, why: difference?.why ?? alone };
};

const next = (
  left: readonly Candidate[],
): { readonly one: Candidate; readonly why: string } | undefined => {
  const open = left.filter(({ isProtected }) => !isProtected);
  const empty = open.filter(({ isEmpty }) => isEmpty);
  const some = empty.length > 0 ? empty : open;
  const nothing = empty.length > 0 ? 'nothing runs on it that would have to move' : undefined;
  const because = (why: string): string =>
    [nothing, why].filter((part) => part !== undefined && part !== '').join(', ');
  const unhealthy = some.filter(({ isHealthy }) => !isHealthy);
  if (unhealthy.length > 0) {
    const found = firstOf(unhealthy, '');
    return found && { one: found.one, why: because('it is not healthy') };
  }
  const perZone = new Map<string, number>();
  // Protected instances stay, but count for the zone balance.
  for (const { zone } of left) perZone.set(zone, (perZone.get(zone) ?? 0) + 1);
  const most = Math.max(0, ...some.map(({ zone }) => perZone.get(zone) ?? 0));
  const pool = some.filter(({ zone }) => perZone.get(zone) === most);
  const isFuller = pool.length < some.length;
  const found = firstOf(pool, '');
  if (found === undefined) return undefined;
  const zone = isFuller ? `zone ${found.one.zone} has the most instances` : '';
  const why = [zone, found.why].filter((part) => part !== '').join(', ');
  return { one: found.one, why: because(why) };
};

/**
 * At most `count` instances, in the order in which they are terminated; fewer if the rest is
 * protected.
 */
export const chooseForScaleIn = (
  candidates: readonly Candidate[],
  count: number,
): readonly Victim[] => {
  const chosen: Victim[] = [];
  let left = candidates;
  while (chosen.length < count) {
    const victim = next(left);
    if (victim === undefined) break;
    const { one, why } = victim;
    chosen.push({ instanceId: one.instanceId, why });
    left = left.filter((other) => other !== one);
  }
  return chosen;
};
