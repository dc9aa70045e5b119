// What passes remember between each other, one per name: a group of the same name that is another
// object begins anew. Nothing in here outlives the group.
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
