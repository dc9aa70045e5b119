// ValidatingAdmissionPolicies and their bindings, enforced on every write: matching, parameters,
// CEL and the API server's refusal (apiserver's admission/plugin/policy/validating). They take
// effect with the write that stores them; a real server takes part of a second.
import { defined } from '../../../src/api/defined.ts';
import { type Json, type JsonObject, objectOr } from '../../../src/api/json.ts';
import { CelFailure, celObject, evaluateCel } from '../schema/index.ts';
import type { ResourceDefinition } from './definition.ts';
import { labelsOf, objectsOf, type Stored, specOf, textOf, textsOf } from './objects.ts';
import { type Admission, resourcesMatch } from './policy-match.ts';
import { isEmptySelector, labelSelectorMatcher } from './selectors.ts';
import { type ApiError, failure } from './status.ts';
import { objectKey, type Store } from './store.ts';

const group = 'admissionregistration.k8s.io';
const policiesResource = { group, resource: 'validatingadmissionpolicies' };
const bindingsResource = { group, resource: 'validatingadmissionpolicybindings' };
const namespacesResource = { group: '', resource: 'namespaces' };
const maximumMessageBytes = 5 * 1024;

interface Decision {
  readonly message: string;
  readonly reason: string;
}

type Params =
  | { readonly kind: 'ok'; readonly list: readonly (unknown | null)[] }
  | { readonly kind: 'error'; readonly message: string };

const codes: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

export type FindKind = (of: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}) => ResourceDefinition | undefined;

export class Policies {
  readonly #store: Store;
  readonly #findKind: FindKind;

  constructor(store: Store, findKind: FindKind) {
    this.#store = store;
    this.#findKind = findKind;
  }

  /** Throws the first refusal; adds warnings to the request's. */
  admit(admission: Admission): void {
    if (this.#store.count(bindingsResource) === 0) return;
    // Policies do not apply to policies, so that an administrator can always remove one.
    if (admission.definition.group === group) return;
    for (const policy of this.#store.list(policiesResource)) {
      const { matchConstraints } = specOf(policy);
      if (!resourcesMatch(matchConstraints, admission, this.#store, false)) continue;
      for (const binding of this.#store.list(bindingsResource)) {
        if (specOf(binding).policyName !== policy.metadata.name) continue;
        const { matchResources } = specOf(binding);
        if (!resourcesMatch(matchResources, admission, this.#store, true)) continue;
        this.#judge(policy, binding, admission);
      }
    }
  }

  #judge(policy: Stored, binding: Stored, admission: Admission): void {
    const params = this.#params(policy, binding, admission);
    const fails = specOf(policy).failurePolicy !== 'Ignore';
    if (params.kind === 'error') {
      if (!fails) return;
      throw denied(admission, policy, binding, { message: params.message, reason: 'Invalid' });
    }
    const actions = textsOf(specOf(binding).validationActions);
    for (const param of params.list) {
      for (const decision of this.#decisions(policy, admission, param)) {
        if (actions.includes('Warn')) {
          const what = `ValidatingAdmissionPolicy '${policy.metadata.name}'`;
          admission.warnings.push(
            `Validation failed for ${what} with binding '${binding.metadata.name}': ` +
              decision.message,
          );
        }
        if (actions.includes('Deny')) throw denied(admission, policy, binding, decision);
      }
    }
  }

  #params(policy: Stored, binding: Stored, admission: Admission): Params {
    const kind = objectOr(specOf(policy).paramKind);
    const ref = objectOr(specOf(binding).paramRef);
    if (kind.kind === undefined || specOf(binding).paramRef === undefined) {
      return { kind: 'ok', list: [null] };
    }
    const apiVersion = textOf(kind.apiVersion) ?? '';
    const [paramGroup, version] = apiVersion.includes('/')
      ? apiVersion.split('/', 2)
      : ['', apiVersion];
    const gvk = { group: paramGroup ?? '', version: version ?? '', kind: textOf(kind.kind) ?? '' };
    const definition = this.#findKind(gvk);
    if (definition === undefined) {
      const shown = `${apiVersion}, Kind=${gvk.kind}`;
      const why = `failed to find resource referenced by paramKind: '${shown}'`;
      return { kind: 'error', message: `failed to configure policy: ${why}` };
    }
    const trouble = (why: string): Params => ({
      kind: 'error',
      message: `failed to configure binding: ${why}`,
    });
    const own = textOf(ref.namespace) ?? '';
    if (!definition.namespaced && own !== '') {
      return trouble('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    }
    const namespace = own === '' ? admission.namespace : own;
    if (definition.namespaced && namespace === undefined) {
      return trouble(
        'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
      );
    }
    const found = this.#paramObjects(
      definition,
      ref,
      definition.namespaced ? namespace : undefined,
    );
    if (found.length === 0 && ref.parameterNotFoundAction !== 'Allow') {
      return trouble('no params found for policy binding with `Deny` parameterNotFoundAction');
    }
    return { kind: 'ok', list: found.map((each) => celObject(gvk, definition.custom, each)) };
  }

  #paramObjects(
    definition: ResourceDefinition,
    ref: JsonObject,
    namespace: string | undefined,
  ): readonly Stored[] {
    const name = textOf(ref.name) ?? '';
    if (name !== '') {
      const one = this.#store.get(definition.storage, objectKey(namespace, name));
      return one === undefined ? [] : [one];
    }
    const all = this.#store.list(definition.storage, namespace);
    const selector = ref.selector ?? {};
    if (isEmptySelector(selector)) return all;
    const matches = labelSelectorMatcher(selector);
    return all.filter((each) => matches(labelsOf(each)));
  }

  #decisions(policy: Stored, admission: Admission, param: unknown): readonly Decision[] {
    const spec = specOf(policy);
    const fails = spec.failurePolicy !== 'Ignore';
    const context = this.#context(policy, admission, param);
    for (const condition of objectsOf(spec.matchConditions)) {
      const result = evaluateCel(textOf(condition.expression) ?? '', context);
      if (result.kind === 'ok' && result.value !== true) return [];
      if (result.kind === 'error') {
        if (!fails) return [];
        const expression = textOf(condition.expression) ?? '';
        const message = `expression '${expression}' resulted in error: ${result.message}`;
        return [{ message, reason: 'Invalid' }];
      }
    }
    return objectsOf(spec.validations).flatMap((validation) => {
      const expression = (textOf(validation.expression) ?? '').trim();
      const result = evaluateCel(expression, context);
      if (result.kind === 'error') {
        const message = `expression '${expression}' resulted in error: ${result.message}`;
        return fails ? [{ message, reason: 'Invalid' }] : [];
      }
      if (result.value === true) return [];
      const message = messageOf(validation, expression, context);
      return [{ message, reason: textOf(validation.reason) ?? 'Invalid' }];
    });
  }

  #context(
    policy: Stored,
    admission: Admission,
    param: unknown,
  ): Readonly<Record<string, unknown>> {
    const { definition, object, oldObject, namespace } = admission;
    const kind = admission.objectKind ?? definition;
    const custom = admission.objectKind === undefined ? definition.custom : undefined;
    const shown = (each: JsonObject | undefined): unknown =>
      each === undefined ? null : celObject(kind, custom, each);
    const own =
      namespace === undefined ? undefined : this.#store.get(namespacesResource, namespace);
    const namespaceKind = { group: '', version: 'v1', kind: 'Namespace' };
    const variables = {};
    const context = {
      object: shown(object),
      oldObject: shown(oldObject),
      params: param,
      request: celObject({ group: '', version: '', kind: '' }, undefined, requestOf(admission)),
      namespaceObject: own === undefined ? null : celObject(namespaceKind, undefined, own),
      variables,
    };
    for (const variable of objectsOf(specOf(policy).variables)) {
      defineVariable(variables, variable, context);
    }
    return context;
  }
}

/** Evaluated when first read, like upstream's lazy variables. */
function defineVariable(
  variables: object,
  variable: JsonObject,
  context: Readonly<Record<string, unknown>>,
): void {
  const name = textOf(variable.name) ?? '';
  let known: { readonly value: unknown } | undefined;
  Object.defineProperty(variables, name, {
    enumerable: true,
    get: () => {
      if (known !== undefined) return known.value;
      const result = evaluateCel(textOf(variable.expression) ?? '', context);
      if (result.kind === 'error') {
        throw new CelFailure(`composited variable "${name}" fails to evaluate: ${result.message}`);
      }
      known = result;
      return result.value;
    },
  });
}

function messageOf(
  validation: JsonObject,
  expression: string,
  context: Readonly<Record<string, unknown>>,
): string {
  const own = textOf(validation.messageExpression) ?? '';
  const result = own === '' ? undefined : evaluateCel(own, context);
  if (result?.kind === 'ok' && typeof result.value === 'string') {
    const text = result.value.trim();
    if (text !== '' && !text.includes('\n') && text.length <= maximumMessageBytes) return text;
  }
  const plain = (textOf(validation.message) ?? '').trim();
  return plain === '' ? `failed expression: ${expression}` : plain;
}

/** AdmissionRequest as CEL's `request`. */
function requestOf(admission: Admission): JsonObject {
  const { definition, subresource, user, operation, name, namespace, dryRun } = admission;
  const of = { group: definition.group, version: definition.version };
  const kind = admission.objectKind ?? definition;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const resource = { ...of, resource: definition.resource };
  const sub = subresource ?? '';
  return {
    kind: gvk,
    resource,
    ...(sub === '' ? {} : { subResource: sub }),
    requestKind: gvk,
    requestResource: resource,
    ...(sub === '' ? {} : { requestSubResource: sub }),
    ...(name === '' ? {} : { name }),
    ...defined({ namespace }),
    operation,
    userInfo: {
      username: user.username,
      ...defined({ uid: user.uid }),
      groups: user.groups,
      ...(user.extra === undefined ? {} : { extra: user.extra as Json }),
    },
    dryRun,
  };
}

function denied(
  admission: Admission,
  policy: Stored,
  binding: Stored,
  decision: Decision,
): ApiError {
  const { definition, name } = admission;
  const of = definition.group === '' ? '' : `.${definition.group}`;
  const what = `ValidatingAdmissionPolicy '${policy.metadata.name}'`;
  const message =
    `${what} with binding '${binding.metadata.name}' denied ` + `request: ${decision.message}`;
  const code = codes[decision.reason] ?? 422;
  const text = `${definition.resource}${of} "${name}" is forbidden: ${message}`;
  return failure(code, decision.reason, text, {
    name,
    ...(definition.group === '' ? {} : { group: definition.group }),
    kind: definition.resource,
    causes: [{ message }],
  });
}
