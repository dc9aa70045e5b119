// drover completion bash|zsh|fish, and the hidden command that the scripts call at each TAB. Reads
// names from the cluster, changes nothing.
import { Argument, type Command } from 'commander';
import { candidatesFor } from '../completion/candidates.ts';
import { namesOf } from '../completion/names.ts';
import { completionScripts, endings, type Shell, shells } from '../completion/scripts.ts';
import type { CliContext, Connection } from '../context.ts';

const complete = async (
  program: Command,
  context: CliContext,
  words: readonly string[],
): Promise<void> => {
  const last = words.at(-1) ?? '';
  const found = candidatesFor(program, words);
  for (const word of found.words) context.out(word);
  if (found.names !== undefined) {
    const typed = last.startsWith('--') ? last.slice(last.indexOf('=') + 1) : last;
    const before = last.slice(0, last.length - typed.length);
    const asked = { kind: found.names, last: typed };
    const connection = connectionIn(words);
    for (const name of await namesOf(context, connection, asked)) context.out(`${before}${name}`);
  }
  context.out(found.isFile ? endings.withFiles : endings.withoutFiles);
};

const flagsOfConnection = {
  '--data-dir': 'dataDir',
  '--kubeconfig': 'kubeconfig',
  '--context': 'context',
} as const;

/** Options of the program among the typed words, which select the cluster. */
const connectionIn = (words: readonly string[]): Connection => {
  const connection: { dataDir?: string; kubeconfig?: string; context?: string } = {};
  words.forEach((word, i) => {
    for (const [flag, key] of Object.entries(flagsOfConnection)) {
      const value =
        word === flag
          ? words[i + 1]
          : word.startsWith(`${flag}=`)
            ? word.slice(flag.length + 1)
            : undefined;
      if (value !== undefined && value !== '') connection[key as keyof typeof connection] = value;
    }
  });
  return connection;
};

export const addCompletionCommands = (program: Command, context: CliContext): void => {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(shells))
    .addHelpText(
      'after',
      `
It completes commands, flags and choices, and names of nodes, node groups and updates from the
cluster of the command line. For \`kubectl drover\`, kubectl 1.26 and later calls
bin/kubectl_complete-drover: both files of bin/ must be on the PATH.

Examples:
  source <(drover completion bash)
  drover completion zsh > "\${fpath[1]}/_drover"
  drover completion fish | source`,
    )
    .action((shell: Shell) => context.out(completionScripts[shell].trimEnd()));
  program
    .command('__complete [words...]', { hidden: true })
    .action((words: readonly string[]) => complete(program, context, words));
};
