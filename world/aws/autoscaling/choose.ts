// Chooses the zone of the next instance, and the instance to terminate at scale-in. Pure decisions,
// tested as tables. Source: Amazon EC2 Auto Scaling user guide, default termination policy and zone
// balance.

export interface ZonePlace {
  readonly zone: string;
  readonly subnetId: string;
}

export interface Candidate {
  readonly instanceId: string;
  readonly zone: string;
  readonly isProtected: boolean;
  readonly joinedAt: number;
  readonly templateVersion: number;
  readonly health: 'Healthy' | 'Unhealthy';
}

/** Order in which to try the places for a launch: zones with the fewest instances first. */
export const launchOrder = (
  places: readonly ZonePlace[],
  zonesOfMembers: readonly string[],
): readonly ZonePlace[] => {
  const count = (zone: string): number => zonesOfMembers.filter((one) => one === zone).length;
  return places
    .map((place, index) => ({ place, index, count: count(place.zone) }))
    .sort((a, b) => a.count - b.count || a.index - b.index)
    .map(({ place }) => place);
};

/**
 * The instance to terminate: unhealthy ones first; then from the zone with the most instances, the
 * oldest template version, the longest in the group. Undefined if all are protected.
 */
export const scaleInChoice = (candidates: readonly Candidate[]): Candidate | undefined => {
  const open = candidates.filter((one) => !one.isProtected);
  const unhealthy = open.filter((one) => one.health === 'Unhealthy');
  if (unhealthy.length > 0) return oldest(unhealthy);
  const perZone = new Map<string, number>();
  for (const { zone } of candidates) perZone.set(zone, (perZone.get(zone) ?? 0) + 1);
  const most = Math.max(...open.map((one) => perZone.get(one.zone) ?? 0));
  return oldest(open.filter((one) => perZone.get(one.zone) === most));
};

const oldest = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.toSorted(
    (a, b) =>
      a.templateVersion - b.templateVersion ||
      a.joinedAt - b.joinedAt ||
      (a.instanceId < b.instanceId ? -1 : 1),
  )[0];
