// Oracle 9 for version updates: after an update, however it ended, sizes, suspended processes,
// annotations and taints are as they would be without it. It removes no annotation and no
// suspension of others. The author of each comes from requests and calls, never from a status.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { type Call, type Request, succeeded } from '../state/book.ts';
import type { NodeState } from '../state/nodes.ts';
import { numberOf, textOf, textsOf } from '../state/read.ts';
import type { UpdateState } from '../state/updates.ts';

const annotation = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const leaving = /^(?:Terminat|Detach|$)/;

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

class Remains {
  readonly #context: Context;
  readonly #annotations: Owners;
  /** By node: values of the annotation that others set, unless equal to the controller's value. */
  readonly #values = new Map<string, { readonly value: string; readonly at: number }>();
  readonly #processes: Owners;
  readonly #groups = new Map<string, JsonObject>();

  constructor(context: Context) {
    this.#context = context;
    this.#annotations = new Owners(context);
    this.#processes = new Owners(context);
  }

  group(type: string, object: JsonObject): void {
    const name = textOf(objectOr(object.metadata).name);
    if (type === 'DELETED') this.#groups.delete(name);
    else this.#groups.set(name, object);
  }

  request(entry: Request): void {
    const { book, saw, report } = this.#context;
    const { [annotation]: value } = objectOr(objectOr(objectOr(entry.body).metadata).annotations);
    const node = book.nodes.byName.get(entry.name ?? '');
    if (value === undefined || node === undefined) return;
    const isOurs = book.isOurs(entry);
    if (isOurs) saw();
    this.#checkValue(node, value, isOurs);
    // A value set again while the controller's note is on the node is the controller's too.
    if (value !== null && node.shieldedBy !== '') this.#annotations.set(node.uid, true);
    if (value !== null) this.#annotations.set(node.uid, isOurs);
    else if (this.#annotations.take(node.uid, isOurs)) {
      report({ subject: node.name, message: `${annotation} of others was taken away` });
    }
  }

  /** A value that others had set before an update must be restored. */
  #checkValue(node: NodeState, value: unknown, isOurs: boolean): void {
    const { book, report } = this.#context;
    if (!isOurs) {
      if (value === null || (value === 'true' && node.shieldedBy !== '')) {
        this.#values.delete(node.uid);
      } else this.#values.set(node.uid, { value: textOf(value), at: book.now });
      return;
    }
    const known = this.#values.get(node.uid);
    if (known === undefined || book.now - known.at <= book.lagMicros) return;
    // A removal is reported elsewhere.
    if (value === 'true' || value === known.value || known.value === 'true') return;
    const message = `${annotation}=${known.value} of others was not restored`;
    report({ subject: node.name, message });
  }

  call(entry: Call): void {
    const { book, saw, report } = this.#context;
    const group = textOf(entry.input.AutoScalingGroupName);
    const isOurs = book.isOurs(entry);
    const suspends = entry.operation === 'SuspendProcesses';
    for (const one of textsOf(entry.input.ScalingProcesses)) {
      const key = `${group} ${one}`;
      if (isOurs) saw();
      if (entry.error !== undefined) continue;
      // An update in progress has noted the suspension as its own; a second suspension by others
      // leaves no trace on the group.
      if (suspends && this.#isNoted(group, one)) this.#processes.set(key, true);
      if (suspends) this.#processes.set(key, isOurs);
      else if (this.#processes.take(key, isOurs)) {
        report({ subject: group, message: `${one}, which others had suspended, was resumed` });
      }
    }
  }

  #openOf(autoScalingGroup: string): UpdateState | undefined {
    for (const [nodeGroup, { spec, status }] of this.#groups) {
      const told = objectOr(status).autoScalingGroupName ?? objectOr(spec).autoScalingGroupName;
      if (textOf(told) === autoScalingGroup) return this.#context.book.updates.openOf(nodeGroup);
    }
    return undefined;
  }

  #isNoted(autoScalingGroup: string, process: string): boolean {
    return this.#openOf(autoScalingGroup)?.suspends.includes(process) === true;
  }

  #isLeaving({ instanceId }: NodeState, otherwise = 'InService'): boolean {
    const { state = otherwise } = this.#context.book.cloud.instances.get(instanceId) ?? {};
    return leaving.test(state);
  }

  /** The controller may not have seen a node that has just joined when it ended the update. */
  ended(update: UpdateState): void {
    const { book, saw, report } = this.#context;
    const group = this.#groups.get(update.nodeGroup);
    if (group === undefined || objectOr(group.metadata).deletionTimestamp !== undefined) return;
    saw();
    if (book.isBlind) return;
    for (const node of book.nodes.byName.values()) {
      if (node.goneAt !== undefined || book.now - node.joinedAt <= book.lagMicros) continue;
      if (this.#isLeaving(node, '') || node.shieldedBy !== update.name) continue;
      report({ subject: node.name, message: `${update.name} is over, and its annotation stayed` });
    }
  }

  /** Checks what remains after all updates have ended. */
  end(): void {
    this.#endOfNodes();
    for (const [name, group] of this.#groups) this.#endOfGroup(name, group);
  }

  #endOfNodes(): void {
    const { book, saw, report } = this.#context;
    for (const node of book.nodes.byName.values()) {
      if (node.goneAt !== undefined || book.updates.openOf(node.nodeGroup) !== undefined) continue;
      saw();
      // The instance is terminated; the node will be removed.
      if (this.#isLeaving(node)) continue;
      const told = (what: string) =>
        report({ subject: node.name, message: `no update is under way, and our ${what} stayed` });
      if (node.isOutdated) told('taint drover.dev/outdated');
      if (node.awaitedBy !== '') told('taint drover.dev/awaiting-update');
      if (node.shieldedBy !== '') told('drover.dev/scale-down-disabled-by');
      if (node.isKept && this.#annotations.of(node.uid)?.by === 'us') told(annotation);
    }
  }

  #endOfGroup(name: string, { spec, status, metadata }: JsonObject): void {
    const { book, saw, report } = this.#context;
    const own = objectOr(spec);
    const told = textOf(objectOr(status).autoScalingGroupName ?? own.autoScalingGroupName);
    const there = book.cloud.groups.get(told);
    const updates = [...book.updates.byName.values()].some(({ nodeGroup }) => nodeGroup === name);
    const isLeaving = objectOr(metadata).deletionTimestamp !== undefined;
    const isOpen = book.updates.openOf(name) !== undefined;
    if (there === undefined || isLeaving || isOpen || !updates) return;
    saw();
    for (const one of there.suspended) {
      if (this.#processes.of(`${told} ${one}`)?.by !== 'us') continue;
      report({ subject: told, message: `no update is under way, and our ${one} stayed suspended` });
    }
    const { minSize, maxSize } = objectOr(own.scaling);
    const more = numberOf(objectOr(objectOr(status).surge).maxSize) ?? 0;
    const [least, most] = [numberOf(minSize) ?? 0, (numberOf(maxSize) ?? 0) + more];
    if (there.minSize === least && there.maxSize === most) return;
    const is = `${there.minSize} to ${there.maxSize}`;
    report({
      subject: told,
      message: `no update is under way, sizes are ${is}, not ${least} to ${most}`,
    });
  }
}

export const updateMarks: Oracle = {
  name: 'updates-leave-nothing',
  what:
    'at its end an update leaves sizes, processes, annotations and taints as they were, and ' +
    'takes none of others away',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book } = context;
    const remains = new Remains(context);
    const over = new Set<string>();
    return {
      object: (entry) => {
        if (entry.resource === 'nodegroups') remains.group(entry.type, entry.object);
        if (entry.resource !== 'nodegroupupdates' || entry.type === 'DELETED') return;
        const update = book.updates.byName.get(textOf(objectOr(entry.object.metadata).name));
        if (update?.endedAt === undefined || over.has(update.name)) return;
        over.add(update.name);
        if (update.phase !== '') remains.ended(update);
      },
      request: (entry) => {
        if (entry.resource === 'nodes' && succeeded(entry)) remains.request(entry);
      },
      call: (entry) => {
        const isOfProcesses = /^(?:Suspend|Resume)Processes$/.test(entry.operation);
        if (isOfProcesses) remains.call(entry);
      },
      end: () => {
        if (book.facts.settled) remains.end();
      },
    };
  },
};
