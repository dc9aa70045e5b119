// drover userdata explain and diff: which source set a field of the node and which were overridden;
// how the results of two user data differ. Reads files only.
import { defined } from '../../api/defined.ts';
import type { Json, JsonObject } from '../../api/json.ts';
import {
  type Difference,
  diffUserData,
  type Explanation,
  explainField,
  fieldsOf,
  type Replacement,
  type Setting,
} from '../../core/bootstrap/index.ts';
import {
  type Evaluation,
  evaluateUserData,
  exampleFacts,
  nearestName,
} from '../../formats/index.ts';
import { type CliContext, CommandError, exitCodes, type OutputFormat } from '../context.ts';
import { print } from '../output.ts';
import { visible } from '../visible.ts';
import { familyNamed, typeGiven, versionGiven } from './options.ts';

export interface NodeFlags {
  readonly family?: string;
  readonly kubernetes: string;
  readonly instanceType?: string;
  readonly output: OutputFormat;
}

const evaluated = async (
  context: CliContext,
  name: string,
  flags: NodeFlags,
): Promise<Evaluation> => {
  const instanceType = typeGiven(flags.instanceType);
  const evaluation = evaluateUserData(
    await context.readBytes(name),
    {
      ...exampleFacts,
      kubernetesVersion: versionGiven(flags.kubernetes),
      ...defined({ instanceType }),
    },
    familyNamed(flags.family),
  );
  for (const { message } of evaluation.data.decoded.faults) {
    context.err(visible(`${name} is ${message} (ENC001): no node reads what follows`));
  }
  return evaluation;
};

const short = (value: Json | undefined): string => {
  if (value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = visible(text);
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
};

const place = (name: string, { at }: Setting): string =>
  at === undefined ? '-' : `${name}:${at.line}:${at.column}`;

const rowOf = (name: string, setting: Setting, state: string): readonly string[] => [
  state,
  short(setting.value),
  visible(setting.source),
  visible(place(name, setting)),
];

const settingDocument = (name: string, setting: Setting): JsonObject => ({
  value: setting.value,
  setBy: setting.setBy,
  source: setting.source,
  ...(setting.at === undefined ? {} : { file: name, ...setting.at }),
  ...defined({ withoutEffect: setting.withoutEffect }),
});

const explanationDocument = (name: string, explanation: Explanation): JsonObject => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'FieldExplanation',
  field: explanation.field,
  inForce: explanation.inForce === undefined ? null : settingDocument(name, explanation.inForce),
  lost: explanation.lost.map((setting) => settingDocument(name, setting)),
});

export const runExplain = async (
  context: CliContext,
  name: string,
  field: string,
  flags: NodeFlags,
): Promise<void> => {
  const evaluation = await evaluated(context, name, flags);
  const explanation = explainField(evaluation, field);
  if (explanation === undefined) {
    const near = nearestName(field, fieldsOf(evaluation));
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new CommandError(exitCodes.failed, `${name}: nothing sets ${field}${hint}`);
  }
  const { inForce, lost } = explanation;
  print(context, flags.output, explanationDocument(name, explanation), () => ({
    header: ['', 'VALUE', 'SET BY', 'PLACE'],
    rows: [
      ...(inForce === undefined ? [] : [rowOf(name, inForce, 'in force')]),
      ...lost
        .toReversed()
        .map((setting) =>
          rowOf(
            name,
            setting,
            setting.withoutEffect === undefined ? 'lost' : `no effect: ${setting.withoutEffect}`,
          ),
        ),
    ],
  }));
};

const verdicts: Readonly<Record<Replacement, string>> = {
  none: 'no node is different: nothing has to be replaced',
  'in-place': 'labels and taints alone: a node group’s controller sets them on living nodes too',
  replace: 'nodes must be replaced: user data is read once, at the first boot',
};

const differenceDocument = ({ what, name, before, after }: Difference): JsonObject => ({
  what,
  name,
  before: before ?? null,
  after: after ?? null,
});

export const runDiff = async (
  context: CliContext,
  names: { readonly before: string; readonly after: string },
  flags: NodeFlags,
): Promise<void> => {
  const { differences, replacement } = diffUserData(
    await evaluated(context, names.before, flags),
    await evaluated(context, names.after, flags),
  );
  const document = {
    apiVersion: 'cli.drover.dev/v1',
    kind: 'UserDataDiff',
    replacement,
    differences: differences.map(differenceDocument),
  };
  print(context, flags.output, document, () => ({
    header: ['WHAT', 'NAME', 'BEFORE', 'AFTER'],
    rows: differences.map(({ what, name, before, after }) => [
      what,
      visible(name),
      short(before),
      short(after),
    ]),
  }));
  if (flags.output === 'table') context.out(verdicts[replacement]);
};
