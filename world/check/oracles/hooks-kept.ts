// The controller completes its hooks on managed instances or extends them by heartbeats. A hook
// times out only if the controller could not prevent it.
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Wait } from '../state/cloud.ts';
import { microsPerMinute } from '../state/read.ts';

/** With fewer refused attempts, one more attempt could have succeeded. */
const minRefusals = 3;
/** The controller completes the launch of a node within this time after it is Ready. */
const launchPatienceMicros = 5 * microsPerMinute;
/** Faults during which the controller cannot call the cloud. */
const outage = new Set(['cloud-outage', 'process-down']);

interface Range {
  readonly from: number;
  readonly to: number;
}

class Outages {
  readonly #spans: { from: number; to: number }[] = [];
  readonly #open = new Map<string, { from: number; to: number }>();

  note(entry: { readonly fault: string; readonly what: string; readonly at: number }): void {
    if (!outage.has(entry.fault)) return;
    if (entry.what === 'on' && !this.#open.has(entry.fault)) {
      const span = { from: entry.at, to: Number.POSITIVE_INFINITY };
      this.#open.set(entry.fault, span);
      this.#spans.push(span);
    } else if (entry.what === 'off') {
      const span = this.#open.get(entry.fault);
      if (span !== undefined) span.to = entry.at;
      this.#open.delete(entry.fault);
    }
  }

  /** True if outages cover more than half of the range. */
  cover({ from, to }: Range): boolean {
    let down = 0;
    for (const span of this.#spans) {
      down += Math.max(0, Math.min(span.to, to) - Math.max(span.from, from));
    }
    return down * 2 > to - from;
  }
}

/** The controller made at least one call in the range, and all of them failed. */
const allRefused = (
  calls: readonly { readonly at: number; readonly failed: boolean }[],
  range: Range,
): boolean => {
  let failed = 0;
  for (let i = calls.length - 1; i >= 0; i--) {
    const call = calls[i];
    if (call === undefined || call.at <= range.from) break;
    if (call.at > range.to) continue;
    if (!call.failed) return false;
    failed++;
  }
  return failed > 0;
};

/** The cloud refused every call, or an outage covered most of the time. */
const isExcused = (
  { book }: Context,
  outages: Outages,
  hook: { readonly wait: Wait; readonly name: string },
): boolean => {
  const { wait, name } = hook;
  const said = wait.said.get(name);
  const range = { from: said?.okAt ?? wait.startedAt, to: book.now };
  if ((said?.failures ?? 0) >= minRefusals) return true;
  return allRefused(book.cloud.ownCalls, range) || outages.cover(range);
};

const launchMissed = ({ book }: Context, wait: Wait): boolean => {
  const node = book.nodes.ofInstance(wait.instanceId);
  if (node?.readySince === undefined) return false;
  return book.now - Math.max(node.readySince, wait.startedAt) > launchPatienceMicros;
};

export const hooksKept: Oracle = {
  name: 'hooks-never-run-out',
  what: 'the controller completes each of its hooks, or extends it by heartbeats up to its maximum',
  strategies: both,
  needs: ['lifecycle', 'call'],
  watch: (context) => {
    const { book, saw, report } = context;
    const outages = new Outages();
    return {
      fault: (entry) => outages.note(entry),
      lifecycle: (entry) => {
        const { hookEnded, instanceId, autoScalingGroupName } = entry;
        if (hookEnded === undefined) return;
        const wait = book.cloud.instances.get(instanceId)?.wait;
        if (wait === undefined) return;
        const knownAt = wait.startedAt + book.lagMicros;
        if (!book.isOwnHook(autoScalingGroupName, hookEnded.name, knownAt)) return;
        saw();
        if (hookEnded.by !== 'timeout') return;
        if (isExcused(context, outages, { wait, name: hookEnded.name })) return;
        const told = (why: string) =>
          report({ subject: instanceId, message: `${hookEnded.name} ran out ${why}` });
        if (wait.kind === 'terminate') told('and nobody had completed or kept it');
        else if (launchMissed(context, wait)) told('although its node was Ready');
      },
    };
  },
};
