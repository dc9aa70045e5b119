// Prints docs/cli.md from the program itself: node scripts/print-cli.ts > docs/cli.md. It runs no
// command.
import type { Command, Option } from 'commander';
import { buildProgram } from '../src/cli/program.ts';
import { helpOnlyContext } from '../test/builders/help-only-context.ts';

const introduction = `# The command line

Generated from the program: \`node scripts/print-cli.ts\`. \`drover COMMAND --help\` adds notes,
examples, exit codes, and the choices and defaults of flags.

A node is named by its name, \`node NAME\`, \`node/NAME\` or its EC2 instance id. An update is
named by its id or a unique prefix of it.

EXIT
Output goes to stdout, errors and progress to stderr. \`-o json\` and \`-o yaml\` print documents
for scripts ([shapes](cli-documents.md)). \`DROVER_LOG=debug|info|warn|error|silent\` sets the log level of \`up\` (default
\`warn\`), \`controller\` and \`agent\` (default \`info\`). Compiled code is cached in
\`$XDG_CACHE_HOME/drover/compiled\`; \`NODE_DISABLE_COMPILE_CACHE=1\` disables that.

The definitions that \`drover controller\` installs need Kubernetes 1.30 or later.`;

const exitCodeTable = `| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed: the message names the object, the rule and the remedy |
| 2 | usage: an invalid flag or argument |
| 3 | refused, or findings: the reasons are printed |
| 4 | timed out |
| 130 | interrupted; recorded work continues. A second ^C ends the command at once |
`;

/** Without hidden commands. */
const shownOf = (command: Command): readonly Command[] => {
  const visible = new Set(command.createHelp().visibleCommands(command));
  return command.commands.filter((child) => visible.has(child));
};

/** Commands that do something, by full name; one with an argument may have others below it. */
export const commandsOf = (
  command: Command,
  path: string,
): readonly (readonly [string, Command])[] => [
  ...(command.commands.length === 0 ||
  command.registeredArguments.length > 0 ||
  (path !== 'drover' && command.options.length > 0)
    ? [[path, command] as const]
    : []),
  ...shownOf(command).flatMap((child) => commandsOf(child, `${path} ${child.name()}`)),
];

/** One line per flag; the help alone lists the choices and the defaults that commander prints. */
const flagLine = (command: Command, option: Option): string => {
  const help = command.createHelp();
  const describe = command.configureHelp().optionDescription ?? help.optionDescription;
  const text = describe.call(help, option).replace(/ \((?:choices|default): [^()]*\)/g, '');
  return `- \`${option.flags}\` ${text}`;
};

const nameOf = (option: Option): string => option.short ?? option.long ?? option.flags;

/** Flags with one meaning that commands word differently: [name, their words, printed line]. */
const alike: readonly (readonly [string, RegExp, string])[] = [
  ['--timeout', /^how long to/, '`--timeout <duration>` how long to wait'],
  ['--no-wait', /^return once|^do not wait/, '`--no-wait` return once the request is recorded'],
  ['-w', / until /, '`-w, --wait [bool]` wait until the end'],
  ['--dry-run', /^print/, '`--dry-run` print the plan and change nothing'],
  ['--yes', /only print/, '`--yes` do it; without it, only print what would be done'],
  ['-o', /^output/, '`-o, --output <format>` table, json, yaml, or what `--help` lists'],
  ['-r', /^AWS region/, '`-r, --region <region>` AWS region'],
  ['--cluster', /^name of the cluster/, '`--cluster <name>` name of the cluster'],
  [
    '--nodegroup',
    /node group/,
    '`--nodegroup <name>` only this node group; of its updates the active one, else the newest',
  ],
  ['--kubernetes', /version/i, '`--kubernetes <version>` Kubernetes version of the nodes'],
  ['--endpoint', /^API server/, '`--endpoint <url>` API server of the cluster'],
];

/** The line of a flag in the list of flags that several commands share. */
const sharedLine = (command: Command, option: Option): string => {
  const row = alike.find(
    ([name, words]) => name === nameOf(option) && words.test(option.description),
  );
  return row === undefined ? flagLine(command, option) : `- ${row[2]}`;
};

/** Lines of flags that mean the same in several commands: per name the most frequent meaning. */
const sharedFlags = (commands: readonly Command[]): ReadonlySet<string> => {
  const all = commands.flatMap((command) =>
    command.options.map((option) => ({ line: sharedLine(command, option), name: nameOf(option) })),
  );
  const shared = [...Map.groupBy(all, ({ name }) => name).values()].flatMap((named) => {
    const meanings = [...Map.groupBy(named, ({ line }) => line).values()];
    const [most] = meanings.toSorted((a, b) => b.length - a.length);
    return most === undefined || most.length < 2 ? [] : most.slice(0, 1);
  });
  const sorted = shared.toSorted((a, b) => a.name.localeCompare(b.name));
  return new Set(sorted.map(({ line }) => line));
};

const flagsOf = (command: Command, shared: ReadonlySet<string>): string => {
  const [others, own] = [true, false].map((isShared) =>
    command.options.filter((option) => shared.has(sharedLine(command, option)) === isShared),
  );
  const names = (others ?? []).map(nameOf);
  const lines = (own ?? []).map((option) => flagLine(command, option));
  const all = names.length === 0 ? lines : [...lines, `- also: ${names.join(' ')}`];
  return all.map((line) => `${line}\n`).join('');
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const usageOf = (command: Command): string =>
  command
    .createHelp()
    .commandUsage(command)
    .replace(/^(drover )?/, 'drover ')
    .replace(' [options]', '');

/** The heading is the usage; the help itself has the examples. */
const sectionOf = (command: Command, shared: ReadonlySet<string>): string =>
  `## ${usageOf(command).replaceAll('<', '\\<')}\n\n${sentence(command.description())}
${flagsOf(command, shared)}`;

/** The complete page. */
export const cliPage = (): string => {
  const program = buildProgram(helpOnlyContext, '0.0.0');
  const commands = commandsOf(program, 'drover').map(([, command]) => command);
  const shared = sharedFlags(commands);
  const every = program.options.map((option) => flagLine(program, option)).join('\n');
  return [
    `${introduction.replace('EXIT\n', `${exitCodeTable}\n`)}\n`,
    `## Flags of every command\n\n${every}\n- \`-h, --help\`: usage and examples\n`,
    '## Flags of several commands\n',
    `Each command lists which of these it takes.\n\n${[...shared].join('\n')}\n`,
    ...commands.map((command) => sectionOf(command, shared)),
  ].join('\n');
};

if (import.meta.main) process.stdout.write(cliPage());
