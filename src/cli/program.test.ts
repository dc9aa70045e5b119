// docs/cli.md and the program name the same commands and flags; each command shows an example.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliContext } from './context.ts';
import { buildOneCommand, commandsAlone } from './one-command.ts';
import { buildProgram } from './program.ts';

const unused = (): never => {
  throw new Error('no command runs here');
};
const context = {
  out: unused,
  err: unused,
  isTerminal: false,
  progress: unused,
  screen: { size: unused, draw: unused },
  clock: { now: unused, sleep: unused },
  signal: new AbortController().signal,
  userName: 'somebody',
  kube: unused,
  cluster: unused,
  cloud: unused,
  provisioning: unused,
  readFile: unused,
  readBytes: unused,
  writeFile: unused,
  host: unused,
  metadata: unused,
  openLog: unused,
  auditFiles: unused,
  logQueries: unused,
  world: unused,
  environment: unused,
  up: unused,
  controller: unused,
  agent: unused,
  agentCheck: unused,
  agentBundle: unused,
} satisfies CliContext;

const program = buildProgram(context, '0.0.0');

/**
 * Commands that do something, by their full name; one with an argument or flags may have others
 * below it.
 */
const leaves = (command: Command, path: string): readonly (readonly [string, Command])[] => [
  ...(command.commands.length === 0 ||
  command.registeredArguments.length > 0 ||
  (path !== 'drover' && command.options.length > 0)
    ? [[path, command] as const]
    : []),
  ...command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`)),
];
const commands = leaves(program, 'drover');

const flagsOf = (command: Command): readonly string[] =>
  command.options.map(({ flags }) => flags).sort();

/** Section title -> the flags in the first column of its table. */
const documented = new Map(
  readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const title = section.slice(0, section.indexOf('\n'));
      const flags = [...section.matchAll(/^\| `(-[^`]*)` \|/gm)].map((match) => match[1] ?? '');
      return [title, flags.sort()] as const;
    }),
);

/** All that is said of a command and those below it. */
const helpOf = (command: Command | undefined): readonly string[] => [
  command?.helpInformation() ?? '',
  ...(command?.commands ?? []).flatMap(helpOf),
];
const childOf = (parent: Command | undefined, name: string): Command | undefined =>
  parent?.commands.find((command) => command.name() === name);

describe('a command that is loaded without the others', () => {
  it.each([...commandsAlone.keys()])('%s is the one of the whole program', async (word) => {
    const alone = childOf(await buildOneCommand(word, context), word);
    expect(alone).toBeDefined();
    expect(helpOf(alone)).toEqual(helpOf(childOf(program, word)));
  });
});

describe('docs/cli.md', () => {
  it('has one section for every command, and no other', () => {
    const titles = [...documented.keys()].filter((title) => title !== 'Every command');
    expect(titles.sort()).toEqual(commands.map(([name]) => name).sort());
  });

  it('names the flags of every command', () => {
    expect(documented.get('Every command')).toEqual(flagsOf(program));
  });

  it.each(commands)('names the flags of %s', (name, command) => {
    expect(documented.get(name)).toEqual(flagsOf(command));
  });
});

describe('help', () => {
  it.each(commands)('of %s has a description and an example', (_, command) => {
    let help = '';
    command.configureOutput({
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    expect(command.description()).not.toBe('');
    expect(help).toContain('\nExamples:\n');
  });
});
