// Every `drover` command in a code block of the README and the pages, and every example of a help,
// is accepted by the real parser: command, flags, choices and number of arguments. Commands that
// need neither a cluster nor AWS are run. Every file of the repository that a block names exists.
import { existsSync, globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandsOf } from '../../scripts/print-cli.ts';
import { examplesOf } from '../../src/cli/family-examples.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';
import { commandBlocks, mentionedCommands, shownCommands } from './shown-commands.ts';

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'world/README.md'],
  ...globSync('docs/{*,runbooks/*,rules/*}.md').toSorted(),
];
const examples = commandsOf(buildProgram(helpOnlyContext, '0.0.0'), 'drover').flatMap(
  ([name, command]) =>
    shownCommands(`\`\`\`\n${examplesOf(command).join('\n')}\n\`\`\`\n`).map(({ words }) => ({
      where: `${name} --help`,
      words,
    })),
);
const shown = [
  ...pages.flatMap((page) =>
    shownCommands(readFileSync(page, 'utf8')).map(({ line, words }) => ({
      where: `${page}:${line}`,
      words,
    })),
  ),
  ...examples,
];

/** Accepts `words` without running the command. Throws commander's error. */
const parse = async (words: readonly string[]): Promise<void> => {
  const program = buildProgram(helpOnlyContext, '0.0.0');
  for (const [, command] of commandsOf(program, 'drover')) command.action(() => undefined);
  const quiet = (command: Command): void => {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.commands.forEach(quiet);
  };
  quiet(program);
  await program.parseAsync(words, { from: 'user' });
};

/** src/main answers `drover --version` before the program sees it. */
const isVersion = (words: readonly string[]): boolean => words.join() === '--version';

/** Commander's codes for a command that is only named. */
const leftOut = new Set([
  ...['commander.missingArgument', 'commander.missingMandatoryOptionValue'],
  ...['commander.optionMissingArgument', 'commander.help', 'commander.helpDisplayed'],
]);

describe('the commands of the pages', () => {
  it('are found on every page with a job', () => {
    const found = new Set(shown.map(({ where }) => where.replace(/:\d+$/, '')));
    const jobs = ['start', 'your-cluster', 'updates', 'node-groups', 'world', 'health', 'insights'];
    for (const job of jobs) expect(found).toContain(`docs/${job}.md`);
    expect(found).toContain('README.md');
    expect(examples.length).toBeGreaterThan(130);
    expect(shown.length).toBeGreaterThan(250);
  });

  it('are accepted by the parser', async () => {
    const refused: string[] = [];
    for (const { where, words } of shown.filter((one) => !isVersion(one.words))) {
      await parse(words).catch((error: Error) => {
        refused.push(`${where}: drover ${words.join(' ')}: ${error.message}`);
      });
    }
    expect(refused).toEqual([]);
  });

  it('are accepted by the parser in the text, too, though arguments may be left out there', async () => {
    const mentions = pages.flatMap((page) =>
      mentionedCommands(readFileSync(page, 'utf8')).map((words) => ({ page, words })),
    );
    expect(mentions.length).toBeGreaterThan(100);
    const refused: string[] = [];
    for (const { page, words } of mentions.filter((one) => !isVersion(one.words))) {
      await parse(words).catch((error: Error & { readonly code?: string }) => {
        if (leftOut.has(error.code ?? '')) return;
        refused.push(`${page}: drover ${words.join(' ')}: ${error.message}`);
      });
    }
    expect(refused).toEqual([]);
  });

  it.each([
    ['an unknown flag', ['plan', 'update', 'ng', '--dry']],
    ['an unknown command', ['plans', 'update', 'ng']],
    ['a surplus argument', ['completion', 'bash', 'zsh']],
    ['a missing argument', ['userdata', 'lint']],
    ['a value outside of the choices', ['completion', 'tcsh']],
  ])('would be refused with %s', async (_, words) => {
    await expect(parse(words)).rejects.toThrow();
  });

  it('name files that exist', () => {
    const files = pages.flatMap((page) =>
      commandBlocks(readFileSync(page, 'utf8')).flatMap(
        ({ text }) => text.match(/(?<![\w/.-])(?:deploy|test|scripts|src|world)\/[\w./-]+/g) ?? [],
      ),
    );
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });
});

/** Contents of the files that the pages name as arguments of offline commands. */
const samples: Readonly<Record<string, string>> = {
  'user-data.txt': '#!/bin/bash\n/etc/eks/bootstrap.sh my-cluster\n',
};
const offline = /^(?:completion|setup aws|userdata (?:lint|explain|render|diff)|version)\b/;

describe('the offline commands of the pages', () => {
  const first = new Map(
    shown
      .filter(({ where }) => !/^docs\/cli\.md|--help$/.test(where))
      .filter(({ words }) => offline.test(words.join(' ')))
      .map((command) => [command.words.join(' '), command] as const),
  );

  it('include each kind', () => {
    expect([...first.keys()].map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['completion', 'setup', 'userdata']),
    );
  });

  it.each([...first])('drover %s', async (_, { words }) => {
    const lines: string[] = [];
    const context = {
      ...helpOnlyContext,
      out: (line: string) => lines.push(line),
      err: (line: string) => lines.push(line),
      readBytes: async (path: string) => new TextEncoder().encode(samples[path]),
      readFile: async (path: string) => samples[path] ?? '',
    };
    await buildProgram(context, '0.0.0').parseAsync(words, { from: 'user' });
    expect(lines.join('\n')).not.toBe('');
  });
});
