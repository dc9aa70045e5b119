// Counts in which phase of a drain or an update each fault occurred, and how updates ended. A fault
// that never occurred in a phase proves nothing about that phase. Read-only.

import type { World } from '../../../world/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { endedRepairPhases, type NodeRepair } from '../../api/node-repair.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';
import type { NodeGroupUpdateSequence } from '../../api/update-sequence.ts';
import { phaseOf, resources } from './open-work.ts';

type Counts = Record<string, number>;
type Matrix = Record<string, Counts>;

/** All counts only grow. */
export interface Met {
  /** Fault kind -> phase of a drain in which it fired -> count. */
  readonly matrix: Readonly<Record<string, Readonly<Counts>>>;
  readonly phases: Readonly<Counts>;
  /** The same for version updates. */
  readonly updateMatrix: Readonly<Record<string, Readonly<Counts>>>;
  /** `strategy status`, e.g. `SURGE Successful` -> count. */
  readonly updateEnds: Readonly<Counts>;
  /**
   * States that updates reached, e.g. `held by Soak`, `hook preDrain by webhook` -> number of
   * updates or sequences.
   */
  readonly updateWays: Readonly<Counts>;
  /** States that repairs reached, e.g. `blocked by zoneOutage`, `Reboot Succeeded` -> repairs. */
  readonly repairWays: Readonly<Counts>;
}

const add = (counts: Counts, key: string): void => {
  counts[key] = (counts[key] ?? 0) + 1;
};

const meet = (matrix: Matrix, kind: string, phase: string): void => {
  const row = matrix[kind] ?? {};
  matrix[kind] = row;
  add(row, phase);
};

const updateIn = (object: JsonObject): NodeGroupUpdate | undefined => {
  const update = object as unknown as NodeGroupUpdate;
  return update.spec.type === 'VersionUpdate' ? update : undefined;
};

const waysOf = ({ status }: NodeGroupUpdate): readonly string[] => [
  ...(status?.holds ?? []).map(({ kind }) => `held by ${kind}`),
  ...(status?.hooks ?? []).map(
    ({ hook, webhook }) => `hook ${hook} by ${webhook === undefined ? 'Job' : 'webhook'}`,
  ),
  ...(status?.failedNodes ?? []).flatMap(({ outcome }) => (outcome ? [`node ${outcome}`] : [])),
  ...(status?.goesBack === undefined ? [] : ['goes back by itself']),
];

const repairWaysOf = ({ status }: NodeRepair): readonly string[] => {
  if (status === undefined) return [];
  const action = status.attempts?.at(-1)?.action;
  const isOver = endedRepairPhases.includes(status.phase);
  return [
    ...(status.blockedBy ?? []).map(({ kind }) => `blocked by ${kind}`),
    ...(status.phase === 'WouldRepair' ? ['audited'] : []),
    ...(isOver ? [`${action ?? 'nothing'} ${status.phase}`] : []),
  ];
};

export class Meetings implements Met {
  readonly matrix: Matrix = {};
  readonly phases: Counts = {};
  readonly updateMatrix: Matrix = {};
  readonly updateEnds: Counts = {};
  readonly updateWays: Counts = {};
  readonly repairWays: Counts = {};
  readonly #world: World;
  readonly #ended = new Set<string>();
  readonly #told = new Set<string>();

  /** `standing`: faults that are always active; they count for every phase that begins. */
  constructor(world: World, standing: () => readonly string[]) {
    this.#world = world;
    world.kube.onChange(resources.disruptions, ({ object }) => {
      const phase = phaseOf(object);
      add(this.phases, phase);
      for (const kind of standing()) meet(this.matrix, kind, phase);
    });
    world.kube.onChange(resources.updates, ({ object }) => {
      const update = updateIn(object);
      if (update === undefined) return;
      const phase = update.status?.phase ?? 'Pending';
      for (const kind of standing()) meet(this.updateMatrix, kind, phase);
      this.#note(update);
      this.#went(this.updateWays, update.metadata.name, waysOf(update));
    });
    world.kube.onChange(resources.sequences, ({ object }) => {
      const { metadata, status } = object as unknown as NodeGroupUpdateSequence;
      if (status === undefined || status.status === 'InProgress') return;
      this.#went(this.updateWays, metadata.name, [`sequence ended as ${status.status}`]);
    });
    world.kube.onChange(resources.repairs, ({ object }) => {
      const repair = object as unknown as NodeRepair;
      this.#went(this.repairWays, repair.metadata.name, repairWaysOf(repair));
    });
  }

  /** Counts a fault under every phase that a drain or an update is in. */
  fired(kind: string): void {
    const { kube } = this.#world;
    const phases = new Set<string>();
    for (const disruption of kube.readAll(resources.disruptions)) phases.add(phaseOf(disruption));
    if (phases.size === 0) phases.add('none');
    for (const phase of phases) meet(this.matrix, kind, phase);
    const ofUpdates = new Set<string>();
    for (const object of kube.readAll(resources.updates)) {
      const phase = updateIn(object)?.status?.phase;
      if (phase !== undefined) ofUpdates.add(phase);
    }
    for (const phase of ofUpdates) meet(this.updateMatrix, kind, phase);
  }

  /** Counts each state once per object. */
  #went(counts: Counts, name: string, ways: readonly string[]): void {
    for (const way of ways) {
      const told = `${name} ${way}`;
      if (this.#told.has(told)) continue;
      this.#told.add(told);
      add(counts, way);
    }
  }

  #note(update: NodeGroupUpdate): void {
    const status = updateStatusOf(update);
    const { name } = update.metadata;
    if (status === 'InProgress' || this.#ended.has(name)) return;
    this.#ended.add(name);
    add(this.updateEnds, `${update.status?.strategy ?? 'not begun'} ${status}`);
  }
}
