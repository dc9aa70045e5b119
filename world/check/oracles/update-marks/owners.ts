// Who set each scale-down-disabled annotation and each suspended process, by requests and calls.
// Judges nothing.
import type { JsonObject } from '../../../../src/api/json.ts';
import { objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import { textOf } from '../../state/read.ts';
import type { UpdateState } from '../../state/updates.ts';

export const scaleDownDisabled = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';

/** `shared`: others also set it while the controller did, or just before. */
interface Owned {
  readonly by: 'us' | 'other' | 'shared';
  readonly at: number;
}

/** The owner of each annotation or suspension, by key. */
class Owners {
  readonly #owned = new Map<string, Owned>();
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  of(key: string): Owned | undefined {
    return this.#owned.get(key);
  }

  set(key: string, isOurs: boolean): void {
    const { now } = this.#context.book;
    const known = this.#owned.get(key);
    const mine = isOurs ? 'us' : 'other';
    const by = known === undefined || known.by === mine ? mine : 'shared';
    if (known?.by !== by) this.#owned.set(key, { by, at: now });
  }

  /** Returns true if the controller removed what others had set, and could have known. */
  take(key: string, isOurs: boolean): boolean {
    const { now, lagMicros } = this.#context.book;
    const known = this.#owned.get(key);
    this.#owned.delete(key);
    return isOurs && known?.by === 'other' && now - known.at > lagMicros;
  }
}

/** What the watchers of this oracle share. */
export interface Remains {
  /** By uid of the node. */
  readonly annotations: Owners;
  /** By Auto Scaling group and process: `group process`. */
  readonly processes: Owners;
  /** NodeGroup objects by name. */
  readonly groups: Map<string, JsonObject>;
}

export const newRemains = (context: Context): Remains => ({
  annotations: new Owners(context),
  processes: new Owners(context),
  groups: new Map(),
});

/** The Auto Scaling group of a NodeGroup. */
export const autoScalingGroupOf = ({ spec, status }: JsonObject): string =>
  textOf(objectOr(status).autoScalingGroupName ?? objectOr(spec).autoScalingGroupName);

/** The open update of the node group with this Auto Scaling group. */
export const openUpdateOf = (
  { book }: Context,
  { groups }: Remains,
  autoScalingGroup: string,
): UpdateState | undefined => {
  for (const [nodeGroup, object] of groups) {
    if (autoScalingGroupOf(object) === autoScalingGroup) return book.updates.openOf(nodeGroup);
  }
  return undefined;
};
