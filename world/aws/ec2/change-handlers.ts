// EC2's write operations: start, stop and terminate instances, launch templates, tags. RunInstances
// is absent: in this world, instances come from Auto Scaling groups.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type AwsCallContext,
  type AwsInput,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import {
  applyFilters,
  type FilterTable,
  readFilters,
  type Tags,
  tagList,
  tagSpecification,
  tagsOf,
} from '../filters.ts';
import { pageOf } from '../paging.ts';
import { refuse, type ServiceHandlers, sentence } from '../scope.ts';
import { type Ec2Parts, invalidToken, needInstances, renderState } from './describe-instances.ts';
import type { InstanceRow } from './instance-row.ts';
import { instanceTypes } from './instance-types.ts';
import type { Instances } from './instances.ts';
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
  DeleteLaunchTemplateVersions: (input) => deleteVersions(parts, input),
  GetLaunchTemplateData: (input) => launchTemplateData(parts, input),
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

/** These inputs contain JSON values only: the model of launch template data has no blobs. */
const dataOf = (input: AwsInput): JsonObject =>
  (optionalStructure(input, 'LaunchTemplateData') ?? {}) as JsonObject;

const createTemplate = (parts: ChangeParts, input: AwsInput, ctx: AwsCallContext) => {
  const { templates } = parts;
  const warning = warningOf(parts, dataOf(input));
  const { template } = templates.create({
    name: text(input, 'LaunchTemplateName'),
    data: dataOf(input),
    createdBy: ctx.principal.arn,
    description: optionalText(input, 'VersionDescription'),
    tags: tagSpecification(input, 'launch-template'),
  });
  return { LaunchTemplate: renderTemplate(template), ...warning };
};

const createVersion = (parts: ChangeParts, input: AwsInput, ctx: AwsCallContext) => {
  const { templates } = parts;
  const warning = warningOf(parts, dataOf(input));
  const template = templates.find(referenceOf(input));
  const source = optionalText(input, 'SourceVersion');
  const base =
    source === undefined ? {} : templates.version({ id: template.id, version: source }).data;
  const row = templates.addVersion(template.id, {
    data: { ...base, ...dataOf(input) },
    createdBy: ctx.principal.arn,
    description: optionalText(input, 'VersionDescription'),
  });
  const LaunchTemplateVersion = renderVersion(templates.find({ id: template.id }), row);
  return { LaunchTemplateVersion, ...warning };
};

/** Answers for each version separately, as EC2 does: deleted, or not deleted with the reason. */
const deleteVersions = ({ templates }: ChangeParts, input: AwsInput) => {
  const template = templates.find(referenceOf(input));
  const facts = (version: string) => ({
    LaunchTemplateId: template.id,
    LaunchTemplateName: template.name,
    VersionNumber: Number(version),
  });
  const gone: object[] = [];
  const kept: object[] = [];
  for (const version of texts(input, 'Versions')) {
    const isThere = templates.versions(template.id).some((one) => String(one.version) === version);
    const isDefault = Number(version) === template.defaultVersion;
    if (isThere && !isDefault) {
      templates.deleteVersion(template.id, Number(version));
      gone.push(facts(version));
      continue;
    }
    const ResponseError = isDefault
      ? { Code: 'unexpectedError', Message: 'The default version cannot be deleted.' }
      : {
          Code: 'launchTemplateVersionDoesNotExist',
          Message: `The version ${version} does not exist.`,
        };
    kept.push({ ...facts(version), ResponseError });
  }
  return {
    SuccessfullyDeletedLaunchTemplateVersions: gone,
    UnsuccessfullyDeletedLaunchTemplateVersions: kept,
  };
};

/** The data of a template made from an instance. */
const launchTemplateData = ({ instances }: ChangeParts, input: AwsInput) => {
  const [row] = needInstances(instances, [text(input, 'InstanceId')]);
  return {
    LaunchTemplateData: {
      ImageId: row?.imageId,
      InstanceType: row?.instanceType,
      KeyName: row?.keyName,
      SecurityGroupIds: row?.securityGroupIds,
      UserData: row?.userData,
    },
  };
};

/** Refuses data from which no instance can start; warns of resources that do not exist yet. */
const warningOf = ({ images }: ChangeParts, data: JsonObject) => {
  const { UserData, NetworkInterfaces, SecurityGroupIds, InstanceType } = data;
  if (typeof UserData === 'string' && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(UserData)) {
    throw refuse('InvalidUserData.Malformed', 'Invalid BASE64 encoding of user data.');
  }
  if (NetworkInterfaces !== undefined && SecurityGroupIds !== undefined) {
    throw refuse(
      'InvalidParameterCombination',
      sentence(
        'Network interfaces and an instance-level security groups may not be specified on the',
        'same request',
      ),
    );
  }
  const noImage = images.refusal(optionalText(data, 'ImageId'));
  const errors = [
    ...(typeof InstanceType === 'string' && !instanceTypes.has(InstanceType)
      ? [{ Code: 'InvalidInstanceType', Message: `Invalid instance type: ${InstanceType}` }]
      : []),
    ...(noImage === undefined ? [] : [{ Code: noImage.code, Message: noImage.message }]),
  ];
  return errors.length === 0 ? {} : { Warning: { Errors: errors } };
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
  ...defined({ VersionDescription: row.description }),
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
    ...defined({ NextToken: page.nextToken }),
  };
};

/** MinVersion and MaxVersion, inclusive (EC2 API reference). */
const boundsOf = (input: AwsInput): ((row: TemplateVersionRow) => boolean) => {
  const boundOf = (name: string, otherwise: number): number => {
    const given = optionalText(input, name);
    if (given === undefined) return otherwise;
    if (/^\d+$/.test(given)) return Number(given);
    throw refuse('InvalidParameterValue', `Value (${given}) for parameter ${name} is invalid.`);
  };
  const [min, max] = [boundOf('MinVersion', 0), boundOf('MaxVersion', Number.POSITIVE_INFINITY)];
  if ('Versions' in input && ('MinVersion' in input || 'MaxVersion' in input)) {
    throw refuse(
      'InvalidParameterCombination',
      'Versions cannot be specified together with MinVersion or MaxVersion.',
    );
  }
  return ({ version }) => version >= min && version <= max;
};

const versionFilters: FilterTable<{
  readonly template: TemplateRow;
  readonly row: TemplateVersionRow;
}> = {
  'image-id': ({ row }) => String(row.data.ImageId ?? ''),
  'instance-type': ({ row }) => String(row.data.InstanceType ?? ''),
  'is-default-version': ({ template, row }) => String(row.version === template.defaultVersion),
};

const maxVersionsAtOnce = 200;

const pageSizeOf = (input: AwsInput): number => {
  const given = optionalNumber(input, 'MaxResults');
  if (given === undefined || (given >= 1 && given <= maxVersionsAtOnce)) {
    return given ?? maxVersionsAtOnce;
  }
  throw refuse(
    'InvalidParameterValue',
    sentence(
      `Value ( ${given} ) for parameter maxResults is invalid. Expecting a value between 1 and`,
      `${maxVersionsAtOnce}.`,
    ),
  );
};

/**
 * Without a template, the request covers all: only $Latest and $Default are then valid (EC2 API).
 */
const versionsAsked = ({ templates }: ChangeParts, input: AwsInput) => {
  const wanted = texts(input, 'Versions');
  const { id, name } = referenceOf(input);
  const isNamed = id !== undefined || name !== undefined;
  const number = wanted.find((version) => version !== '$Latest' && version !== '$Default');
  if (!isNamed && (wanted.length === 0 || number !== undefined)) {
    throw refuse(
      'MissingParameter',
      'The request must contain the parameter LaunchTemplateId or LaunchTemplateName',
    );
  }
  const within = boundsOf(input);
  const owners = isNamed ? [templates.find({ id, name })] : templates.all();
  return owners.flatMap((template) => {
    const rows =
      wanted.length === 0
        ? templates.versions(template.id).toReversed().filter(within)
        : wanted.map((version) => templates.version({ id: template.id, version }));
    return rows.map((row) => ({ template, row }));
  });
};

const describeVersions = (parts: ChangeParts, input: AwsInput) => {
  const asked = versionsAsked(parts, input);
  const found = applyFilters(asked, readFilters(input), versionFilters, () => ({}));
  const page = pageOf(found, {
    max: pageSizeOf(input),
    token: optionalText(input, 'NextToken'),
    keyOf: ({ row }) => `${row.templateId}/${row.version}`,
    invalid: invalidToken,
  });
  return {
    LaunchTemplateVersions: page.items.map(({ template, row }) => renderVersion(template, row)),
    ...defined({ NextToken: page.nextToken }),
  };
};
