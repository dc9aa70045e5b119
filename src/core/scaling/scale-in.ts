// Which instances go when there are too many. EC2 Auto Scaling's own order (user guide, default
// termination policy), with what is being drained anyway before what still serves. Pure.

export interface Candidate {
  readonly instanceId: string;
  readonly zone: string;
  readonly isProtected: boolean;
  /** In service, healthy for Auto Scaling, its node Ready. */
  readonly isHealthy: boolean;
  /** Somebody is taking its node out of service already. */
  readonly isDraining: boolean;
  readonly templateVersion: number;
  /** RFC 3339; the empty text sorts first. */
  readonly startedAt: string;
}

const compare = (a: Candidate, b: Candidate): number =>
  Number(b.isDraining) - Number(a.isDraining) ||
  a.templateVersion - b.templateVersion ||
  a.startedAt.localeCompare(b.startedAt) ||
  a.instanceId.localeCompare(b.instanceId);

const next = (left: readonly Candidate[]): Candidate | undefined => {
  const open = left.filter(({ isProtected }) => !isProtected);
  const unhealthy = open.filter(({ isHealthy }) => !isHealthy);
  if (unhealthy.length > 0) return unhealthy.toSorted(compare)[0];
  const perZone = new Map<string, number>();
  // Protected instances stay, and count for the balance all the same.
  for (const { zone } of left) perZone.set(zone, (perZone.get(zone) ?? 0) + 1);
  const most = Math.max(0, ...open.map(({ zone }) => perZone.get(zone) ?? 0));
  return open.filter(({ zone }) => perZone.get(zone) === most).toSorted(compare)[0];
};

/** At most `count` instances, in the order in which they go; fewer when the rest is protected. */
export const chooseForScaleIn = (
  candidates: readonly Candidate[],
  count: number,
): readonly string[] => {
  const chosen: string[] = [];
  let left = candidates;
  while (chosen.length < count) {
    const victim = next(left);
    if (victim === undefined) break;
    chosen.push(victim.instanceId);
    left = left.filter((one) => one !== victim);
  }
  return chosen;
};
