// Prints docs/cli.md from the program itself: node scripts/print-cli.ts > docs/cli.md. It runs no
// command.
import type { Command, Option } from 'commander';
import { buildProgram } from '../src/cli/program.ts';
import { helpOnlyContext } from '../test/builders/help-only-context.ts';

const introduction = `# The command line

\`drover\` runs on any Node; \`npx --no drover\` uses the one of this directory. This page is
generated from the program: \`node scripts/print-cli.ts\`.

Every command takes the flags of the table below. A node is named by its name, \`node NAME\`,
\`node/NAME\` or its EC2 instance id.

EXIT
Output goes to stdout, errors and progress to stderr. \`-o json\` and \`-o yaml\` print
documents for scripts; a document with an \`apiVersion\` changes its meaning only together with
it. \`DROVER_LOG=debug|info|warn|error|silent\` sets the log level of \`up\` (default \`warn\`),
\`controller\` and \`agent\` (default \`info\`). Compiled code is cached in
\`$XDG_CACHE_HOME/drover/compiled\`;
\`NODE_DISABLE_COMPILE_CACHE=1\` disables that.`;

const exitCodeTable = `| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed: the message names the object, the rule and the remedy |
| 2 | usage: an invalid flag or argument |
| 3 | refused, or findings: the reasons are printed |
| 4 | timed out |
| 130 | interrupted; recorded work continues. A second ^C ends the command at once |
`;

/** Commands that do something, by full name; one with an argument may have others below it. */
/** Without hidden commands. */
const shownOf = (command: Command): readonly Command[] => {
  const visible = new Set(command.createHelp().visibleCommands(command));
  return command.commands.filter((child) => visible.has(child));
};

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

const cell = (text: string): string => text.replaceAll('|', '\\|');

const flagTable = (command: Command): string => {
  const help = command.createHelp();
  const describe = command.configureHelp().optionDescription ?? help.optionDescription;
  const rows = command.options.map(
    (option: Option) => `| \`${option.flags}\` | ${cell(describe.call(help, option))} |`,
  );
  return rows.length === 0 ? '' : `\n| flag | meaning |\n|---|---|\n${rows.join('\n')}\n`;
};

/** What the command adds to its help: text, and examples as a code block. */
const textAfter = (command: Command): string => {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
  });
  command.outputHelp();
  const after = printed.slice(command.helpInformation().length).trim();
  const paragraphs = after.split(/\n\n+/).map((paragraph) => {
    if (!paragraph.startsWith('Examples:\n')) return paragraph;
    return `\`\`\`\n${paragraph.slice('Examples:\n'.length).replace(/^ {2}/gm, '')}\n\`\`\``;
  });
  return `\n${paragraphs.join('\n\n')}\n`;
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const section = ([name, command]: readonly [string, Command]): string => {
  const usage = `drover ${command
    .createHelp()
    .commandUsage(command)
    .replace(/^drover /, '')}`;
  const head = `## ${name}\n\n${sentence(command.description())}\n\n\`${usage}\`\n`;
  return `${head}${flagTable(command)}${textAfter(command)}`;
};

/** The whole page. */
export const cliPage = (): string => {
  const program = buildProgram(helpOnlyContext, '0.0.0');
  const top = `## Every command\n${flagTable(program)}`;
  const sections = commandsOf(program, 'drover').map(section);
  const start = introduction.replace('EXIT\n', `${exitCodeTable}\n`);
  return [`${start}\n`, top, ...sections].join('\n');
};

if (import.meta.main) process.stdout.write(cliPage());
