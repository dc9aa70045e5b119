// What passes remember between each other, per name. A group of the same name that is another
// object starts with empty memory. No memory outlives its group.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { PassMemory } from './pass-input.ts';

export class PassMemories {
  readonly #known = new Map<string, { readonly uid: string; readonly memory: PassMemory }>();

  of({ metadata: { name, uid }, status }: Pick<NodeGroup, 'metadata' | 'status'>): PassMemory {
    const known = this.#known.get(name);
    if (known?.uid === uid) return known.memory;
    const memory: PassMemory = {
      actedAt: 0,
      lookedAt: 0,
      trouble: new Map(),
      nodeUids: new Map(),
      left: new Map(),
      held: new Map(),
      lateCall: {},
      // A status is written before the group is created, so without one there is no group.
      ...(status === undefined ? { absence: 'never-made' } : {}),
    };
    this.#known.set(name, { uid, memory });
    return memory;
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}

/** The group was created, or may be created without this process knowing. */
export const mayBeMade = (memory: PassMemory): void => {
  if (memory.absence === 'never-made') delete memory.absence;
};

/**
 * A group counts as gone if it is missing from every answer for this long: EC2 Auto Scaling is
 * eventually consistent.
 */
const missingForMs = 60_000;

/**
 * Whether the group, if not `found`, has been missing long enough to count as gone. Remembers since
 * when.
 */
export const isMissingFor = (memory: PassMemory, found: unknown, now: EpochMs): boolean => {
  if (found !== undefined) {
    delete memory.missingSince;
    mayBeMade(memory);
    return false;
  }
  memory.missingSince ??= now;
  return now - memory.missingSince >= missingForMs;
};

type Seen = Pick<NodeGroup, 'status'>;

/**
 * The status has recorded an Auto Scaling group. A single answer without the group proves nothing,
 * while the record remains.
 */
export const wasSeen = ({ status }: Seen): boolean =>
  status?.nodeMarks !== undefined || (status?.instances ?? 0) > 0;

/**
 * Whether an Auto Scaling group may exist although this answer lacks it, for a group that is being
 * deleted. A group that Drover deleted, or never created, is gone immediately. A process that knows
 * neither keeps reading for a minute.
 */
export const mayStand = (
  memory: PassMemory,
  group: Seen,
  found: unknown,
  now: EpochMs,
): boolean => {
  const isMissing = isMissingFor(memory, found, now);
  if (isMissing || found !== undefined || memory.absence === 'deleted') return false;
  return memory.absence !== 'never-made' || wasSeen(group);
};

/**
 * Records that the group may exist from now on. The caller calls the result to revert that if AWS
 * refused the request.
 */
export const askedFor = (memory: PassMemory): (() => void) => {
  const { absence, missingSince } = memory;
  delete memory.absence;
  delete memory.missingSince;
  return () => {
    if (absence !== undefined) memory.absence = absence;
    if (missingSince !== undefined) memory.missingSince = missingSince;
  };
};
