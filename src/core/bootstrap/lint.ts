// drover userdata lint: every finding of a file, with its rule, place, consequence and fix.
// Supports files that contain user data: CloudFormation, Terraform, eksctl, ConfigMaps. Never
// throws.
import { defined } from '../../api/defined.ts';
import {
  accessEntryProblems,
  authProblems,
  decode,
  type EmbeddedText,
  type Evaluation,
  embeddedTexts,
  evaluateUserData,
  exampleFacts,
  guessFamily,
  type Position,
  type Problem,
  readLimitBytes,
  sizeLimitBytes,
} from '../../formats/index.ts';
import { checks, isFragment } from './checks.ts';
import { defaultLintOptions, type LintOptions } from './options.ts';
import type { Severity } from './rule.ts';
import { ruleOf } from './rules/index.ts';
import { suppress } from './suppressions.ts';

export interface Finding extends Position {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly consequence: string;
  readonly fix: string;
  /** Which text of a file that contains several: `NodeGroup.UserData`. */
  readonly where?: string;
}

export interface LintResult {
  readonly findings: readonly Finding[];
  /** Number of findings that comments in the file suppressed. */
  readonly suppressed: number;
  /** Number of texts checked: 0 in a file without any. */
  readonly texts: number;
}

/** Problems that do not matter in a fragment, because EKS or Drover adds the bootstrap to it. */
const leftOut: ReadonlySet<string> = new Set([
  'FAM001',
  'NC002',
  'BR004',
  'SH007',
  'WIN004',
  'CI001',
]);

/**
 * Rules about values. They skip text that contains template variables, whose values are unknown.
 */
const ofValues: ReadonlySet<string> = new Set(
  'NC003 NC004 NC006 NC008 NC009 SH008 FL003 FL005 LB002 BR003 KC004 TN001 DNS001 DNS002 MP003 CI002 CI004 CI007 CI008 SEC001'.split(
    ' ',
  ),
);

const problemsOf = (evaluation: Evaluation, options: LintOptions): readonly Problem[] => {
  const fragment = isFragment(evaluation, options);
  const obstacles = evaluation.node.obstacles.filter(({ rule }) => !fragment || !leftOut.has(rule));
  return [...obstacles, ...checks.flatMap((check) => check(evaluation, options))];
};

const evaluateWith = (userData: Uint8Array | string, options: LintOptions): Evaluation =>
  evaluateUserData(
    userData,
    {
      ...exampleFacts,
      kubernetesVersion: options.kubernetesVersion,
      ...defined({ instanceType: options.instanceType }),
    },
    options.family,
  );

/**
 * Whether the word at `column` (from 1) contains a template's variable, so that its value is
 * unknown.
 */
const isOfTemplate = (line: string, column: number): boolean => {
  const variables = /(?:[$%]\{[^}]*\}|\{\{.*?\}\}|[$%]\{.*|\{\{.*)/g;
  // Each variable becomes a single character that does not end a word.
  const plain = line.replaceAll(variables, (text) => '\u0000'.repeat(text.length));
  const before = /[^\s,]*$/.exec(plain.slice(0, column - 1))?.[0] ?? '';
  const after = /^[^\s,]*/.exec(plain.slice(column - 1))?.[0] ?? '';
  return `${before}${after}`.includes('\u0000');
};

const lintEmbedded = (embedded: EmbeddedText, options: LintOptions): readonly Problem[] => {
  const evaluation = evaluateWith(embedded.text, {
    ...options,
    family: options.family ?? embedded.family,
    launchedBy: options.launchedBy ?? embedded.launchedBy,
  });
  const lines = embedded.text.split('\n');
  return problemsOf(evaluation, {
    ...options,
    launchedBy: options.launchedBy ?? embedded.launchedBy,
  })
    .filter(
      ({ rule, at }) => !ofValues.has(rule) || !isOfTemplate(lines[at.line - 1] ?? '', at.column),
    )
    .map((problem) => ({ ...problem, at: embedded.positionOf(problem.at) }));
};

const findingOf = ({ rule, at, message }: Problem, where: string | undefined): Finding => {
  const known = ruleOf(rule);
  return {
    rule,
    severity: known?.severity ?? 'error',
    ...at,
    message,
    consequence: known?.consequence ?? '',
    fix: known?.fix ?? '',
    ...defined({ where }),
  };
};

const order = (a: Finding, b: Finding): number =>
  a.line - b.line || a.column - b.column || (a.rule < b.rule ? -1 : 1);

/** Reports the same mistake at the same place once. */
const distinct = (findings: readonly Finding[]): readonly Finding[] => {
  const seen = new Set<string>();
  return findings.filter(({ rule, line, column, message }) => {
    const key = `${rule} ${line} ${column} ${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

/** Text of no recognizable family, without other faults. */
const isNoUserData = ({ text, faults, sizeBytes }: ReturnType<typeof decode>): boolean =>
  faults.length === 0 && sizeBytes <= sizeLimitBytes && guessFamily(text) === undefined;

/** For a file over the read limit: findings from its size alone. */
const lintSize = ({ bytes }: LintFile, options: LintOptions): LintResult => {
  const { obstacles } = evaluateWith(bytes, options).node;
  const findings = obstacles
    .filter(({ rule }) => rule === 'SIZE001')
    .map((problem) => findingOf(problem, undefined));
  return { findings, suppressed: 0, texts: 1 };
};

export interface LintFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export const lint = (file: LintFile, asked: Partial<LintOptions> = {}): LintResult => {
  const options = { ...defaultLintOptions, ...asked };
  const decoded = decode(file.bytes);
  const { text } = decoded;
  if (decoded.sizeBytes > readLimitBytes) return lintSize(file, options);
  const auth = authProblems(text, options.windowsRoles) ?? accessEntryProblems(text);
  const embedded = auth === undefined ? embeddedTexts(file.name, text) : undefined;
  const found: { problem: Problem; where: string | undefined }[] = [];
  let texts = 1;
  // Pushed one by one, because the number of arguments of a call is limited.
  if (auth !== undefined) {
    for (const problem of auth) found.push({ problem, where: undefined });
  } else if (embedded !== undefined) {
    texts = embedded.length;
    for (const one of embedded) {
      for (const problem of lintEmbedded(one, options)) found.push({ problem, where: one.where });
    }
  } else if (options.family === undefined && isNoUserData(decoded)) texts = 0;
  else {
    const problems = problemsOf(evaluateWith(file.bytes, options), options);
    for (const problem of problems) found.push({ problem, where: undefined });
  }
  const wheres = new Map(found.map((one) => [one.problem, one.where]));
  const { kept, suppressed } = suppress(text, [...wheres.keys()]);
  const findings = kept.map((problem) => findingOf(problem, wheres.get(problem)));
  return { findings: distinct(findings.toSorted(order)), suppressed, texts };
};

export const hasErrors = ({ findings }: LintResult): boolean =>
  findings.some(({ severity }) => severity === 'error');
