// Version updates of node groups as the oracles read them: the spec, each phase with its start, and
// the end. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { numberOf, objectsOf, textOf, textsOf, timeOf } from './read.ts';

export interface Sizes {
  readonly minSize: number;
  readonly maxSize: number;
  /** Absent if the spec states none. */
  readonly desired: number | undefined;
}

/** Only `Updates` writes these fields. */
export interface UpdateState {
  readonly name: string;
  readonly nodeGroup: string;
  status: string;
  phase: string;
  readonly phaseAt: Map<string, number>;
  strategy: string;
  maxUnavailable: number;
  surge: number;
  original: Sizes | undefined;
  /** Image and launch template version of its new nodes; undefined until resolved. */
  target: { readonly imageId: string; readonly templateVersion: string } | undefined;
  isPaused: boolean;
  /** Budgets delay its drains only until their deadline. */
  isForced: boolean;
  /** Time at which the last timed hold expires. */
  heldUntil: number;
  /** Auto Scaling processes that the update has announced to suspend. */
  suspends: readonly string[];
  isAborted: boolean;
  /** The update is restoring the group or ending. */
  isEnding: boolean;
  /** When its progress last changed. */
  movedAt: number;
  progress: string;
  /** When the trace first showed it in progress, and as ended. */
  beganAt: number | undefined;
  endedAt: number | undefined;
}

export const sizesOf = (value: unknown): Sizes | undefined => {
  const { minSize, maxSize, desired } = objectOr(value);
  const [min, max] = [numberOf(minSize), numberOf(maxSize)];
  if (min === undefined || max === undefined) return undefined;
  return { minSize: min, maxSize: max, desired: numberOf(desired) };
};

/** Whether a cause belongs to this update; a repeated cause has a number after its name. */
export const isOfUpdate = (
  { name }: Pick<UpdateState, 'name'>,
  { kind, id }: { readonly kind: string; readonly id: string },
): boolean => kind === 'Update' && (id === `update/${name}` || id.startsWith(`update/${name}/`));

export class Updates {
  readonly byName = new Map<string, UpdateState>();

  /** The version update of a group that is in progress. */
  openOf(nodeGroup: string): UpdateState | undefined {
    for (const one of this.byName.values()) {
      const isOpen = one.beganAt !== undefined && one.endedAt === undefined;
      if (isOpen && one.nodeGroup === nodeGroup) return one;
    }
    return undefined;
  }

  /** The update of this object in its current state; undefined unless it is a version update. */
  apply(type: string, object: JsonObject, at: number): UpdateState | undefined {
    const name = textOf(objectOr(object.metadata).name);
    if (type === 'DELETED') {
      this.byName.delete(name);
      return undefined;
    }
    const spec = objectOr(object.spec);
    if (spec.type !== 'VersionUpdate') return undefined;
    const state = this.byName.get(name) ?? newUpdate(name, textOf(spec.nodeGroup));
    this.byName.set(name, state);
    const status = objectOr(object.status);
    state.status = textOf(status.status);
    state.phase = textOf(status.phase);
    // An update that waits for another one has changed nothing yet.
    const isQueued = state.phase === 'Pending' && status.startedAt === undefined;
    if (state.phase !== '' && !isQueued) {
      state.beganAt ??= at;
      if (!state.phaseAt.has(state.phase)) state.phaseAt.set(state.phase, at);
    }
    state.strategy = textOf(status.strategy) || state.strategy;
    state.maxUnavailable = numberOf(status.maxUnavailable) ?? state.maxUnavailable;
    state.surge = numberOf(status.surge) ?? state.surge;
    state.original = sizesOf(status.original) ?? state.original;
    const { imageId, launchTemplate } = objectOr(status.target);
    if (status.target !== undefined) {
      const templateVersion = textOf(objectOr(launchTemplate).version);
      state.target = { imageId: textOf(imageId), templateVersion };
    }
    const isPaused = spec.paused === true;
    const progress = JSON.stringify([state.phase, status.progress, isPaused, spec.abort]);
    if (progress !== state.progress) state.movedAt = at;
    state.progress = progress;
    state.isPaused = isPaused;
    state.isForced = spec.force === true;
    const ends = objectsOf(status.holds).map(({ until }) => timeOf(until) ?? 0);
    state.heldUntil = Math.max(state.heldUntil, ...ends);
    state.suspends = textsOf(status.suspends);
    state.isAborted = spec.abort !== undefined;
    state.isEnding = status.ending !== undefined || state.phase === 'Restoring';
    const isOver = state.status !== '' && state.status !== 'InProgress';
    if (isOver) state.endedAt ??= at;
    return state;
  }
}

const newUpdate = (name: string, nodeGroup: string): UpdateState => ({
  name,
  nodeGroup,
  status: '',
  phase: '',
  phaseAt: new Map(),
  strategy: '',
  maxUnavailable: 1,
  surge: 0,
  original: undefined,
  target: undefined,
  isPaused: false,
  isForced: false,
  heldUntil: 0,
  suspends: [],
  isAborted: false,
  isEnding: false,
  movedAt: 0,
  progress: '',
  beganAt: undefined,
  endedAt: undefined,
});
