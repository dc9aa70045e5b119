// What passes remember between each other, one per name: a group of the same name that is another
// object begins anew. Nothing in here outlives the group.
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
      // Every status comes before what it tells of.
      ...(status === undefined ? { absence: 'never-made' } : {}),
    };
    this.#known.set(name, { uid, memory });
    return memory;
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}

/** Somebody has made it, or may make it that this process knows nothing of. */
export const mayBeMade = (memory: PassMemory): void => {
  if (memory.absence === 'never-made') delete memory.absence;
};

/**
 * A group is gone that is missing from every look for so long: EC2 Auto Scaling's answers are not
 * always of now.
 */
const missingForMs = 60_000;

/**
 * Whether what was looked for and not `found` has been missing for long enough to be gone.
 * Remembers since when.
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
 * The last status tells of an Auto Scaling group: one answer without it says nothing yet, and the
 * status stays.
 */
export const wasSeen = ({ status }: Seen): boolean =>
  status?.nodeMarks !== undefined || (status?.instances ?? 0) > 0;

/**
 * Whether a group that is to end may have an Auto Scaling group that this answer only misses. What
 * we had deleted and what was never made is gone at once; a process that knows neither waits for a
 * minute of looks.
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
 * From now on it may stand, whatever was seen before. Returns what takes that back where it was
 * refused.
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
