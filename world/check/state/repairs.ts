// NodeRepairs and their groups as the oracles read them: recorded attempts, breakers that blocked a
// repair, and the group's spec, each with its time.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { repairAnnotation, zonalShiftAnnotation } from '../../../src/api/node-repair.ts';
import { autoScalingGroupNameOf, type NodeGroup } from '../../../src/api/nodegroup.ts';
import type { Said } from './health.ts';
import { said } from './health.ts';
import { objectsOf, textOf, timeOf } from './read.ts';
import { modeOf } from './repair-policy.ts';

export interface Attempt {
  readonly action: string;
  readonly causeId: string;
  /** Boot id of the machine at the time of the decision. */
  readonly bootId: string;
  /** When the trace first showed it. */
  readonly at: number;
}

/** Only `Repairs` writes these fields. */
export interface RepairState {
  readonly name: string;
  readonly instanceId: string;
  readonly group: string;
  readonly openedAt: number;
  /**
   * An operator requested the repair: it needs no wait and no finding and may override blockers.
   */
  isRequested: boolean;
  /** Start of the episode, from the spec. */
  readonly unhealthySince: number | undefined;
  phase: string;
  attempts: readonly Attempt[];
  /** Attempts that this version records first. */
  newAttempts: readonly Attempt[];
  findings: ReadonlyMap<string, number>;
  findingsBefore: ReadonlyMap<string, number>;
  blockedBy: readonly string[];
  replacement: string;
  /** When a detached instance is due to end. */
  quarantinedUntil: number | undefined;
  /** The phase in which it ended. */
  endedAs: string;
  goneAt: number | undefined;
}

/** Only `Repairs` writes these fields. */
export interface RepairGroup {
  readonly name: string;
  scalingGroup: string;
  spec: JsonObject;
  /** The previous spec, and when it changed. */
  specBefore: JsonObject;
  specAt: number;
  mode: Said;
  asked: Said;
  /** Zones of the zonal shift that the owner reports; '' for none. */
  shift: Said;
  isDeleting: boolean;
  updating: boolean;
  updatingAt: number;
  /** When a breaker last blocked a repair, and when breakers were first clear since then. */
  heldAt: number;
  closedAt: number | undefined;
}

export const endedPhases: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled']);
export const breakerKinds: ReadonlySet<string> = new Set([
  'groupUnhealthy',
  'zoneOutage',
  'controlPlane',
  'sameSignal',
]);

export const isOpen = ({ phase, goneAt }: RepairState): boolean =>
  goneAt === undefined && !endedPhases.has(phase);
export const isRunning = ({ phase, goneAt }: RepairState): boolean =>
  goneAt === undefined && (phase === 'Repairing' || phase === 'Verifying');

/** Phases of a repair that no breaker blocks and whose node is still unhealthy. */
const stillIll: ReadonlySet<string> = new Set(['Blocked', 'WouldRepair', 'Repairing']);

const newRepair = (name: string, spec: JsonObject, at: number): RepairState => ({
  name,
  instanceId: textOf(spec.instanceId),
  group: textOf(spec.nodeGroup),
  openedAt: at,
  isRequested: false,
  unhealthySince: timeOf(spec.unhealthySince),
  phase: '',
  attempts: [],
  newAttempts: [],
  findings: new Map(),
  findingsBefore: new Map(),
  blockedBy: [],
  replacement: '',
  quarantinedUntil: undefined,
  endedAs: '',
  goneAt: undefined,
});

export class Repairs {
  readonly byName = new Map<string, RepairState>();
  readonly groups = new Map<string, RepairGroup>();

  ofInstance(instanceId: string): readonly RepairState[] {
    return [...this.byName.values()].filter((one) => one.instanceId === instanceId);
  }

  ofGroup(group: string): readonly RepairState[] {
    return [...this.byName.values()].filter((one) => one.group === group);
  }

  apply(type: string, object: JsonObject, at: number): void {
    const name = textOf(objectOr(object.metadata).name);
    const state = this.byName.get(name) ?? newRepair(name, objectOr(object.spec), at);
    this.byName.set(name, state);
    if (type === 'DELETED') {
      state.goneAt = at;
      return;
    }
    state.isRequested = objectOr(object.spec).requested !== undefined;
    const status = objectOr(object.status);
    const wasHeld = state.blockedBy.some((kind) => breakerKinds.has(kind));
    state.phase = textOf(status.phase);
    const known = state.attempts;
    state.attempts = objectsOf(status.attempts).map(
      ({ action, causeId, bootId }) =>
        known.find((one) => one.causeId === causeId) ?? {
          action: textOf(action),
          causeId: textOf(causeId),
          bootId: textOf(bootId),
          at,
        },
    );
    state.newAttempts = state.attempts.filter((one) => one.at === at && !known.includes(one));
    state.findingsBefore = state.findings;
    state.findings = new Map(
      objectsOf(status.findings).map((one) => [textOf(one.condition), timeOf(one.since) ?? 0]),
    );
    state.blockedBy = objectsOf(status.blockedBy).map(({ kind }) => textOf(kind));
    state.replacement = textOf(status.replacement);
    state.quarantinedUntil = timeOf(status.quarantinedUntil);
    if (state.endedAs === '' && endedPhases.has(state.phase)) state.endedAs = state.phase;
    const isHeld = state.blockedBy.some((kind) => breakerKinds.has(kind));
    const group = this.groups.get(state.group);
    if (group === undefined) return;
    if (isHeld) group.heldAt = at;
    const isClosing = wasHeld && !isHeld && stillIll.has(state.phase);
    if (isClosing && group.heldAt > (group.closedAt ?? 0)) group.closedAt = at;
  }

  applyGroup(type: string, object: JsonObject, at: number): void {
    const { name: named, annotations, deletionTimestamp } = objectOr(object.metadata);
    const name = textOf(named);
    if (type === 'DELETED') {
      this.groups.delete(name);
      return;
    }
    const spec = objectOr(object.spec);
    const mode = modeOf(spec);
    const known = this.groups.get(name);
    const asked = textOf(objectOr(annotations)[repairAnnotation]);
    const shift = textOf(objectOr(annotations)[zonalShiftAnnotation]);
    const isDeleting = deletionTimestamp !== undefined;
    const updating = objectOr(object.status).updating !== undefined;
    const scalingGroup = autoScalingGroupNameOf(object as unknown as NodeGroup);
    if (known === undefined) {
      const unsaid = { value: '', at, before: '' };
      this.groups.set(name, {
        name,
        scalingGroup,
        spec,
        specBefore: spec,
        specAt: at,
        mode: { value: mode, at, before: mode },
        asked: said(unsaid, asked, at),
        shift: said(unsaid, shift, at),
        isDeleting,
        updating,
        updatingAt: at,
        heldAt: 0,
        closedAt: undefined,
      });
      return;
    }
    if (spec !== known.spec) {
      known.specBefore = known.spec;
      known.specAt = at;
      known.spec = spec;
    }
    if (updating !== known.updating) known.updatingAt = at;
    known.updating = updating;
    known.mode = said(known.mode, mode, at);
    known.asked = said(known.asked, asked, at);
    known.shift = said(known.shift, shift, at);
    known.isDeleting = isDeleting;
  }
}
