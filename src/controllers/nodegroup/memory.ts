// What passes remember between each other, one per name: a group of the same name that is another
// object begins anew. Nothing in here outlives the group.
import type { EpochMs } from '../../api/brand.ts';
import type { NodeGroup } from '../../api/nodegroup.ts';
import type { PassMemory } from './pass-input.ts';

export class PassMemories {
  readonly #known = new Map<string, { readonly uid: string; readonly memory: PassMemory }>();

  of({ metadata: { name, uid } }: Pick<NodeGroup, 'metadata'>): PassMemory {
    const known = this.#known.get(name);
    if (known?.uid === uid) return known.memory;
    const memory: PassMemory = {
      actedAt: 0,
      lookedAt: 0,
      trouble: new Map(),
      nodeUids: new Map(),
    };
    this.#known.set(name, { uid, memory });
    return memory;
  }

  forget(name: string): void {
    this.#known.delete(name);
  }
}

/** A group is gone that is missing from every look for so long: EC2 Auto Scaling's answers are not always of now. */
const missingForMs = 60_000;

/** Whether what was looked for and not `found` has been missing for long enough to be gone. Remembers since when. */
export const isMissingFor = (memory: PassMemory, found: unknown, now: EpochMs): boolean => {
  if (found !== undefined) {
    delete memory.missingSince;
    return false;
  }
  memory.missingSince ??= now;
  return now - memory.missingSince >= missingForMs;
};
