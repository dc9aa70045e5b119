// Prints docs/rules: a page for each rule on user data and an index of them, from the catalogue in
// src/core/bootstrap/rules. A test compares.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Rule, rules, type Sample } from '../src/core/bootstrap/index.ts';

export const rulesDirectory = join(import.meta.dirname, '..', 'docs', 'rules');

const flagsOf = ({ options = {} }: Sample): string => {
  const {
    family,
    kubernetesVersion,
    instanceType,
    launchedBy,
    isPrefixDelegation,
    windowsRoles = [],
  } = options;
  const flags = [
    ...(family === undefined ? [] : [`--family ${family}`]),
    ...(kubernetesVersion === undefined ? [] : [`--kubernetes ${kubernetesVersion}`]),
    ...(instanceType === undefined ? [] : [`--instance-type ${instanceType}`]),
    ...(launchedBy === undefined ? [] : [`--${launchedBy}`]),
    ...(isPrefixDelegation === true ? ['--prefix-delegation'] : []),
    ...windowsRoles.map((role) => `--windows-role ${role}`),
  ];
  return flags.length === 0 ? '' : ` (with \`${flags.join(' ')}\`)`;
};

/** Long samples are shortened to their beginning. */
const shown = (text: string): string => {
  const lines = text.trimEnd().split('\n');
  const cut = lines.length > 40 ? [...lines.slice(0, 20), '...'] : lines;
  return ['~~~', ...cut, '~~~'].join('\n');
};

const page = (rule: Rule): string =>
  [
    `# ${rule.id}: ${rule.title}`,
    '',
    `Severity: ${rule.severity}. Source: ${rule.source}.`,
    '',
    '## On the node',
    rule.consequence,
    '',
    '## Fix',
    rule.fix,
    '',
    `## Found in${flagsOf(rule.bad)}`,
    shown(rule.bad.text),
    '',
    `## Not found in${flagsOf(rule.good)}`,
    shown(rule.good.text),
    '',
    `Silence it with a reason: \`# drover:ignore ${rule.id} because ...\` on the line or the one above.`,
    '',
  ].join('\n');

const index = (): string =>
  [
    '# Rules on user data',
    '',
    'What `drover userdata lint` finds. Printed by `node scripts/print-rules.ts` from the catalogue in',
    '`src/core/bootstrap/rules`; each rule’s two samples are its test.',
    '',
    '| rule | severity | finding |',
    '|---|---|---|',
    ...rules.map(({ id, severity, title }) => `| [${id}](${id}.md) | ${severity} | ${title} |`),
    '',
  ].join('\n');

/** File name to content. */
export const rulePages = (): ReadonlyMap<string, string> =>
  new Map([['README.md', index()], ...rules.map((rule) => [`${rule.id}.md`, page(rule)] as const)]);

if (import.meta.main) {
  mkdirSync(rulesDirectory, { recursive: true });
  const pages = rulePages();
  for (const name of readdirSync(rulesDirectory)) {
    if (!pages.has(name)) rmSync(join(rulesDirectory, name));
  }
  for (const [name, text] of pages) writeFileSync(join(rulesDirectory, name), text);
}
