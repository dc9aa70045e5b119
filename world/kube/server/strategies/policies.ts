// ValidatingAdmissionPolicies and bindings: refuses those that cannot be enforced.
// server/policies.ts enforces them.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { celTrouble } from '../../schema/index.ts';
import type { Strategy } from '../definition.ts';
import { objectsOf, specOf, textOf, textsOf } from '../objects.ts';
import { type FieldError, invalidValue, requiredValue } from '../status.ts';

function expressionTroubles(
  list: readonly JsonObject[],
  path: string,
  fields: readonly string[],
): readonly FieldError[] {
  return list.flatMap((item, index) =>
    fields.flatMap((field) => {
      const expression = textOf(item[field]) ?? '';
      const at = `${path}[${index}].${field}`;
      if (expression.trim() === '') {
        return field === 'expression' ? [requiredValue(at, 'expression is not specified')] : [];
      }
      const trouble = celTrouble(expression);
      if (trouble === undefined) return [];
      return [invalidValue(at, expression, `compilation failed: ERROR: <input>:1:1: ${trouble}`)];
    }),
  );
}

function validatePolicy(policy: JsonObject): readonly FieldError[] {
  const spec = specOf(policy);
  const errors: FieldError[] = [];
  if (spec.matchConstraints === undefined) errors.push(requiredValue('spec.matchConstraints'));
  else if (objectsOf(objectOr(spec.matchConstraints).resourceRules).length === 0) {
    errors.push(requiredValue('spec.matchConstraints.resourceRules'));
  }
  const validations = objectsOf(spec.validations);
  if (validations.length === 0 && objectsOf(spec.auditAnnotations).length === 0) {
    const message = 'validations or auditAnnotations must contain at least one item';
    errors.push(requiredValue('spec.validations', message));
  }
  return [
    ...errors,
    ...expressionTroubles(objectsOf(spec.variables), 'spec.variables', ['expression']),
    ...expressionTroubles(objectsOf(spec.matchConditions), 'spec.matchConditions', ['expression']),
    ...expressionTroubles(validations, 'spec.validations', ['expression', 'messageExpression']),
  ];
}

export const policyStrategy: Strategy = { validate: validatePolicy };

const bothMessage =
  'must not contain both Deny and Warn (repeating the same validation failure information in the ' +
  'API response and headers serves no purpose)';

export const policyBindingStrategy: Strategy = {
  validate: (binding) => {
    const spec = specOf(binding);
    const errors: FieldError[] = [];
    if ((textOf(spec.policyName) ?? '') === '') errors.push(requiredValue('spec.policyName'));
    const actions = textsOf(spec.validationActions);
    if (actions.length === 0) errors.push(requiredValue('spec.validationActions'));
    if (actions.includes('Deny') && actions.includes('Warn')) {
      errors.push(invalidValue('spec.validationActions', actions, bothMessage));
    }
    return errors;
  },
};
