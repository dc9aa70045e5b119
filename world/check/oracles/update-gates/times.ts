// The windows and freezes of each group, and whether a step falls outside them.
import type { JsonObject } from '../../../../src/api/json.ts';
import { objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import { type Pacing, pacingOf, pacingText } from '../../state/pacing.ts';
import { microsPerSecond, textOf } from '../../state/read.ts';

/** Time between the decision and the write: a pass calls the cloud, reads pods and may retry. */
export const passMicros = 20 * microsPerSecond;

interface Known {
  readonly text: string;
  /** Oldest first; includes versions that a late watch may still show. */
  readonly versions: readonly Pacing[];
}

export class Times {
  readonly #context: Context;
  readonly #groups = new Map<string, Known>();

  constructor(context: Context) {
    this.#context = context;
  }

  group(object: JsonObject): void {
    const name = textOf(objectOr(object.metadata).name);
    const text = pacingText(object);
    const known = this.#groups.get(name);
    if (known?.text === text) return;
    const versions = [...(known?.versions ?? []), pacingOf(object, this.#context.book.now)];
    this.#groups.set(name, { text, versions: versions.slice(-8) });
  }

  newest(nodeGroup: string): Pacing | undefined {
    return this.#groups.get(nodeGroup)?.versions.at(-1);
  }

  /** Versions of the group's pacing that the controller may have known at the decision. */
  #versions(nodeGroup: string, from: number): readonly Pacing[] {
    const all = this.#groups.get(nodeGroup)?.versions ?? [];
    return all.filter((_, i) => (all[i + 1]?.since ?? Number.POSITIVE_INFINITY) >= from);
  }

  judge(nodeGroup: string, subject: string, what: string): void {
    const { book, saw, report } = this.#context;
    const skew = book.facts.clockSkew ?? 0;
    const from = book.now - book.lagMicros - passMicros - skew;
    const versions = this.#versions(nodeGroup, from);
    saw();
    if (versions.every(({ isTimed }) => !isTimed)) return;
    const isOpenNow = versions.every(({ isOpenAt }) => isOpenAt(book.now));
    if (isOpenNow) return;
    const mayBeOpen = (at: number): boolean => versions.some(({ isOpenAt }) => isOpenAt(at));
    // A window may have been open according to a fast clock, or at any time during the pass.
    if (mayBeOpen(book.now + skew)) return;
    for (let at = from; at < book.now + skew; at += microsPerSecond) if (mayBeOpen(at)) return;
    report({ subject, message: `${what} outside the times of node group ${nodeGroup}` });
  }
}
