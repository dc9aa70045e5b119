// Node groups of a stack: Kubernetes objects behind the port. A change uses the group's own updates
// in sequence: version, configuration, tags. Never changes properties that EKS fixes at creation.
import { defined } from '../../../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { ServiceCall } from '../../calls.ts';
import type { Tags } from '../../filters.ts';
import type { Scope } from '../../scope.ts';
import type { StackResource, StepResult } from '../rows.ts';
import { byStatus, inputOf, objectIn } from './eks-values.ts';
import { done, pending, type RemoteType, type UpdateStep } from './resource-type.ts';
import { objectsOf, sameValue, tagsOf, textOf } from './values.ts';

/** AWS CloudFormation template reference, AWS::EKS::Nodegroup: "Update requires: Replacement". */
const replacing: ReadonlySet<string> = new Set([
  ...['AmiType', 'CapacityType', 'ClusterName', 'DiskSize', 'InstanceTypes', 'NodegroupName'],
  ...['NodeRole', 'RemoteAccess', 'Subnets'],
]);

const reference = (physicalId: string) => {
  const [clusterName = '', nodegroupName = ''] = physicalId.split('/');
  return { clusterName, nodegroupName };
};

const call = (operation: string, input: Record<string, unknown>): ServiceCall => ({
  service: 'eks',
  operation,
  input,
});

export const nodegroup = (scope: Scope): RemoteType => ({
  kind: 'remote',
  physicalId: (properties, context) => {
    const name = textOf(properties.NodegroupName) ?? context.physicalName(63);
    return `${textOf(properties.ClusterName) ?? ''}/${name}`;
  },
  create: ({ physicalId, properties }, context) => {
    const { forceUpdateEnabled: _, ...input } = inputOf(properties);
    return call('CreateNodegroup', {
      ...input,
      ...reference(physicalId),
      tags: { ...context.tags, ...tagsOf(properties.Tags) },
      clientRequestToken: tokenOf(context.stackId, context.logicalId),
      ...templateInput(properties),
    });
  },
  describe: ({ physicalId }) => call('DescribeNodegroup', reference(physicalId)),
  remove: ({ physicalId }) => call('DeleteNodegroup', reference(physicalId)),
  progress: (answer, removing) => {
    const found = objectIn(answer, 'nodegroup');
    const name = textOf(found.nodegroupName) ?? '';
    const reason = `Nodegroup ${name} failed to stabilize: ${issuesOf(found)}`;
    if (removing) {
      if (found.status === 'DELETING') return pending;
      return found.status === 'DELETE_FAILED' ? { kind: 'failed', reason } : done;
    }
    const progress = byStatus(found.status, reason);
    if (progress.kind !== 'done') return progress;
    const clusterName = textOf(found.clusterName) ?? '';
    const arn = textOf(found.nodegroupArn) ?? scope.arn('eks', `nodegroup/${clusterName}/${name}`);
    return { kind: 'done', attributes: nodegroupAttributes(clusterName, name, arn) };
  },
  replacing,
  nextStep: (resource, wanted, token) =>
    versionStep(resource, wanted, token) ??
    configStep(resource, wanted, token) ??
    tagStep(resource, wanted),
  look: ({ physicalId }, answer) => {
    const updateId = textOf(objectIn(answer, 'update').id);
    if (updateId === undefined) return undefined;
    const { clusterName, nodegroupName } = reference(physicalId);
    const input = { name: clusterName, nodegroupName, updateId };
    return { service: 'eks', operation: 'DescribeUpdate', input };
  },
  stepProgress: (answer) => {
    const update = objectIn(answer, 'update');
    if (update.status === 'Successful') return done;
    if (update.status === 'InProgress') return pending;
    return { kind: 'failed', reason: `Resource handler returned message: "${errorsOf(update)}"` };
  },
});

export const nodegroupAttributes = (clusterName: string, name: string, arn: string) => ({
  Arn: arn,
  ClusterName: clusterName,
  NodegroupName: name,
  Id: `${clusterName}/${name}`,
});

/** The launch template of an input, with its version as text. */
const templateInput = (properties: JsonObject) => {
  const template = objectOr(inputOf(properties).launchTemplate);
  if (Object.keys(template).length === 0) return {};
  return { launchTemplate: { ...template, ...defined({ version: textOf(template.version) }) } };
};

/** The same for each attempt, so that a repeated call creates one node group. */
const tokenOf = (stackId: string, logicalId: string): string =>
  `cfn-${logicalId}-${stackId.slice(stackId.lastIndexOf('/') + 1)}`.slice(0, 64);

/** The `names` that the requested properties contain with another value. */
const changedIn = (
  { properties }: Pick<StackResource, 'properties'>,
  wanted: StepResult,
  names: readonly string[],
): readonly string[] =>
  names.filter(
    (name) =>
      wanted.properties[name] !== undefined &&
      !sameValue(wanted.properties[name], properties[name]),
  );

/** The resource's values once `names` have their requested values. */
const resultOf = (
  { properties, stackTags }: StackResource,
  wanted: StepResult,
  names: readonly string[],
): StepResult => ({
  ...defined({ stackTags }),
  properties: {
    ...properties,
    ...Object.fromEntries(names.map((name) => [name, wanted.properties[name]])),
  },
});

const versionNames = ['Version', 'ReleaseVersion'];

/** Version and release change together: a release belongs to a version. */
const versionStep = (
  resource: StackResource,
  wanted: StepResult,
  token: string,
): UpdateStep | undefined => {
  const versions = changedIn(resource, wanted, versionNames);
  const templates = changedIn(resource, wanted, ['LaunchTemplate']);
  if (versions.length + templates.length === 0) return undefined;
  const { version, releaseVersion, forceUpdateEnabled } = inputOf(wanted.properties);
  const input = {
    ...reference(resource.physicalId),
    clientRequestToken: `${token}-version`,
    ...(versions.length === 0 ? {} : { version: textOf(version), releaseVersion }),
    ...(templates.length === 0 ? {} : templateInput(wanted.properties)),
    ...(forceUpdateEnabled === true ? { force: true } : {}),
  };
  return {
    call: call('UpdateNodegroupVersion', defined(input)),
    result: resultOf(resource, wanted, [...versions, ...templates]),
  };
};

const plainConfig = ['UpdateConfig', 'NodeRepairConfig'];

const configStep = (
  resource: StackResource,
  wanted: StepResult,
  token: string,
): UpdateStep | undefined => {
  const [before, after] = [inputOf(resource.properties), inputOf(wanted.properties)];
  const scaling = changedMembers(objectOr(before.scalingConfig), objectOr(after.scalingConfig));
  const labels = labelChange(tagsOf(before.labels), tagsOf(after.labels));
  const taints = taintChange(objectsOf(before.taints), objectsOf(after.taints));
  const plain = changedIn(resource, wanted, plainConfig);
  const { updateConfig, nodeRepairConfig } = after;
  const input = defined({
    scalingConfig: scaling,
    labels,
    taints,
    updateConfig: plain.includes('UpdateConfig') ? updateConfig : undefined,
    nodeRepairConfig: plain.includes('NodeRepairConfig') ? nodeRepairConfig : undefined,
  });
  if (Object.keys(input).length === 0) return undefined;
  return {
    call: call('UpdateNodegroupConfig', {
      ...reference(resource.physicalId),
      clientRequestToken: `${token}-config`,
      ...input,
    }),
    result: resultOf(resource, wanted, ['ScalingConfig', 'Labels', 'Taints', ...plain]),
  };
};

/** Sends a size only if the template changed it; else an autoscaler's size stays. */
const changedMembers = (before: JsonObject, after: JsonObject): JsonObject | undefined => {
  const changed = Object.entries(after).filter(([key, value]) => !sameValue(value, before[key]));
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
};

const labelChange = (before: Tags, after: Tags) => {
  const added = Object.entries(after).filter(([key, value]) => before[key] !== value);
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  if (added.length + removed.length === 0) return undefined;
  return {
    ...(added.length === 0 ? {} : { addOrUpdateLabels: Object.fromEntries(added) }),
    ...(removed.length === 0 ? {} : { removeLabels: removed }),
  };
};

const taintChange = (before: readonly JsonObject[], after: readonly JsonObject[]) => {
  const isIn = (all: readonly JsonObject[], taint: JsonObject, names: readonly string[]): boolean =>
    all.some((other) => names.every((name) => sameValue(other[name], taint[name])));
  const added = after.filter((one) => !isIn(before, one, ['key', 'value', 'effect']));
  const removed = before.filter((one) => !isIn(after, one, ['key', 'effect']));
  if (added.length + removed.length === 0) return undefined;
  return {
    ...(added.length === 0 ? {} : { addOrUpdateTaints: added }),
    ...(removed.length === 0 ? {} : { removeTaints: removed }),
  };
};

/** A resource without recorded stack tags is assumed to have the current ones. */
const tagStep = (resource: StackResource, wanted: StepResult): UpdateStep | undefined => {
  const stackTags = resource.stackTags ?? wanted.stackTags;
  const before = { ...stackTags, ...tagsOf(resource.properties.Tags) };
  const after = { ...wanted.stackTags, ...tagsOf(wanted.properties.Tags) };
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const resourceArn = resource.attributes.Arn ?? '';
  if (removed.length > 0) {
    const kept = (tags: Tags | undefined): Tags =>
      Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => !removed.includes(key)));
    const own = kept(tagsOf(resource.properties.Tags));
    return {
      call: call('UntagResource', { resourceArn, tagKeys: removed }),
      result: {
        properties: { ...resource.properties, Tags: own },
        stackTags: kept(stackTags),
      },
    };
  }
  const tags = Object.entries(after).filter(([key, value]) => before[key] !== value);
  if (tags.length === 0) return undefined;
  return {
    call: call('TagResource', { resourceArn, tags: Object.fromEntries(tags) }),
    result: {
      properties: { ...resource.properties, Tags: wanted.properties.Tags },
      ...defined({ stackTags: wanted.stackTags }),
    },
  };
};

/**
 * `[{Code: NodeCreationFailure,Message: ...,ResourceIds: [i-...]}]`, as CloudFormation prints it.
 */
const issuesOf = (found: JsonObject): string => {
  const issues = objectsOf(objectOr(found.health).issues).map((issue) => {
    const ids = Array.isArray(issue.resourceIds) ? issue.resourceIds.join(', ') : '';
    return `{Code: ${issue.code},Message: ${issue.message},ResourceIds: [${ids}]}`;
  });
  return `[${issues.join(', ')}]`;
};

/** A cancelled update has no errors: its status is the reason. */
const errorsOf = (update: JsonObject): string => {
  const errors = objectsOf(update.errors).map(({ errorCode, errorMessage, resourceIds }) => {
    const ids = Array.isArray(resourceIds) ? resourceIds.join(', ') : '';
    return (
      `ErrorDetail(ErrorCode=${errorCode}, ` + `ErrorMessage=${errorMessage}, ResourceIds=[${ids}])`
    );
  });
  return errors.length === 0 ? `Update is ${update.status}` : `[${errors.join(', ')}]`;
};
