// Adds the text of `kubectl explain` to the fields of a schema, by name. A text for an unknown
// field is an error. A test checks that every field has a text (test/deploy/crd-words.test.ts).
import type { Schema } from './crd-schema.ts';
import { isObject } from './json.ts';

/**
 * For each field its text, or its text and the texts of the fields below it (of a list: those of
 * its items).
 */
export interface Words {
  readonly [field: string]: string | readonly [string, Words];
}

/** Lists and maps pass the texts on to their elements. */
const woven = (schema: Schema, words: Words, path: string): Schema => {
  for (const key of ['items', 'additionalProperties']) {
    const inner = schema[key];
    if (isObject(inner)) return { ...schema, [key]: woven(inner, words, path) };
  }
  const properties = isObject(schema.properties) ? schema.properties : {};
  const unknown = Object.keys(words).find((field) => properties[field] === undefined);
  if (unknown !== undefined) throw new TypeError(`words for ${path}.${unknown}: no such field`);
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([field, child]) => {
        const said = words[field];
        if (said === undefined || !isObject(child)) return [field, child];
        const [description, below] = typeof said === 'string' ? [said, {}] : said;
        const whole =
          Object.keys(below).length === 0 ? child : woven(child, below, `${path}.${field}`);
        return [field, { description, ...whole }];
      }),
    ),
  };
};

/**
 * The schema with a description for every field that has a text. Throws TypeError for a text
 * without a field.
 */
export const withWords = (schema: Schema, words: Words, path = ''): Schema =>
  woven(schema, words, path);

export const taintWords: Words = {
  key: 'Key of the taint, optionally prefixed with a DNS name and /.',
  value: 'Value of the taint; empty if absent.',
  effect: 'Effect on pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.',
  timeAdded: 'When the taint was added. Kubernetes sets it on nodes; Drover ignores it.',
};

export const launchTemplateWords: Words = {
  id: 'Id of the launch template (lt-...).',
  name: 'Its name, for information; the id is used.',
  version: 'A number, $Latest or $Default.',
};

export const issueWords: Words = {
  code: "One of EKS's codes, such as NodeCreationFailure.",
  message: 'The issue in one sentence, with its remedy if one exists.',
  resourceIds: 'Affected instances, groups or pods, by name or id.',
};

export const conditionWords: Words = {
  type: 'Name of the condition.',
  status: 'True, False or Unknown.',
  reason: 'Reason in one word.',
  message: 'Explanation in one sentence.',
  lastTransitionTime: 'When status last changed.',
  lastHeartbeatTime: 'When the condition was last checked, if known.',
  observedGeneration: 'Generation of the spec that the condition describes.',
};
