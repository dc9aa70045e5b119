// Prints docs/health: a page for each reason that the node agent reports, and a table of them, from
// the catalogue in src/agent/rules. A test compares.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue, type HealthRule } from '../src/agent/index.ts';

export const healthDirectory = join(import.meta.dirname, '..', 'docs', 'health');

const proofs = {
  fault: 'a real fault on Linux',
  recorded: 'recorded real lines',
  written: 'constructed lines or files',
} as const;

/** `NvidiaXID[xid]Error`, as EKS writes names that take a fact. */
const titleOf = ({ reason }: HealthRule): string => reason.replace(/\{(\w+)\}/g, '[$1]');
const fileOf = ({ reason }: HealthRule): string => `${reason.replace(/\{\w+\}/g, '')}.md`;
const cell = (text: string): string => text.replace(/\|/g, '\\|');

const clearsOf = ({ severity, check, clearAfterSeconds }: HealthRule): string => {
  if (severity === 'Event') return 'An Event only reports; it does not need to clear.';
  const byTime =
    clearAfterSeconds === 'reboot'
      ? 'Only a reboot of the node clears it'
      : `${clearAfterSeconds / 60} minutes without recurrence clear it`;
  return check === undefined
    ? `${byTime}.`
    : `The next check that does not find it clears it. If no check is possible: ${byTime.charAt(0).toLowerCase()}${byTime.slice(1)}.`;
};

const settingsOf = (rule: HealthRule): readonly string[] => [
  ...(rule.threshold === undefined
    ? []
    : [
        `- Threshold: ${rule.threshold.count} times within ${rule.threshold.withinSeconds} seconds` +
          `${rule.threshold.of === undefined ? '' : `, of ${rule.threshold.of} keys`}.`,
      ]),
  ...(rule.limit === undefined ? [] : [`- Limit: ${rule.limit}.`]),
  ...(rule.allow === undefined
    ? []
    : [`- Allow list: ${rule.allow.map((entry) => `\`${entry}\``).join(', ')}.`]),
];

const foundBy = (rule: HealthRule): readonly string[] => [
  ...(rule.check === undefined ? [] : [`- The check \`${rule.check}\`.`]),
  ...(rule.lines ?? []).map(
    ({ source, pattern, unless }) =>
      `- Lines of the ${source} log that match \`${pattern}\`` +
      `${unless === undefined ? '' : `, but not \`${unless}\``}.`,
  ),
];

const section = (rule: HealthRule): readonly string[] => {
  const { text, condition, severity, message } = rule;
  const settings = settingsOf(rule);
  return [
    `Condition: ${condition}. Severity: ${severity}. Reported under this name by: ${text.origin}.`,
    `Tested with: ${proofs[text.proof]}.`,
    '',
    '## What it means',
    text.meaning,
    '',
    '## What to do',
    text.remedy,
    '',
    '## Found by',
    ...foundBy(rule),
    '',
    `Message: ${message}`,
    ...(settings.length === 0 ? [] : ['', '## Settings', ...settings]),
    '',
    '## When it clears',
    clearsOf(rule),
    ...(text.found.length === 0 ? [] : ['', '## Lines', '~~~', ...new Set(text.found), '~~~']),
    '',
  ];
};

const page = (rules: readonly HealthRule[]): string => {
  const [first] = rules;
  if (first === undefined) return '';
  return [`# ${titleOf(first)}`, '', ...rules.flatMap(section)].join('\n');
};

const rulesFile = [
  '## A rules file',
  '',
  '`drover agent --rules FILE` takes a JSON file of the node, read again when it changes. A file that is wrong in one',
  'place is refused with line and column, and the rules before it stay in force. Patterns are RE2’s and are matched in',
  'time linear to a line, which is cut at 2 KiB.',
  '',
  '```json',
  '{',
  '  "apiVersion": "drover.dev/v1alpha1",',
  '  "kind": "AgentRules",',
  '  "change": [',
  '    { "reason": "UnexpectedRejectRule", "allow": ["filter/MY-CHAIN"] },',
  '    { "reason": "AppCrash", "enabled": false },',
  '    { "reason": "ExcessiveZombieProcesses", "limit": 100 },',
  '    { "reason": "IODelays", "severity": "Condition", "clearAfterSeconds": 1800 }',
  '  ],',
  '  "add": [',
  '    {',
  '      "reason": "MyDriverReset",',
  '      "condition": "KernelReady",',
  '      "severity": "Condition",',
  '      "lines": [{ "source": "kernel", "pattern": "^mydrv (?<device>\\\\w+): reset" }],',
  '      "threshold": { "count": 3, "withinSeconds": 600 },',
  '      "message": "mydrv reset {device}"',
  '    }',
  '  ]',
  '}',
  '```',
  '',
  '`allow` adds to the list of the rule. `severity` Condition makes the condition False, which repair may act on.',
  '`drover agent check --rules FILE` says whether a file is right and what it would find.',
  '',
];

const link = (rule: HealthRule): string => `[${titleOf(rule)}](${fileOf(rule)})`;

/** Links to the rules' pages, each page once. */
const links = (rules: readonly HealthRule[]): string =>
  [...new Set(rules.map(link))].map(cell).join(', ');

const index = (): string =>
  [
    '# What the node agent finds',
    '',
    'Printed by `node scripts/print-health.ts` from the catalogue in `src/agent/rules`; each rule’s page says what it',
    'means, what to do, who else reports it under this name, and what shows that it works.',
    'A reason makes its condition False until it clears. An Event is reported and never acted on: its reason is the',
    'condition’s name, and its message begins with the name below, as EKS’ agent has it.',
    '',
    '| condition | reasons that make it False | Events |',
    '|---|---|---|',
    ...[...Map.groupBy(catalogue, ({ condition }) => condition)].map(([condition, rules]) => {
      const [reasons, events] = [true, false].map((isCondition) =>
        links(rules.filter(({ severity }) => (severity === 'Condition') === isCondition)),
      );
      return `| ${condition} | ${reasons} | ${events} |`;
    }),
    '',
    ...rulesFile,
  ].join('\n');

/** File name to content. */
export const healthPages = (): ReadonlyMap<string, string> => {
  const byFile = new Map<string, HealthRule[]>();
  for (const rule of catalogue) {
    byFile.set(fileOf(rule), [...(byFile.get(fileOf(rule)) ?? []), rule]);
  }
  return new Map([
    ['README.md', index()],
    ...[...byFile].map(([name, rules]) => [name, page(rules)] as const),
  ]);
};

if (import.meta.main) {
  mkdirSync(healthDirectory, { recursive: true });
  const pages = healthPages();
  for (const name of readdirSync(healthDirectory)) {
    if (!pages.has(name)) rmSync(join(healthDirectory, name));
  }
  for (const [name, text] of pages) writeFileSync(join(healthDirectory, name), text);
}
