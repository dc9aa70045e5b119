// The nodes of a run, and which of them takes a pod or is ended as surplus. Pure: what happens to them is the run's.

export interface RunNode {
  readonly name: string;
  readonly zone: string;
  readonly isOld: boolean;
  readonly isReady: boolean;
  state: 'booting' | 'up' | 'draining' | 'gone';
  pods: number[];
  /** Of new nodes: how many pods of each application. */
  readonly perApp: Map<number, number>;
  left: number;
  start: number;
  end: number;
}

/** As kube-scheduler spreads the pods of one owner over hosts. */
export const leastOf = (nodes: readonly RunNode[], app: number): RunNode | undefined => {
  let best: RunNode | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of nodes) {
    if (node.isOld || node.state !== 'up') continue;
    const count = (node.perApp.get(app) ?? 0) * 1_000_000 + node.pods.length;
    if (count >= least) continue;
    best = node;
    least = count;
  }
  return best;
};

/** What Auto Scaling ends: of the zone with most instances the oldest (its default termination policy). */
export const surplusOf = (nodes: readonly RunNode[]): number | undefined => {
  const up = nodes.flatMap(({ state, isOld, zone }, at) =>
    state === 'up' && !isOld ? [{ at, zone }] : [],
  );
  const sizes = new Map<string, number>();
  for (const { zone } of up) sizes.set(zone, (sizes.get(zone) ?? 0) + 1);
  const most = Math.max(...sizes.values());
  return up.find(({ zone }) => sizes.get(zone) === most)?.at;
};
