// Validating and mutating webhook configurations: refuses what a real API server refuses, with its
// messages. They are stored and listed; no webhook is ever called.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Strategy } from '../definition.ts';
import { listOf, numberOf, objectsOf, textOf, textsOf } from '../objects.ts';
import {
  duplicateValue,
  type FieldError,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';

const reviewVersions = ['v1', 'v1beta1'];
const sideEffects = ['None', 'NoneOnDryRun'];
const longestTimeoutSeconds = 30;
const leastLabels = 3;

const clientTroubles = (config: JsonObject, path: string): readonly FieldError[] => {
  const isOne = (config.url === undefined) !== (config.service === undefined);
  if (!isOne) return [requiredValue(path, 'exactly one of url or service is required')];
  const url = textOf(config.url);
  if (url === undefined || url.startsWith('https://')) return [];
  const scheme = /^(\w+):/.exec(url)?.[1] ?? '';
  const why = `'https' is the only allowed URL scheme; desired format: https://host[/path]`;
  return [invalidValue(`${path}.url`, scheme, why)];
};

const ruleTroubles = (rule: JsonObject, path: string): readonly FieldError[] =>
  ['operations', 'apiGroups', 'apiVersions', 'resources'].flatMap((field) =>
    listOf(rule[field]).length > 0 ? [] : [requiredValue(`${path}.${field}`)],
  );

const webhookTroubles = (webhook: JsonObject, path: string): readonly FieldError[] => {
  const errors: FieldError[] = [];
  const name = textOf(webhook.name) ?? '';
  if (name === '') errors.push(requiredValue(`${path}.name`));
  else if (name.split('.').length < leastLabels) {
    const why = 'should be a domain with at least three segments separated by dots';
    errors.push(invalidValue(`${path}.name`, name, why));
  }
  const versions = textsOf(webhook.admissionReviewVersions);
  const at = `${path}.admissionReviewVersions`;
  if (versions.length === 0) {
    errors.push(requiredValue(at, `must specify one of ${reviewVersions.join(', ')}`));
  } else if (!versions.some((one) => reviewVersions.includes(one))) {
    const why = `must include at least one of ${reviewVersions.join(', ')}`;
    errors.push(invalidValue(at, versions, why));
  }
  errors.push(
    ...objectsOf(webhook.rules).flatMap((rule, i) => ruleTroubles(rule, `${path}.rules[${i}]`)),
  );
  const effects = textOf(webhook.sideEffects);
  if (effects === undefined) {
    const why = `must specify one of ${sideEffects.join(', ')}`;
    errors.push(requiredValue(`${path}.sideEffects`, why));
  } else if (!sideEffects.includes(effects)) {
    errors.push(unsupportedValue(`${path}.sideEffects`, effects, sideEffects));
  }
  const timeout = numberOf(webhook.timeoutSeconds);
  if (timeout !== undefined && (timeout < 1 || timeout > longestTimeoutSeconds)) {
    const why = 'the timeout value must be between 1 and 30 seconds';
    errors.push(invalidValue(`${path}.timeoutSeconds`, timeout, why));
  }
  return [...errors, ...clientTroubles(objectOr(webhook.clientConfig), `${path}.clientConfig`)];
};

export const webhookStrategy: Strategy = {
  validate: (configuration) => {
    const webhooks = objectsOf(configuration.webhooks);
    const names = webhooks.map(({ name }) => textOf(name) ?? '');
    return webhooks.flatMap((webhook, index) => {
      const path = `webhooks[${index}]`;
      const name = names[index] ?? '';
      const isSecond = name !== '' && names.indexOf(name) < index;
      return [
        ...webhookTroubles(webhook, path),
        ...(isSecond ? [duplicateValue(`${path}.name`, name)] : []),
      ];
    });
  },
};
