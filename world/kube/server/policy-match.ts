// Whether a request matches a ValidatingAdmissionPolicy or its binding: resource rules, exclusions,
// namespace and object selectors (apiserver's admission/plugin/policy/matching). Evaluates no CEL.
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { UserInfo } from '../../contracts.ts';
import type { ResourceDefinition } from './definition.ts';
import { labelsOf, objectsOf, textOf, textsOf } from './objects.ts';
import { isEmptySelector, labelSelectorMatcher } from './selectors.ts';
import type { Store } from './store.ts';

/** One write as passed to admission. */
export interface Admission {
  readonly definition: ResourceDefinition;
  readonly subresource: string | undefined;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly namespace: string | undefined;
  readonly name: string;
  /** undefined on delete. */
  readonly object: JsonObject | undefined;
  /** Kind of the object when it is not the resource's: Eviction, Binding, Scale. */
  readonly objectKind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly oldObject: JsonObject | undefined;
  readonly user: UserInfo;
  /** The caller is in the process. */
  readonly trusted: boolean;
  readonly dryRun: boolean;
  /** Collects messages for Warning headers. */
  readonly warnings: string[];
}

const namespaces = { group: '', resource: 'namespaces' };

function isAmong(values: Json | undefined, wanted: string): boolean {
  const texts = textsOf(values);
  return texts.includes('*') || texts.includes(wanted);
}

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  const [wantedResource = '', wantedSub] = pattern.split('/', 2);
  const sub = wantedSub ?? '';
  const resourceFits = wantedResource === '*' || wantedResource === resource;
  return resourceFits && (sub === '*' || sub === subresource);
}

function ruleMatches(rule: JsonObject, admission: Admission): boolean {
  const { definition, subresource = '', operation, name } = admission;
  const scope = textOf(rule.scope) ?? '*';
  const names = textsOf(rule.resourceNames);
  return (
    isAmong(rule.operations, operation) &&
    isAmong(rule.apiGroups, definition.group) &&
    isAmong(rule.apiVersions, definition.version) &&
    (scope === '*' || (scope === 'Namespaced') === definition.namespaced) &&
    (names.length === 0 || names.includes(name)) &&
    textsOf(rule.resources).some((each) => resourceMatches(each, definition.resource, subresource))
  );
}

function selects(selector: Json | undefined, labels: JsonObject): boolean {
  if (selector === undefined || selector === null || isEmptySelector(selector)) return true;
  return labelSelectorMatcher(selector)(labels);
}

/**
 * Cluster-scoped objects match every namespace selector; a namespace is matched by its own labels.
 */
function namespaceMatches(selector: Json | undefined, admission: Admission, store: Store): boolean {
  if (admission.definition.resource === 'namespaces' && admission.definition.group === '') {
    const own = admission.object ?? admission.oldObject ?? {};
    return selects(selector, labelsOf(own));
  }
  if (admission.namespace === undefined) return true;
  const namespace = store.get(namespaces, admission.namespace);
  return selects(selector, namespace === undefined ? {} : labelsOf(namespace));
}

/** `rules` of a binding may be missing: then all resources match. */
export function resourcesMatch(
  match: Json | undefined,
  admission: Admission,
  store: Store,
  withoutRules: boolean,
): boolean {
  const given = objectOr(match);
  const objects = [admission.object, admission.oldObject].filter((each) => each !== undefined);
  if (!namespaceMatches(given.namespaceSelector, admission, store)) return false;
  const { objectSelector } = given;
  if (!objects.some((each) => selects(objectSelector, labelsOf(each)))) return false;
  if (objectsOf(given.excludeResourceRules).some((rule) => ruleMatches(rule, admission))) {
    return false;
  }
  const rules = objectsOf(given.resourceRules);
  return rules.length === 0 ? withoutRules : rules.some((rule) => ruleMatches(rule, admission));
}
