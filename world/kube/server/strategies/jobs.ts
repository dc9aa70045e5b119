// Sets a Job's selector and labels from its uid; checks that a HorizontalPodAutoscaler's minimum
// does not exceed its maximum. Controllers handle schedules, parallelism and metrics.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import type { Strategy } from '../definition.ts';
import { labelsOf, metadataOf, numberOf, specOf, withMetadata } from '../objects.ts';
import { type FieldError, immutableField, invalidValue, requiredValue } from '../status.ts';
import { validatePodSpec } from './pods.ts';

function withOwnSelector(job: JsonObject): JsonObject {
  const spec = specOf(job);
  if (spec.manualSelector === true) return job;
  const { uid = '', name = '' } = metadataOf(job);
  const template = objectOr(spec.template);
  const labels = {
    ...labelsOf(template),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  return {
    ...job,
    spec: {
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: withMetadata(template, { labels }),
    },
  };
}

export const jobStrategy: Strategy = {
  prepareForCreate: withOwnSelector,
  validate: (job) => validatePodSpec(specOf(objectOr(specOf(job).template)), 'spec.template.spec'),
  validateUpdate: (next, old) => {
    const errors: FieldError[] = [];
    for (const field of ['selector', 'template', 'completionMode']) {
      const after = specOf(next)[field];
      if (!values.deepEqual(after, specOf(old)[field])) {
        errors.push(immutableField(`spec.${field}`, after));
      }
    }
    return errors;
  },
};

export const autoscalerStrategy: Strategy = {
  validate: (autoscaler) => {
    const spec = specOf(autoscaler);
    const errors: FieldError[] = [];
    const min = numberOf(spec.minReplicas) ?? 1;
    const max = numberOf(spec.maxReplicas);
    if (min < 1) {
      errors.push(invalidValue('spec.minReplicas', min, 'must be greater than or equal to 1'));
    }
    if (max === undefined) errors.push(requiredValue('spec.maxReplicas'));
    else if (max < min) {
      const message = 'must be greater than or equal to `minReplicas`';
      errors.push(invalidValue('spec.maxReplicas', max, message));
    }
    return errors;
  },
};
