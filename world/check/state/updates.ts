// Version updates of node groups as the oracles read them: what was asked, which phase it said it
// was in and since when, how it ended. Judges nothing.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { numberOf, objectsOf, textOf, textsOf, timeOf } from './read.ts';

export interface Sizes {
  readonly minSize: number;
  readonly maxSize: number;
  /** Absent where nobody stated one. */
  readonly desired: number | undefined;
}

/** Only `Updates` writes it. */
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
  /** What its new nodes are made of: undefined before it is known. */
  target: { readonly imageId: string; readonly templateVersion: string } | undefined;
  isPaused: boolean;
  /** Budgets hold its drains no longer than they are given. */
  isForced: boolean;
  /** What holds it ends by itself then. */
  heldUntil: number;
  /** Processes that it has announced to suspend. */
  suspends: readonly string[];
  isAborted: boolean;
  /** It is being set back. */
  isEnding: boolean;
  /** When it last said that it had come further. */
  movedAt: number;
  progress: string;
  /** When the trace first showed it at work, and as ended. */
  beganAt: number | undefined;
  endedAt: number | undefined;
}

export const sizesOf = (value: unknown): Sizes | undefined => {
  const { minSize, maxSize, desired } = objectOr(value);
  const [min, max] = [numberOf(minSize), numberOf(maxSize)];
  if (min === undefined || max === undefined) return undefined;
  return { minSize: min, maxSize: max, desired: numberOf(desired) };
};

/** A cause of this update; asked for again it has a number behind its name. */
export const isOfUpdate = (
  { name }: Pick<UpdateState, 'name'>,
  { kind, id }: { readonly kind: string; readonly id: string },
): boolean => kind === 'Update' && (id === `update/${name}` || id.startsWith(`update/${name}/`));

export class Updates {
  readonly byName = new Map<string, UpdateState>();

  /** The version update of a group that is under way. */
  openOf(nodeGroup: string): UpdateState | undefined {
    for (const one of this.byName.values()) {
      const isOpen = one.beganAt !== undefined && one.endedAt === undefined;
      if (isOpen && one.nodeGroup === nodeGroup) return one;
    }
    return undefined;
  }

  /** The update that an object is about, as it is now; undefined when it is none of versions. */
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
    // One that waits for another to end has nothing of its own yet.
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
