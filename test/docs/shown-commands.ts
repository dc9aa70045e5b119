// Extracts the `drover` command lines from the code blocks of a Markdown page, as a shell would
// split them. Expands nothing: a variable or a substitution stays in its word.

export interface ShownCommand {
  readonly line: number;
  /** The arguments, without the program's own name. */
  readonly words: readonly string[];
}

const programs = /(?:npx --no(?: --)? drover|npx \.\/drover-[\d.]+\.tgz|drover)(?=[ \n])/y;
/** Where a shell command may begin: a line, a substitution, or after an operator. */
const starts = /(?:^(?:\$ )?|\$\(|<\(|\| |&& )/gm;

/** One quoted or plain part of a word; groups 1 to 3 are its text. `$(...)` may contain quotes. */
const part =
  /"((?:\$\((?:"[^"]*"|[^()"])*\)|\\.|[^"\\])*)"|'([^']*)'|((?:\$\{[^}]*\}|\\[^\n]|[^\s"'\\|&;()<>])+)/y;
const gap = /(?:[ \t]|\\\n)+/y;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

const wordsFrom = (text: string, start: number): readonly string[] => {
  const words: string[] = [];
  let at = start;
  for (;;) {
    const space = matchAt(gap, text, at);
    if (space === null) return words;
    at += space[0].length;
    if (text[at] === '#') return words;
    let word: string | undefined;
    for (;;) {
      const found = matchAt(part, text, at);
      if (found === null) break;
      word = `${word ?? ''}${found[1] ?? found[2] ?? found[3] ?? ''}`;
      at += found[0].length;
    }
    if (word === undefined) return words;
    words.push(word);
  }
};

/** The blocks that are commands: without a language, or `sh`. */
export const commandBlocks = (page: string): readonly { line: number; text: string }[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(
    ({ index, 1: language, 2: text = '' }) =>
      language === '' || language === 'sh'
        ? [{ line: page.slice(0, index).split('\n').length + 1, text }]
        : [],
  );

export const shownCommands = (page: string): readonly ShownCommand[] =>
  commandBlocks(page).flatMap(({ line, text }) =>
    [...text.matchAll(starts)].flatMap(({ index, 0: start }) => {
      const program = matchAt(programs, text, index + start.length);
      if (program === null) return [];
      const at = index + start.length;
      const words = wordsFrom(text, at + program[0].length);
      return [{ line: line + text.slice(0, at).split('\n').length - 1, words }];
    }),
  );

/** `drover` commands within the text. Ellipses and alternatives (`a|b`) end a command. */
export const mentionedCommands = (page: string): readonly (readonly string[])[] =>
  [...page.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`drover ([^`]+)`/g)].map(
    ([, text = '']) => {
      const line = text.replaceAll('\n', ' ');
      return wordsFrom(` ${line.replace(/ ?(?:\.\.\.|…|\S*\|).*$/, '')}`, 0);
    },
  );
