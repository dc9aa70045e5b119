// Gives examples to the help of commands that only have subcommands: the first ones of those.
// Writes no example of its own.
import type { Command } from 'commander';

const most = 2;
const heading = '\nExamples:\n';

/** The command's complete help, with the texts that follow the flags. */
const helpOf = (command: Command): string => {
  const before = command.configureOutput();
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  command.configureOutput(before);
  return help;
};

/** The examples of the command's help, one per string; one may have several lines. */
export const examplesOf = (command: Command): readonly string[] => {
  const [, text = ''] = helpOf(command).split(heading);
  const [block = ''] = text.split('\n\n');
  const [, ...examples] = block.split(/^ {2}(?=\S)/m);
  return examples.map((example) => example.replace(/^ {2}/gm, '').trimEnd());
};

/** An example of each of two subcommands, or two of the only one. */
const examplesBelow = ({ commands }: Command): readonly string[] => {
  const [first = [], ...others] = commands.map(examplesOf);
  return [...first.slice(0, 1), ...others.flatMap(([one]) => one ?? []), ...first.slice(1)];
};

/**
 * For all commands below `program` that only have subcommands; those with flags or arguments of
 * their own have examples of their own.
 */
export const addFamilyExamples = (program: Command): void => {
  for (const command of program.commands) {
    addFamilyExamples(command);
    const { commands, options, registeredArguments } = command;
    if (commands.length === 0 || options.length + registeredArguments.length > 0) continue;
    command.addHelpText('after', () => {
      const shown = examplesBelow(command).slice(0, most);
      return `${heading}${shown.join('\n').replace(/^/gm, '  ')}`;
    });
  }
};
