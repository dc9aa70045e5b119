// The ConfigMap aws-auth as it is and as the last write found it, and the node groups with their
// roles. Judges nothing.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { ObjectEntry, Request } from '../../state/book.ts';
import { isReleased, textOf } from '../../state/read.ts';
import { comparable } from './entries.ts';

const leaving = /^(?:Terminat|Detach|$)/;
const writes = new Set(['create', 'update', 'patch', 'delete']);

export class Roles {
  readonly #context: Context;
  /** The map; undefined: the trace has not shown it. */
  map: JsonObject | undefined;
  /** The map before the current write. */
  #before: JsonObject | undefined;
  /** Roles that the controller added; no other client wrote them earlier. */
  readonly added = new Set<string>();
  readonly groups = new Map<string, JsonObject>();
  foreignAt = Number.NEGATIVE_INFINITY;

  constructor(context: Context) {
    this.#context = context;
  }

  object({ type, resource, object }: ObjectEntry): void {
    const name = textOf(objectOr(object.metadata).name);
    if (resource === 'configmaps' && name === 'aws-auth') this.map = object;
    if (resource !== 'nodegroups') return;
    if (type === 'DELETED' || isReleased(object)) this.groups.delete(name);
    else this.groups.set(name, object);
  }

  /** Returns the map before and after a write of the controller that is to be judged. */
  written(
    request: Request,
  ): { readonly before: JsonObject; readonly after: JsonObject } | undefined {
    const { resource, name, code, dryRun, verb } = request;
    if (resource !== 'configmaps' || name !== 'aws-auth' || code >= 300 || dryRun) return undefined;
    // Audit logs also contain reads.
    if (!writes.has(verb)) return undefined;
    const before = this.#before;
    this.#before = this.map;
    const { book } = this.#context;
    if (!book.isOurs(request)) {
      this.foreignAt = book.now;
      return undefined;
    }
    if (before === undefined || this.map === undefined || verb === 'create') return undefined;
    return { before, after: this.map };
  }

  /** A group with this role that has nodes, or may still get some. */
  userOf(role: string): string | undefined {
    for (const [name, { spec, status, metadata }] of this.groups) {
      if (comparable(textOf(objectOr(spec).nodeRole)) !== role) continue;
      if (textOf(objectOr(metadata).deletionTimestamp) === '') return name;
      const group = textOf(objectOr(status).autoScalingGroupName);
      const { instances } = this.#context.book.cloud;
      for (const one of instances.values()) {
        if (one.group === group && !leaving.test(one.state)) return name;
      }
    }
    return undefined;
  }
}
