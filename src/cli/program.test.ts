// docs/cli.md is the program's own help; the help of each command shows two examples.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { cliPage, commandsOf } from '../../scripts/print-cli.ts';
import { helpOnlyContext } from '../../test/builders/help-only-context.ts';
import { buildOneCommand, commandsAlone } from './one-command.ts';
import { buildProgram } from './program.ts';

const program = buildProgram(helpOnlyContext, '0.0.0');
const commands = commandsOf(program, 'drover');

/** The help of a command and of its subcommands. */
const helpOf = (command: Command | undefined): readonly string[] => [
  command?.helpInformation() ?? '',
  ...(command?.commands ?? []).flatMap(helpOf),
];
const childOf = (parent: Command | undefined, name: string): Command | undefined =>
  parent?.commands.find((command) => command.name() === name);

describe('a command that is loaded without the others', () => {
  it.each([...commandsAlone.keys()])('%s is the one of the whole program', async (word) => {
    const alone = childOf(await buildOneCommand(word, helpOnlyContext), word);
    expect(alone).toBeDefined();
    expect(helpOf(alone)).toEqual(helpOf(childOf(program, word)));
  });
});

describe('docs/cli.md', () => {
  it('is what scripts/print-cli.ts prints', () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    expect(page).toBe(cliPage());
  });

  it.each(commands)('names the flags of %s', (name, command) => {
    const heading = new RegExp(`\n## ${name}(?:\\|\\S+)?(?: (?:\\\\<|\\[).*)?\n`);
    const [, section = ''] = cliPage().split(heading);
    const [own = ''] = section.split('\n## ');
    const words = new Set(own.split(/[ `,\n]+/));
    for (const { short, long } of command.options) {
      expect(
        [short, long].some((flag) => words.has(flag ?? '')),
        long ?? short,
      ).toBe(true);
    }
  });
});

/** Commands that only have subcommands. */
const familiesOf = (parent: Command): readonly (readonly [string, Command])[] =>
  parent.commands.flatMap((command) => [
    ...(command.commands.length > 0 ? [[command.name(), command] as const] : []),
    ...familiesOf(command),
  ]);
const families = familiesOf(program);

describe('help', () => {
  it.each([...commands, ...families])('of %s has a description and two examples', (_, command) => {
    let help = '';
    command.configureOutput({
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    expect(command.description()).not.toBe('');
    const [, examples = ''] = help.split('\nExamples:\n');
    const [block = ''] = examples.split('\n\n');
    const count = [...block.matchAll(/^ {2}\S/gm)].length;
    expect(count).toBeGreaterThanOrEqual(2);
  });
});
