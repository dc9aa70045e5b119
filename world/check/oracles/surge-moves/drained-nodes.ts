// An update drains no new node, and no old node before one new node has been Ready.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import type { DisruptionState, NodeState } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';
import { isOfUpdate, type UpdateState } from '../../state/updates.ts';
import { Wanted } from '../../state/wanted.ts';
import { isNew, isRolling, updateOf } from './updates.ts';

class DrainedNodes {
  readonly #context: Context;
  readonly wanted = new Wanted();
  /** `disruption cause` of nodes that an update began to drain. */
  readonly #begun = new Set<string>();
  /** Updates with at least one new node that has been Ready. */
  readonly #joined = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  node(name: string): void {
    const node = this.#context.book.nodes.byName.get(name);
    if (node?.ready !== true) return;
    for (const update of this.#context.book.updates.byName.values()) {
      const isOf = node.nodeGroup === update.nodeGroup && isNew(update, node);
      if (update.endedAt === undefined && isOf) this.#joined.add(update.name);
    }
  }

  /** Called when an update begins to drain a node. */
  begun(one: DisruptionState): void {
    const { book, saw, report } = this.#context;
    const update = updateOf(this.#context, one);
    const cause = one.causes.find((each) => update !== undefined && isOfUpdate(update, each));
    if (update === undefined || cause === undefined || cause.isHolding) return;
    const key = `${one.name} ${cause.id}`;
    if (this.#begun.has(key) || !isRolling(update)) return;
    this.#begun.add(key);
    saw();
    const node = book.nodes.ofInstance(one.instanceId);
    if (node === undefined || book.now - node.joinedAt <= book.lagMicros) return;
    const told = (message: string) => report({ subject: node.name, message });
    if (isNew(update, node)) told('is emptied, and it is new');
    else if (this.#isTooEarly(update, node)) told('is emptied before any new node has been Ready');
  }

  /**
   * Nodes above the desired size may be drained first: an earlier update's surplus, or a lowered
   * size.
   */
  #isTooEarly(update: UpdateState, node: NodeState): boolean {
    if (!node.ready || update.surge === 0 || this.#joined.has(update.name)) return false;
    const { book } = this.#context;
    let old = 0;
    for (const each of book.nodes.byName.values()) {
      if (each.goneAt !== undefined || !each.ready || each.nodeGroup !== update.nodeGroup) continue;
      // A node that was Ready before an update back to its revision appears in no later change.
      if (isNew(update, each)) return false;
      old++;
    }
    const wanted = this.wanted.least(update.nodeGroup, book.now - book.lagMicros);
    return old <= Math.min(update.original?.desired ?? 0, wanted);
  }
}

export const watchDrainedNodes = (context: Context): Watcher => {
  const nodes = new DrainedNodes(context);
  return {
    object: (entry) => {
      const { resource, type, object, at } = entry;
      if (resource === 'nodegroups' && type !== 'DELETED') nodes.wanted.take(object, at);
      if (resource === 'nodes' && type !== 'DELETED') {
        nodes.node(textOf(objectOr(object.metadata).name));
      }
      const one = context.book.disruptionIn(entry);
      if (one !== undefined) nodes.begun(one);
    },
  };
};
