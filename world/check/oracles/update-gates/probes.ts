// The conditions of Deployments that health probes read, and whether a step is taken while one
// fails.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Pacing } from '../../state/pacing.ts';
import { keyOf, microsPerSecond, objectsOf, textOf } from '../../state/read.ts';
import { passMicros } from './times.ts';

/** By condition type: its status, and the time since which it has that status. */
type Conditions = ReadonlyMap<string, { readonly status: string; readonly since: number }>;

export class Probes {
  readonly #context: Context;
  readonly #deployments = new Map<string, Conditions>();

  constructor(context: Context) {
    this.#context = context;
  }

  deployment({ metadata, status }: JsonObject): void {
    const { namespace, name } = objectOr(metadata);
    const key = keyOf(textOf(namespace), textOf(name));
    const before = this.#deployments.get(key);
    const now = this.#context.book.now;
    const next = objectsOf(objectOr(status).conditions).map((one) => {
      const known = before?.get(textOf(one.type));
      const is = textOf(one.status);
      const since = known?.status === is ? known.since : now;
      return [textOf(one.type), { status: is, since }] as const;
    });
    this.#deployments.set(key, new Map(next));
  }

  judge(last: Pacing | undefined, subject: string, what: string): void {
    const { book, saw, report } = this.#context;
    for (const { deployment, type, status, intervalMicros } of last?.probes ?? []) {
      const condition = this.#deployments.get(deployment)?.get(type);
      saw();
      if (last === undefined || condition === undefined || condition.status === status) continue;
      const since = Math.max(condition.since, last.since);
      if (book.now - since <= book.lagMicros + passMicros + intervalMicros) continue;
      const seconds = Math.round((book.now - since) / microsPerSecond);
      const message =
        `${what} although the probe of ${type} of ${deployment} ` + `has failed for ${seconds} s`;
      report({ subject, message });
    }
  }
}
