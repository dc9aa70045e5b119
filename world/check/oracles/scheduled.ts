// The part of `messages-are-durable` about scheduled events of EC2. The journal must record
// maintenance with or without a message of AWS Health, and withdraw it when EC2 cancels it.
import type { TraceEntry } from '../../../src/api/trace.ts';
import type { Context } from '../oracle.ts';
import { microsPerMinute, textOf } from '../state/read.ts';

type Fault = Extract<TraceEntry, { readonly kind: 'fault' }>;
type Lifecycle = Extract<TraceEntry, { readonly kind: 'lifecycle' }>;

/** The controller polls the second source every minute; five polls are enough under any fault. */
const noticedWithinMicros = 5 * microsPerMinute;

interface Scheduled {
  readonly instanceId: string;
  readonly at: number;
  /** The instance was in service when EC2 scheduled the event, so a cause must record it. */
  readonly isOwed: boolean;
  /** Completed or cancelled. */
  overAt: number | undefined;
}

/** Handlers for the watchers of the oracle. */
export interface ScheduledWatch {
  fault(entry: Fault): void;
  lifecycle(entry: Lifecycle): void;
  end(): void;
}

export const watchScheduled = ({ book, saw, report }: Context): ScheduledWatch => {
  const events = new Map<string, Scheduled>();
  /** When the instance left InService; no cause is required after that. */
  const leftAt = new Map<string, number>();

  const causesOf = (instanceId: string) =>
    (book.disruptions.ofInstance(instanceId)?.causes ?? []).filter(
      ({ kind }) => kind === 'Maintenance',
    );
  const servesUntil = (instanceId: string): number => {
    const instance = book.cloud.instances.get(instanceId);
    if (instance === undefined || !book.isManaged(instance.group)) return 0;
    const { endedAt } = book.facts;
    return Math.min(leftAt.get(instanceId) ?? endedAt, instance.deadAt ?? endedAt, endedAt);
  };
  const heard = ({ instanceId, at, isOwed, overAt }: Scheduled): void => {
    if (!isOwed) return;
    const until = Math.min(servesUntil(instanceId), overAt ?? book.facts.endedAt);
    if (until - at < noticedWithinMicros) return;
    saw();
    if (causesOf(instanceId).length > 0) return;
    const message = 'EC2 scheduled an event for it, and no NodeDisruption ever said so';
    report({ at, subject: instanceId, message });
  };
  const forgotten = ({ instanceId, isOwed, overAt }: Scheduled): void => {
    const stands = [...events.values()].some(
      (other) => other.instanceId === instanceId && other.overAt === undefined,
    );
    if (!isOwed || overAt === undefined || stands) return;
    if (servesUntil(instanceId) - overAt < noticedWithinMicros) return;
    saw();
    if (causesOf(instanceId).every(({ isCancelled }) => isCancelled)) return;
    const message = 'its scheduled event is over, and the cause was never withdrawn';
    report({ at: overAt, subject: instanceId, message });
  };

  return {
    fault: ({ at, what, facts }) => {
      const [id, instanceId] = [textOf(facts?.id), textOf(facts?.instanceId)];
      if (id === '' || instanceId === '') return;
      const known = events.get(id);
      if (known !== undefined) {
        if (what === 'off') known.overAt ??= at;
        return;
      }
      const isOwed = book.cloud.instances.get(instanceId)?.state === 'InService';
      events.set(id, { instanceId, at, isOwed, overAt: undefined });
    },
    lifecycle: ({ instanceId, state, at }) => {
      if (state !== 'InService' && !leftAt.has(instanceId)) leftAt.set(instanceId, at);
      if (state === 'InService') leftAt.delete(instanceId);
    },
    end: () => {
      for (const event of events.values()) {
        heard(event);
        forgotten(event);
      }
    },
  };
};
