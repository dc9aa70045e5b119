// The words that may follow on a command line: commands, options and choices from the command tree,
// and the kind of name where a name is expected. Runs no command and reads no cluster.
import type { Argument, Command, Option } from 'commander';

/** The kind of object whose names are expected. */
export type NameKind = 'nodes' | 'nodegroups' | 'updates' | 'sequences';

export interface Candidates {
  /** Candidates that start with the last word. */
  readonly words: readonly string[];
  /** Names from the cluster are expected, too. */
  readonly names?: NameKind;
  /** A file is expected: the shell completes it. */
  readonly isFile: boolean;
}

const none: Candidates = { words: [], isFile: false };

/** The kind of object that `<name>` or `<id>` means, by the name of the command. */
const kindsOfCommands: Readonly<Record<string, NameKind>> = {
  nodegroup: 'nodegroups',
  update: 'updates',
  updates: 'updates',
  sequence: 'sequences',
  sequences: 'sequences',
  node: 'nodes',
  explain: 'nodes',
};

const kindOfArgument = (command: Command, argument: Argument): NameKind | undefined => {
  switch (argument.name()) {
    case 'node':
      return 'nodes';
    case 'nodegroup':
    case 'groups':
      return 'nodegroups';
    case 'name':
    case 'id':
      return kindsOfCommands[command.name()];
    default:
      return undefined;
  }
};

const kindOfOption = (command: Command, option: Option): NameKind | undefined => {
  if (option.long === '--nodegroup') return 'nodegroups';
  if (option.long === '--node') return 'nodes';
  if (option.long !== '--name' || command.parent?.name() === 'create') return undefined;
  return kindsOfCommands[command.name()];
};

/** Arguments and values that name a file or a directory. */
const isPath = (text: string): boolean => /\b(?:file|dir|before|after|target-or-file)\b/.test(text);

const startingWith = (words: readonly string[], last: string): readonly string[] =>
  [...new Set(words)].filter((word) => word.startsWith(last)).sort();

const flagsOf = (command: Command): readonly Option[] => {
  const help = command.createHelp();
  const above = command.parent === null ? [] : flagsOf(command.parent);
  return [...help.visibleOptions(command), ...above];
};

const optionNamed = (command: Command, word: string): Option | undefined =>
  flagsOf(command).find(({ short, long }) => word === short || word === long);

const valueCandidates = (command: Command, option: Option, last: string): Candidates => {
  const { argChoices } = option;
  if (argChoices !== undefined) return { words: startingWith(argChoices, last), isFile: false };
  const names = kindOfOption(command, option);
  if (names !== undefined) return { ...none, names };
  return { words: [], isFile: isPath(option.flags) };
};

interface Place {
  readonly command: Command;
  /** Number of arguments of the command before the last word. */
  readonly given: number;
  /** The option that takes the last word as its value. */
  readonly valueFor?: Option;
}

const placeOf = (program: Command, words: readonly string[]): Place => {
  let command = program;
  let given = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word.startsWith('-')) {
      const option = optionNamed(command, word);
      if (option === undefined || !option.required) continue;
      if (i === words.length - 1) return { command, given, valueFor: option };
      i++;
      continue;
    }
    const inner = command.commands.find(
      (one) => given === 0 && (one.name() === word || one.aliases().includes(word)),
    );
    if (inner === undefined) given++;
    else command = inner;
  }
  return { command, given };
};

/** `words`: the words after the program's name; the last one is incomplete and may be empty. */
export const candidatesFor = (program: Command, words: readonly string[]): Candidates => {
  const last = words.at(-1) ?? '';
  const { command, given, valueFor } = placeOf(program, words.slice(0, -1));
  if (valueFor !== undefined) return valueCandidates(command, valueFor, last);
  const equals = last.indexOf('=');
  if (last.startsWith('--') && equals > 0) {
    const option = optionNamed(command, last.slice(0, equals));
    if (option === undefined) return none;
    const found = valueCandidates(command, option, last.slice(equals + 1));
    return { ...found, words: found.words.map((word) => `${last.slice(0, equals + 1)}${word}`) };
  }
  if (last.startsWith('-')) {
    const flags = flagsOf(command).map(({ short, long }) => long ?? short ?? '');
    return { words: startingWith(flags, last), isFile: false };
  }
  const help = command.createHelp();
  const inner = given > 0 ? [] : help.visibleCommands(command).map((one) => one.name());
  const all = command.registeredArguments;
  const argument = all[Math.min(given, all.length - 1)];
  const expected = argument !== undefined && (given < all.length || argument.variadic);
  if (!expected) return { words: startingWith(inner, last), isFile: false };
  const choices = [...inner, ...(argument.argChoices ?? [])];
  const names = kindOfArgument(command, argument);
  const isFile = names === undefined && isPath(argument.name());
  const found = { words: startingWith(choices, last), isFile };
  return names === undefined ? found : { ...found, names };
};
