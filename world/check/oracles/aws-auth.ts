// Oracle 10, first half: the controller's writes to kube-system/aws-auth keep every entry of others
// and are based on the current version. They authorize the nodes of a group for as long as the
// group has nodes.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { type AwsAuthEntry, awsAuthEntries } from '../../../src/formats/index.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import type { Call, ObjectEntry, Request } from '../state/book.ts';
import { isReleased, objectsOf, textOf } from '../state/read.ts';

const leaving = /^(?:Terminat|Detach|$)/;

/** Comparable form of a role ARN: an assumed role has no path, and case does not matter. */
const comparable = (arn: string): string =>
  arn.toLowerCase().replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

const dataOf = (map: JsonObject): JsonObject => objectOr(map.data);
/** Undefined: unreadable. */
const entriesOf = (map: JsonObject): readonly AwsAuthEntry[] | undefined =>
  awsAuthEntries(textOf(dataOf(map).mapRoles));
const hasRole = (map: JsonObject, role: string): boolean =>
  entriesOf(map)?.some(({ arn }) => arn.toLowerCase() === role) === true;

const covers = (after: AwsAuthEntry, before: AwsAuthEntry): boolean =>
  comparable(after.arn) === comparable(before.arn) &&
  after.username === before.username &&
  before.groups.every((group) => after.groups.includes(group));

const writes = new Set(['create', 'update', 'patch', 'delete']);

class AwsAuth {
  readonly #context: Context;
  #now: JsonObject | undefined;
  /** The map before the current write. */
  #before: JsonObject | undefined;
  /** Roles that the controller added; no other client wrote them earlier. */
  readonly #added = new Set<string>();
  readonly #groups = new Map<string, JsonObject>();
  #foreignAt = Number.NEGATIVE_INFINITY;

  constructor(context: Context) {
    this.#context = context;
  }

  object({ type, resource, object }: ObjectEntry): void {
    const name = textOf(objectOr(object.metadata).name);
    if (resource === 'configmaps' && name === 'aws-auth') this.#now = object;
    if (resource !== 'nodegroups') return;
    if (type === 'DELETED' || isReleased(object)) this.#groups.delete(name);
    else this.#groups.set(name, object);
  }

  request(request: Request): void {
    const { resource, name, code, dryRun, verb } = request;
    if (resource !== 'configmaps' || name !== 'aws-auth' || code >= 300 || dryRun) return;
    // Audit logs also contain reads.
    if (!writes.has(verb)) return;
    const before = this.#before;
    this.#before = this.#now;
    const { book } = this.#context;
    if (!book.isOurs(request)) this.#foreignAt = book.now;
    else if (before !== undefined && this.#now !== undefined && verb !== 'create') {
      this.#judge(before, this.#now, objectOr(request.body));
    }
  }

  #judge(before: JsonObject, after: JsonObject, body: JsonObject): void {
    const { saw, report } = this.#context;
    const tell = (message: string): void => report({ subject: 'aws-auth', message });
    saw();
    if (textOf(objectOr(body.metadata).resourceVersion) === '') {
      tell('written without the version that was read');
    }
    for (const [key, value] of Object.entries(dataOf(before))) {
      if (key !== 'mapRoles' && dataOf(after)[key] !== value) tell(`${key} was changed`);
    }
    const had = entriesOf(before);
    const has = entriesOf(after) ?? [];
    if (had === undefined) {
      tell('written over what nobody can read');
      return;
    }
    for (const entry of had) {
      if (has.some((one) => covers(one, entry))) continue;
      const role = comparable(entry.arn);
      if (!this.#added.has(role)) tell(`lost ${entry.arn}, which is not ours`);
      else if (this.#userOf(role) !== undefined) {
        tell(`took out ${entry.arn}, which node group ${this.#userOf(role)} has nodes of`);
      }
    }
    for (const { arn } of has) {
      if (!had.some((one) => comparable(one.arn) === comparable(arn))) {
        this.#added.add(comparable(arn));
      }
    }
  }

  /** A group with this role that has nodes, or may still get some. */
  #userOf(role: string): string | undefined {
    for (const [name, { spec, status, metadata }] of this.#groups) {
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

  /** Checks that the role of a new group is in aws-auth before its nodes start. */
  call({ operation, input, error, userAgent }: Call): void {
    const { book, saw, report } = this.#context;
    if (operation !== 'CreateAutoScalingGroup' || error !== undefined) return;
    if (!book.isOurs({ userAgent }) || this.#now === undefined) return;
    const tag = objectsOf(input.Tags).find((one) => one.Key === 'eks:nodegroup-name');
    const name = textOf(tag?.Value);
    const group = this.#groups.get(name);
    if (group === undefined || book.now - this.#foreignAt < book.lagMicros) return;
    saw();
    const role = textOf(objectOr(group.spec).nodeRole);
    if (hasRole(this.#now, comparable(role))) return;
    report({ subject: name, message: `its nodes start before ${role} is in aws-auth` });
  }

  end(): void {
    const now = this.#now;
    if (!this.#context.book.facts.settled || now === undefined) return;
    for (const role of this.#added) {
      const isUsed = [...this.#groups.values()].some(
        ({ spec }) => comparable(textOf(objectOr(spec).nodeRole)) === role,
      );
      if (isUsed || !hasRole(now, role)) continue;
      this.#context.report({ subject: 'aws-auth', message: `${role} is left of a deleted group` });
    }
  }
}

export const awsAuth: Oracle = {
  name: 'aws-auth-loses-no-entry',
  what:
    'we add a role to aws-auth before its nodes start and take out only what we added, when ' +
    'they are gone',
  strategies: both,
  needs: ['object', 'request'],
  watch: (context) => {
    const watched = new AwsAuth(context);
    return {
      object: (entry) => watched.object(entry),
      request: (entry) => watched.request(entry),
      call: (entry) => watched.call(entry),
      end: () => watched.end(),
    };
  },
};
