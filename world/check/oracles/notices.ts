// A notice is a hint: the controller ends no pod for notices alone that the cloud denies. The
// cloud's view comes from its own entries in the trace, never from the journal.
import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { type DisruptionState, endsPod, succeeded } from '../state/book.ts';
import type { InstanceState } from '../state/cloud.ts';
import { type CauseState, inForce, noticeKinds } from '../state/disruptions.ts';
import { textOf } from '../state/read.ts';

const leaving = /Terminat/;
const notSpot = ({ market }: InstanceState): string | undefined =>
  market === 'on-demand' ? 'it is on demand' : undefined;

class Denials {
  readonly #context: Context;
  /** Instances for which EC2 has listed an event, even if it ended or was cancelled. */
  readonly #scheduled = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  scheduled(instanceId: string): void {
    this.#scheduled.add(instanceId);
  }

  /** Why the cloud denies every notice of the node; undefined: at least one may be true. */
  of(one: DisruptionState): string | undefined {
    const { now, lagMicros } = this.#context.book;
    const instance = this.#context.book.cloud.instances.get(one.instanceId);
    if (instance === undefined || one.causes.length === 0) return undefined;
    const believed = inForce(one, { at: now, lagMicros });
    if (believed.some(({ kind }) => !noticeKinds.has(kind))) return undefined;
    const notices = one.causes.filter(({ kind }) => noticeKinds.has(kind));
    const reasons = notices.map((cause) => this.#denial(cause, instance));
    return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
  }

  /** Facts that the trace does not show deny nothing. */
  #denial(cause: CauseState, instance: InstanceState): string | undefined {
    const { kind } = cause;
    if (kind === 'LifecycleHook') {
      const { state } = instance;
      return state === '' || leaving.test(state) ? undefined : `Auto Scaling: ${state}`;
    }
    return kind === 'Maintenance' ? this.#noEvent(cause, instance) : notSpot(instance);
  }

  /** An open window needs no event in EC2's list. A trace without any event has no list. */
  #noEvent(cause: CauseState, { instanceId }: InstanceState): string | undefined {
    const { now } = this.#context.book;
    const [startsAt, endsAt] = [cause.windowStartsAt ?? Infinity, cause.windowEndsAt ?? 0];
    const isOpen = startsAt <= now && now < endsAt;
    if (isOpen || this.#scheduled.size === 0 || this.#scheduled.has(instanceId)) return undefined;
    return 'EC2 has scheduled no event for it';
  }
}

export const notices: Oracle = {
  name: 'unconfirmed-notices-move-nothing',
  what:
    'the controller evicts and deletes no pod of a node if the cloud confirms none of its ' +
    'causes',
  strategies: both,
  needs: ['request', 'object', 'lifecycle'],
  watch: (context) => {
    const { book, saw, report } = context;
    const denials = new Denials(context);
    return {
      fault: ({ facts }) => {
        const instanceId = textOf(objectOr(facts).instanceId);
        if (instanceId !== '') denials.scheduled(instanceId);
      },
      object: (entry) => {
        const one = book.disruptionIn(entry);
        if (one !== undefined && denials.of(one) !== undefined) saw();
      },
      request: (entry) => {
        if (!book.isOurs(entry) || !succeeded(entry) || !endsPod(entry)) return;
        const pod = book.podOf(entry);
        const one = pod && book.disruptionOf(pod);
        const reason = one && denials.of(one);
        if (pod === undefined || one === undefined || reason === undefined) return;
        const message = `sent away for notices of ${one.name} that the cloud denies: ${reason}`;
        report({ subject: pod.key, message });
      },
    };
  },
};
