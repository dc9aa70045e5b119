// RBAC: evaluates Roles and ClusterRoles through their bindings for reviews, and enforces them on
// requests from outside (plugin/pkg/auth/authorizer/rbac). Kubelets are also authorized by their
// node's pods. Members of system:masters may do everything; writing roles is not checked for
// privilege escalation.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import type { Attributes, Verdict } from './authorization.ts';
import { judgeNode, nodeOfUser } from './node-authorizer.ts';
import { objectsOf, type Stored, textOf, textsOf } from './objects.ts';
import { rulesWithoutRoles } from './rbac-defaults.ts';
import { type ApiError, forbidden } from './status.ts';
import type { Store } from './store.ts';

const group = 'rbac.authorization.k8s.io';
const resources = {
  roles: { group, resource: 'roles' },
  clusterRoles: { group, resource: 'clusterroles' },
  roleBindings: { group, resource: 'rolebindings' },
  clusterRoleBindings: { group, resource: 'clusterrolebindings' },
} as const;

interface Grant {
  readonly rules: readonly JsonObject[];
  /** `ClusterRoleBinding "b" of ClusterRole "view" to User "alice"` */
  readonly by: string;
}

const among = (values: readonly string[], wanted: string): boolean =>
  values.includes('*') || values.includes(wanted);

function allows(rule: JsonObject, wanted: Attributes): boolean {
  const full =
    wanted.subresource === undefined ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const listed = textsOf(rule.resources);
  const names = textsOf(rule.resourceNames);
  return (
    among(textsOf(rule.verbs), wanted.verb) &&
    among(textsOf(rule.apiGroups), wanted.group) &&
    (among(listed, full) ||
      (wanted.subresource !== undefined && listed.includes(`*/${wanted.subresource}`))) &&
    (names.length === 0 || names.includes(wanted.name ?? selectedName(wanted)))
  );
}

/**
 * A list or watch of one object by name counts as a request for it (apiserver's requestinfo.go).
 */
const selectedName = ({ fieldSelector = '' }: Attributes): string =>
  /^metadata\.name={1,2}([^,=]+)$/.exec(fieldSelector)?.[1] ?? '';

const allowsPath = (rule: JsonObject, verb: string, path: string): boolean =>
  among(textsOf(rule.verbs), verb) &&
  textsOf(rule.nonResourceURLs).some(
    (url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))),
  );

/** The subject of a binding that matches this user, in the form of refusals and reviews. */
function subjectOf(binding: Stored, user: UserInfo): string | undefined {
  for (const subject of objectsOf(binding.subjects)) {
    const name = textOf(subject.name) ?? '';
    if (subject.kind === 'User' && name === user.username) return `User "${name}"`;
    if (subject.kind === 'Group' && user.groups.includes(name)) return `Group "${name}"`;
    const namespace = textOf(subject.namespace) ?? binding.metadata.namespace ?? '';
    const account = `system:serviceaccount:${namespace}:${name}`;
    if (subject.kind === 'ServiceAccount' && account === user.username) {
      return `ServiceAccount "${name}/${namespace}"`;
    }
  }
  return undefined;
}

export const mayDoEverything = (user: UserInfo): boolean => user.groups.includes('system:masters');

/** One user's grants in one namespace, and the roles in bindings that do not exist. */
interface Grants {
  readonly list: readonly Grant[];
  readonly missing: readonly string[];
}

/** Number of (user, namespace) pairs whose grants are cached until a role or binding changes. */
const rememberedGrants = 4096;

/** A ClusterRole that an EKS access policy grants a user, everywhere or in some namespaces. */
export interface AccessPolicy {
  /** ARN. */
  readonly policy: string;
  readonly clusterRole: string;
  readonly namespaces: readonly string[] | undefined;
}

export type AccessPolicies = (user: UserInfo) => readonly AccessPolicy[];

export class Rbac {
  readonly #store: Store;
  readonly #policies: AccessPolicies;
  readonly #known = new Map<string, Grants>();

  constructor(store: Store, policies: AccessPolicies = () => []) {
    this.#store = store;
    this.#policies = policies;
    const forget = (): void => this.#known.clear();
    for (const resource of Object.values(resources)) store.onChange(resource, forget);
  }

  judge(user: UserInfo, wanted: Attributes): Verdict {
    if (mayDoEverything(user)) return { allowed: true, reason: '' };
    const node = nodeOfUser(user);
    const asNode = node === undefined ? undefined : judgeNode(this.#store, node, wanted, allows);
    if (asNode?.allowed === true) return asNode;
    const { list, missing } = this.#grants(user, wanted.namespace);
    for (const { rules, by } of list) {
      if (rules.some((rule) => allows(rule, wanted))) {
        return { allowed: true, reason: by === '' ? '' : `RBAC: allowed by ${by}` };
      }
    }
    for (const { rules, by } of this.#byPolicy(user, wanted.namespace)) {
      if (rules.some((rule) => allows(rule, wanted))) {
        return { allowed: true, reason: `EKS Access Policy: allowed by ${by}` };
      }
    }
    const roles = missing.length === 0 ? '' : `RBAC: ${listed(missing)}`;
    const reasons = [asNode?.reason ?? '', roles].filter((reason) => reason !== '');
    return { allowed: false, reason: reasons.join(', ') };
  }

  judgePath(user: UserInfo, verb: string, path: string): Verdict {
    const allowed =
      mayDoEverything(user) ||
      [...this.#grants(user, undefined).list, ...this.#byPolicy(user, undefined)].some(
        ({ rules }) => rules.some((rule) => allowsPath(rule, verb, path)),
      );
    return { allowed, reason: '' };
  }

  /** Every rule that applies to the user in the namespace. */
  rules(user: UserInfo, namespace: string | undefined): readonly JsonObject[] {
    const grants = [...this.#grants(user, namespace).list, ...this.#byPolicy(user, namespace)];
    return grants.flatMap(({ rules }) => rules);
  }

  #byPolicy(user: UserInfo, namespace: string | undefined): readonly Grant[] {
    return this.#policies(user)
      .filter(({ namespaces }) => namespaces === undefined || namespaces.includes(namespace ?? ''))
      .map(({ policy, clusterRole }) => ({
        rules: objectsOf(this.#store.get(resources.clusterRoles, clusterRole)?.rules),
        by: `ClusterRoleBinding "${policy}" of ClusterRole "${policy}" to User "${user.username}"`,
      }));
  }

  /** Throws the API server's refusal. */
  enforce(user: UserInfo, wanted: Attributes): void {
    const verdict = this.judge(user, wanted);
    if (!verdict.allowed) throw refused(user, wanted, verdict.reason);
  }

  #grants(user: UserInfo, namespace: string | undefined): Grants {
    const key = [namespace ?? '', user.username, ...user.groups].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const grants = this.#find(user, namespace);
    if (this.#known.size >= rememberedGrants) this.#known.clear();
    this.#known.set(key, grants);
    return grants;
  }

  #find(user: UserInfo, namespace: string | undefined): Grants {
    const grants: Grant[] = [];
    const missing: string[] = [];
    // Once the default roles are stored, they grant these rules themselves.
    const isBare =
      this.#store.get(resources.clusterRoleBindings, 'system:basic-user') === undefined;
    if (isBare) grants.push({ rules: rulesWithoutRoles(user), by: '' });
    const add = (binding: Stored, kind: string, shown: string): void => {
      const subject = subjectOf(binding, user);
      if (subject === undefined) return;
      const ref = objectOr(binding.roleRef);
      const role = textOf(ref.name) ?? '';
      const isRole = ref.kind === 'Role';
      const rules = isRole
        ? this.#store.get(resources.roles, `${binding.metadata.namespace ?? ''}/${role}`)?.rules
        : this.#store.get(resources.clusterRoles, role)?.rules;
      if (rules === undefined) {
        missing.push(`${isRole ? 'role' : 'clusterrole'}.${group} "${role}" not found`);
        return;
      }
      const by = `${kind} "${shown}" of ${textOf(ref.kind) ?? ''} "${role}" to ${subject}`;
      grants.push({ rules: objectsOf(rules), by });
    };
    for (const binding of this.#store.list(resources.clusterRoleBindings)) {
      add(binding, 'ClusterRoleBinding', binding.metadata.name);
    }
    if (namespace === undefined) return { list: grants, missing };
    for (const binding of this.#store.list(resources.roleBindings, namespace)) {
      add(binding, 'RoleBinding', `${binding.metadata.name}/${namespace}`);
    }
    return { list: grants, missing };
  }
}

const listed = (texts: readonly string[]): string =>
  texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;

function refused(user: UserInfo, wanted: Attributes, reason: string): ApiError {
  const { verb, resource, subresource, namespace, name = '' } = wanted;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const more = reason === '' ? '' : `: ${reason}`;
  const why =
    `User "${user.username}" cannot ${verb} resource "${what}" ` +
    `in API group "${wanted.group}" ${where}${more}`;
  return forbidden({ group: wanted.group, resource }, name, why);
}
