// Renders findings of drover userdata lint as text, as a document for scripts and as SARIF 2.1.0.
// Pure; the text shows control characters as escapes, in a file's name too.
import type { JsonObject } from '../../api/json.ts';
import { type Finding, type LintResult, rules } from '../../core/bootstrap/index.ts';
import { visible } from '../visible.ts';

export interface LintedFile {
  readonly name: string;
  readonly result: LintResult;
}

/**
 * A short excerpt of a file's bytes for a message: enough to find the place, without control
 * characters for a terminal.
 */
const longestMessage = 500;
export const shownMessage = (message: string): string =>
  visible(message.length > longestMessage ? `${message.slice(0, longestMessage)}...` : message);

const pageOf = (rule: string): string => `docs/rules/${rule}.md`;

const findingLines = (name: string, finding: Finding): readonly string[] => {
  const { line, column, severity, rule, message, consequence, fix, where } = finding;
  const place = where === undefined ? '' : ` (${where})`;
  return [
    `${visible(name)}:${line}:${column}: ${severity} ${rule}: ` +
      `${shownMessage(message)}${visible(place)}`,
    `    on the node: ${consequence}`,
    `    fix: ${fix}`,
  ];
};

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

export const summaryOf = (files: readonly LintedFile[]): string => {
  const all = files.flatMap(({ result }) => result.findings);
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const suppressed = files.reduce((sum, { result }) => sum + result.suppressed, 0);
  const empty = files.filter(({ result }) => result.texts === 0);
  return [
    `${count(files.length, 'file')}: ${count(errors, 'error')}, ` +
      `${count(all.length - errors, 'warning')}`,
    ...(suppressed === 0 ? [] : [`${suppressed} suppressed`]),
    ...(empty.length === 0
      ? []
      : [`no user data in ${visible(empty.map(({ name }) => name).join(', '))}`]),
  ].join('; ');
};

export const findingsText = (files: readonly LintedFile[]): readonly string[] => [
  ...files.flatMap(({ name, result }) =>
    result.findings.flatMap((finding) => findingLines(name, finding)),
  ),
  summaryOf(files),
];

export const findingsDocument = (files: readonly LintedFile[]): JsonObject => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'UserDataFindings',
  files: files.map(({ name, result }) => ({
    name,
    texts: result.texts,
    suppressed: result.suppressed,
    findings: result.findings.map((finding) => ({ ...finding, page: pageOf(finding.rule) })),
  })),
});

const levelOf = { error: 'error', warning: 'warning' } as const;

export const sarif = (files: readonly LintedFile[], version: string): JsonObject => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'drover userdata lint',
          version,
          rules: rules.map(({ id, title, severity, consequence, fix }) => ({
            id,
            shortDescription: { text: title },
            fullDescription: { text: consequence },
            help: { text: fix },
            defaultConfiguration: { level: levelOf[severity] },
          })),
        },
      },
      columnKind: 'utf16CodeUnits',
      results: files.flatMap(({ name, result }) =>
        result.findings.map(({ rule, severity, message, line, column }) => ({
          ruleId: rule,
          ruleIndex: rules.findIndex(({ id }) => id === rule),
          level: levelOf[severity],
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: name },
                region: { startLine: line, startColumn: column },
              },
            },
          ],
        })),
      ),
    },
  ],
});
