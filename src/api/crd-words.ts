// What `kubectl explain` says of a field: words are woven into a schema by name, and one that names
// no field is an error. Knows nothing of our objects; that no field goes without is a test's
// (test/deploy/crds.test.ts).
import type { Schema } from './crd-schema.ts';
import { isObject } from './json.ts';

/**
 * Per field its sentence, or its sentence and the words of the fields below it; of a list, those of
 * its items.
 */
export interface Words {
  readonly [field: string]: string | readonly [string, Words];
}

/** Lists and maps pass words on to what is in them. */
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
 * The schema with a description on every field that words name. Throws TypeError for a word without
 * a field.
 */
export const withWords = (schema: Schema, words: Words, path = ''): Schema =>
  woven(schema, words, path);

export const taintWords: Words = {
  key: 'Key of the taint, an optional DNS name and / before it.',
  value: 'Value of the taint; absent = empty.',
  effect:
    'What becomes of pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.',
  timeAdded: 'When it was added; Kubernetes fills it in on nodes, here it means nothing.',
};

export const launchTemplateWords: Words = {
  id: 'Id of the launch template (lt-...).',
  name: 'Its name, as a record: the id counts.',
  version: 'A number, $Latest or $Default.',
};

export const issueWords: Words = {
  code: "One of EKS' codes, such as NodeCreationFailure.",
  message: 'What is wrong, in a sentence with its remedy where there is one.',
  resourceIds: 'What it is about: instances, groups, pods, by name or id.',
};

export const conditionWords: Words = {
  type: 'Name of the condition.',
  status: 'True, False or Unknown.',
  reason: 'One word for why.',
  message: 'Why, in a sentence.',
  lastTransitionTime: 'When status last changed.',
  lastHeartbeatTime: 'When it was last looked at, where that is told.',
  observedGeneration: 'The generation of the spec that this was said of.',
};
