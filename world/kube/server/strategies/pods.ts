// Pods: fields that admission adds, the mutable fields of a running pod, the QoS class and the most
// relevant checks of a pod template. Never decides when a pod is deleted: see deletion.ts.
import { type Json, type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { values } from '../../schema/index.ts';
import type { Strategy, WriteContext } from '../definition.ts';
import { withLimits } from '../limit-ranges.ts';
import { numberOf, objectsOf, type Stored, specOf, textOf, withFields } from '../objects.ts';
import {
  duplicateValue,
  type FieldError,
  forbidden,
  forbiddenValue,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../status.ts';
import { validateContainerPorts, validateHostPorts } from './container-ports.ts';
import { withServiceAccount } from './service-account.ts';

const podsResource = { group: '', resource: 'pods' };
const maxInt32 = 2 ** 31 - 1;
const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
  'and must ' +
  "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for " +
  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Checks of a pod's spec or of a template's, under `path`. */
export function validatePodSpec(spec: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const containers = objectsOf(spec.containers);
  if (containers.length === 0) errors.push(requiredValue(`${path}.containers`));
  const seen = new Set<string>();
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of objectsOf(spec[list]).entries()) {
      const at = `${path}.${list}[${index}]`;
      const name = textOf(container.name) ?? '';
      if (name === '') errors.push(requiredValue(`${at}.name`));
      else if (!label.test(name)) errors.push(invalidValue(`${at}.name`, name, labelMessage));
      else if (seen.has(name)) errors.push(duplicateValue(`${at}.name`, name));
      seen.add(name);
      if ((textOf(container.image) ?? '') === '') errors.push(requiredValue(`${at}.image`));
      errors.push(...validateContainerPorts(container, at));
    }
  }
  errors.push(...validateHostPorts(containers, `${path}.containers`));
  // Init containers run one after another, so each may use every host port.
  for (const container of objectsOf(spec.initContainers)) {
    errors.push(...validateHostPorts([container], `${path}.initContainers`));
  }
  const policy = textOf(spec.restartPolicy);
  const policies = ['Always', 'OnFailure', 'Never'];
  if (policy !== undefined && !policies.includes(policy)) {
    errors.push(unsupportedValue(`${path}.restartPolicy`, policy, policies));
  }
  const deadline = numberOf(spec.activeDeadlineSeconds);
  if (deadline !== undefined && (deadline < 1 || deadline > maxInt32)) {
    const message = `must be between 1 and ${maxInt32}, inclusive`;
    errors.push(invalidValue(`${path}.activeDeadlineSeconds`, deadline, message));
  }
  const grace = numberOf(spec.terminationGracePeriodSeconds);
  if (grace !== undefined && grace < 0) {
    const message = 'must be greater than or equal to 0';
    errors.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, message));
  }
  return errors;
}

const quantityPair = (container: JsonObject, side: 'requests' | 'limits'): JsonObject =>
  objectOr(objectOr(container.resources)[side]);

/** Kubernetes' GetPodQOS over cpu and memory. */
function qosClass(spec: JsonObject): string {
  const containers = [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)];
  let any = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests = quantityPair(container, 'requests');
    const limits = quantityPair(container, 'limits');
    for (const name of ['cpu', 'memory']) {
      const limit = limits[name];
      const request = requests[name] ?? limit;
      if (limit !== undefined || request !== undefined) any = true;
      if (limit === undefined || String(limit) !== String(request)) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** DefaultTolerationSeconds admission: five minutes on a node that is not ready or unreachable. */
const evictionTolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map(
  (key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }),
);

function withDefaultTolerations(spec: JsonObject): JsonObject {
  const tolerations = objectsOf(spec.tolerations);
  const missing = evictionTolerations.filter(
    ({ key }) =>
      !tolerations.some(
        (toleration) =>
          (toleration.key === key || (toleration.key ?? '') === '') &&
          (toleration.effect === 'NoExecute' || (toleration.effect ?? '') === ''),
      ),
  );
  if (missing.length === 0) return spec;
  if (tolerations.length === 0) return { ...spec, tolerations: evictionTolerations };
  return { ...spec, tolerations: [...tolerations, ...missing] };
}

const systemPriorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const priorityClasses = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

/** Priority admission: the class's value, else the global default's, else 0. */
function withPriority(spec: JsonObject, context: WriteContext): JsonObject {
  const className = textOf(spec.priorityClassName) ?? '';
  if (className === '') {
    const standard = context.store
      .list(priorityClasses)
      .find((candidate) => candidate.globalDefault === true);
    const value = standard === undefined ? 0 : (numberOf(standard.value) ?? 0);
    const policy = textOf(standard?.preemptionPolicy) ?? 'PreemptLowerPriority';
    const name = standard === undefined ? {} : { priorityClassName: standard.metadata.name };
    return { ...spec, ...name, priority: value, preemptionPolicy: policy };
  }
  const known = context.store.get(priorityClasses, className);
  const value = numberOf(known?.value) ?? systemPriorities[className];
  if (value === undefined) {
    const why = `no PriorityClass with name ${className} was found`;
    throw forbidden(podsResource, '', why);
  }
  const policy = textOf(known?.preemptionPolicy) ?? 'PreemptLowerPriority';
  return { ...spec, priority: value, preemptionPolicy: policy };
}

/** The immutable part of the spec; an update must leave it equal. */
function frozenPart(spec: JsonObject, additions: boolean): JsonObject {
  const imageless = (list: Json | undefined): Json | undefined =>
    list === undefined
      ? undefined
      : objectsOf(list).map((container) => withFields(container, { image: undefined }));
  const tolerations = additions ? undefined : spec.tolerations;
  return withFields(spec, {
    containers: imageless(spec.containers),
    initContainers: imageless(spec.initContainers),
    activeDeadlineSeconds: undefined,
    tolerations,
    schedulingGates: undefined,
  });
}

const keepsTolerations = (next: JsonObject, old: JsonObject): boolean => {
  const after = objectsOf(next.tolerations);
  return objectsOf(old.tolerations).every((toleration) =>
    after.some((candidate) =>
      values.deepEqual(
        withFields(candidate, { tolerationSeconds: undefined }),
        withFields(toleration, { tolerationSeconds: undefined }),
      ),
    ),
  );
};

const frozenMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,' +
  '`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only ' +
  'additions ' +
  'to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it ' +
  'was previously negative)';

/** A deadline may be set or shortened. */
function deadlineChange(after: Json | undefined, before: Json | undefined): readonly FieldError[] {
  if (typeof before !== 'number' || after === before) return [];
  const at = 'spec.activeDeadlineSeconds';
  if (typeof after !== 'number') {
    return [invalidValue(at, null, 'must not update from a positive integer to nil value')];
  }
  return after < before
    ? []
    : [invalidValue(at, after, 'must be less than or equal to previous value')];
}

function validatePodUpdate(next: JsonObject, old: Stored): readonly FieldError[] {
  const after = specOf(next);
  const before = specOf(old);
  if (after === before || values.deepEqual(after, before)) return [];
  const deadline = deadlineChange(after.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (deadline.length > 0) return deadline;
  if (!keepsTolerations(after, before)) {
    return [
      forbiddenValue(
        'spec.tolerations',
        'existing toleration can not be modified except its tolerationSeconds',
      ),
    ];
  }
  if (values.deepEqual(frozenPart(after, true), frozenPart(before, true))) return [];
  return [forbiddenValue('spec', frozenMessage)];
}

const gatedConditions = (time: string): JsonObject => ({
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
      lastProbeTime: null,
      lastTransitionTime: time,
    },
  ],
});

export const podStrategy: Strategy = {
  prepareForCreate: (pod, context) => {
    const spec = withServiceAccount(pod, withDefaultTolerations(specOf(pod)), context);
    return withLimits(context.store, { ...pod, spec: withPriority(spec, context) });
  },
  initialStatus: (pod, { time }) => ({
    phase: 'Pending',
    qosClass: qosClass(specOf(pod)),
    ...(objectsOf(specOf(pod).schedulingGates).length === 0 ? {} : gatedConditions(time)),
  }),
  validateCreate: (pod) =>
    objectsOf(specOf(pod).ephemeralContainers).length === 0
      ? []
      : [forbiddenValue('spec.ephemeralContainers', 'cannot be set on create')],
  validate: (pod) => validatePodSpec(specOf(pod), 'spec'),
  validateUpdate: validatePodUpdate,
};
