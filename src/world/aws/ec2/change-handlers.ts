// What changes EC2: starting, stopping and ending instances, launch templates, tags. Without
// RunInstances: in this world instances come from Auto Scaling groups.
import type { JsonObject } from '../../../api/json.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  texts,
} from '../../../wire/index.ts';
import {
  applyFilters,
  readFilters,
  type Tags,
  tagList,
  tagSpecification,
  tagsOf,
} from '../filters.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers, sentence } from '../scope.ts';
import { type Ec2Parts, invalidToken, needInstances, renderState } from './describe-instances.ts';
import type { InstanceRow, Instances } from './instances.ts';
import type { LaunchTemplates, TemplateRow, TemplateVersionRow } from './launch-templates.ts';

export interface ChangeParts extends Ec2Parts {
  readonly templates: LaunchTemplates;
}

export const changeHandlers = (parts: ChangeParts): ServiceHandlers => ({
  TerminateInstances: (input) => ({
    TerminatingInstances: changeStates(parts.instances, input, {
      refuses: [],
      act: (id) => parts.instances.terminate(id),
    }),
  }),
  StopInstances: (input) => ({
    StoppingInstances: changeStates(parts.instances, input, {
      refuses: ['pending', 'shutting-down', 'terminated'],
      act: (id) => parts.instances.stop(id),
    }),
  }),
  StartInstances: (input) => ({
    StartingInstances: changeStates(parts.instances, input, {
      refuses: ['stopping', 'shutting-down', 'terminated'],
      act: (id) => parts.instances.start(id),
    }),
  }),
  RebootInstances: (input) => {
    changeStates(parts.instances, input, {
      refuses: ['stopping', 'stopped', 'shutting-down', 'terminated'],
      act: (id) => parts.instances.reboot(id),
    });
  },
  CreateTags: (input) => {
    const tags = tagsOf(input);
    for (const id of texts(input, 'Resources')) {
      changeTags(parts, id, (before) => ({ ...before, ...tags }));
    }
  },
  DeleteTags: (input) => {
    const keys = structures(input, 'Tags').map((tag) => text(tag, 'Key'));
    const kept = (before: Tags): Tags =>
      Object.fromEntries(Object.entries(before).filter(([key]) => !keys.includes(key)));
    for (const id of texts(input, 'Resources')) changeTags(parts, id, kept);
  },
  CreateLaunchTemplate: (input, ctx) => createTemplate(parts, input, ctx),
  CreateLaunchTemplateVersion: (input, ctx) => createVersion(parts, input, ctx),
  ModifyLaunchTemplate: (input) => {
    const template = parts.templates.find(referenceOf(input));
    const wanted = optionalText(input, 'DefaultVersion');
    const changed =
      wanted === undefined ? template : parts.templates.setDefault(template.id, Number(wanted));
    return { LaunchTemplate: renderTemplate(changed) };
  },
  DeleteLaunchTemplate: (input) => {
    const template = parts.templates.find(referenceOf(input));
    parts.templates.delete(template.id);
    return { LaunchTemplate: renderTemplate(template) };
  },
  DescribeLaunchTemplates: (input) => describeTemplates(parts, input),
  DescribeLaunchTemplateVersions: (input) => describeVersions(parts, input),
});

const changeStates = (
  instances: Instances,
  input: AwsInput,
  change: {
    readonly refuses: readonly InstanceRow['state'][];
    readonly act: (instanceId: string) => void;
  },
) => {
  const rows = needInstances(instances, texts(input, 'InstanceIds'));
  const wrong = rows.find((row) => change.refuses.includes(row.state));
  if (wrong !== undefined) {
    throw refuse(
      'IncorrectInstanceState',
      sentence(
        `The instance '${wrong.instanceId}' is not in a state from which this can be done`,
        `(it is '${wrong.state}').`,
      ),
    );
  }
  return rows.map((before) => {
    change.act(before.instanceId);
    const after = instances.get(before.instanceId) ?? before;
    return {
      InstanceId: before.instanceId,
      CurrentState: renderState(after.state),
      PreviousState: renderState(before.state),
    };
  });
};

const changeTags = (parts: ChangeParts, id: string, change: (before: Tags) => Tags): void => {
  const instance = parts.instances.get(id);
  if (instance !== undefined) {
    parts.instances.setTags(id, change(instance.tags));
    return;
  }
  const template = parts.templates.all().find((row) => row.id === id);
  if (template !== undefined) {
    parts.templates.setTags(id, change(template.tags));
    return;
  }
  if (parts.network.setTags(id, change)) return;
  throw refuse('InvalidID', `The ID '${id}' is not valid`);
};

const referenceOf = (input: AwsInput) => ({
  id: optionalText(input, 'LaunchTemplateId'),
  name: optionalText(input, 'LaunchTemplateName'),
});

/** Inputs hold JSON values only here: the model of launch template data has no blobs. */
const dataOf = (input: AwsInput): JsonObject =>
  (optionalStructure(input, 'LaunchTemplateData') ?? {}) as JsonObject;

const createTemplate = ({ templates }: ChangeParts, input: AwsInput, ctx: AwsCallContext) => {
  const { template } = templates.create({
    name: text(input, 'LaunchTemplateName'),
    data: dataOf(input),
    createdBy: ctx.principal.arn,
    description: optionalText(input, 'VersionDescription'),
    tags: tagSpecification(input, 'launch-template'),
  });
  return { LaunchTemplate: renderTemplate(template) };
};

const createVersion = ({ templates }: ChangeParts, input: AwsInput, ctx: AwsCallContext) => {
  const template = templates.find(referenceOf(input));
  const source = optionalText(input, 'SourceVersion');
  const base =
    source === undefined ? {} : templates.version({ id: template.id, version: source }).data;
  const row = templates.addVersion(template.id, {
    data: { ...base, ...dataOf(input) },
    createdBy: ctx.principal.arn,
    description: optionalText(input, 'VersionDescription'),
  });
  return { LaunchTemplateVersion: renderVersion(templates.find({ id: template.id }), row) };
};

const renderTemplate = (row: TemplateRow) => ({
  LaunchTemplateId: row.id,
  LaunchTemplateName: row.name,
  CreateTime: row.createdAt,
  CreatedBy: row.createdBy,
  DefaultVersionNumber: row.defaultVersion,
  LatestVersionNumber: row.latestVersion,
  Tags: tagList(row.tags),
});

const renderVersion = (template: TemplateRow, row: TemplateVersionRow) => ({
  LaunchTemplateId: template.id,
  LaunchTemplateName: template.name,
  VersionNumber: row.version,
  ...(row.description === undefined ? {} : { VersionDescription: row.description }),
  CreateTime: row.createdAt,
  CreatedBy: row.createdBy,
  DefaultVersion: row.version === template.defaultVersion,
  LaunchTemplateData: row.data,
});

const describeTemplates = ({ templates }: ChangeParts, input: AwsInput) => {
  const ids = texts(input, 'LaunchTemplateIds');
  const names = texts(input, 'LaunchTemplateNames');
  const named =
    ids.length + names.length === 0
      ? templates.all()
      : [
          ...ids.map((id) => templates.find({ id })),
          ...names.map((name) => templates.find({ name })),
        ];
  const found = applyFilters(
    named,
    readFilters(input),
    { 'launch-template-name': (row) => row.name },
    (row) => row.tags,
  );
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxResults') ?? 200,
    token: optionalText(input, 'NextToken'),
    keyOf: (row) => row.id,
    invalid: invalidToken,
  });
  return {
    LaunchTemplates: page.items.map(renderTemplate),
    ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }),
  };
};

const describeVersions = ({ templates }: ChangeParts, input: AwsInput) => {
  const wanted = texts(input, 'Versions');
  const { id, name } = referenceOf(input);
  const owners =
    id === undefined && name === undefined ? templates.all() : [templates.find({ id, name })];
  const rows = owners.flatMap((template) =>
    (wanted.length === 0
      ? templates.versions(template.id).toReversed()
      : wanted.map((version) => templates.version({ id: template.id, version }))
    ).map((row) => ({ template, row })),
  );
  const page = pageOf(rows, {
    max: optionalNumber(input, 'MaxResults') ?? 200,
    token: optionalText(input, 'NextToken'),
    keyOf: ({ row }) => `${row.templateId}/${row.version}`,
    invalid: invalidToken,
  });
  return {
    LaunchTemplateVersions: page.items.map(({ template, row }) => renderVersion(template, row)),
    ...(page.nextToken === undefined ? {} : { NextToken: page.nextToken }),
  };
};
