// POSIX shell scripts as commands of words, with bash's $'..' and <<<: quotes, escapes, expansions
// and here-documents by the shell's rules. Runs nothing, expands nothing, never throws.
import { begin, Lines, type ParseFault, type Position, within } from '../position.ts';

/** A part of a word. `offset`: where it starts in the script. */
export type ShellSegment =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly offset: number;
      readonly quoted: boolean;
    }
  | {
      readonly kind: 'variable';
      readonly name: string;
      /** Of `${name:-fallback}`. */
      readonly fallback: string | undefined;
      readonly offset: number;
      readonly quoted: boolean;
    }
  | {
      readonly kind: 'command';
      readonly source: string;
      readonly offset: number;
      readonly quoted: boolean;
    };

export interface ShellWord {
  readonly segments: readonly ShellSegment[];
  readonly source: string;
  readonly offset: number;
}

export interface HereDocument {
  readonly body: string;
  readonly at: Position;
  /** The delimiter was quoted: nothing is expanded. */
  readonly isLiteral: boolean;
}

export interface ShellCommand {
  readonly words: readonly ShellWord[];
  readonly offset: number;
  /** Target of `>` or `>>`, and input from a here-document. */
  readonly output: ShellWord | undefined;
  readonly input: HereDocument | undefined;
}

export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  readonly faults: readonly ParseFault[];
  readonly positionOf: (offset: number) => Position;
}

const maxDepth = 32;
const reserved = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'do',
  'done',
  'while',
  'until',
  '{',
  '}',
  '!',
  'time',
]);
const endsWord = /[ \t\r\n;&|<>()]/;

interface PendingHere {
  readonly delimiter: string;
  readonly stripTabs: boolean;
  readonly isLiteral: boolean;
  readonly command: OpenCommand;
}

interface OpenCommand {
  words: ShellWord[];
  offset: number;
  output: ShellWord | undefined;
  input: HereDocument | undefined;
}

class Lexer {
  readonly text: string;
  readonly #outer: Position;
  readonly #lines: Lines;
  readonly faults: ParseFault[] = [];
  readonly commands: OpenCommand[] = [];
  #open: OpenCommand;
  #pending: PendingHere[] = [];
  at = 0;

  constructor(text: string, outer: Position) {
    this.text = text;
    this.#outer = outer;
    this.#lines = new Lines(text);
    this.#open = this.#fresh();
  }

  positionOf(offset: number): Position {
    return within(this.#outer, this.#lines.at(offset));
  }

  #fresh(): OpenCommand {
    return { words: [], offset: this.at, output: undefined, input: undefined };
  }

  #end(): void {
    if (this.#open.words.length > 0 || this.#open.output !== undefined) {
      this.commands.push(this.#open);
    }
    this.#open = this.#fresh();
  }

  run(): void {
    const { text } = this;
    while (this.at < text.length) {
      const char = text[this.at] ?? '';
      if (char === '\n') {
        this.at++;
        this.#end();
        this.#hereDocuments();
      } else if (char === ' ' || char === '\t' || char === '\r') this.at++;
      else if (char === '\\' && text[this.at + 1] === '\n') this.at += 2;
      else if (char === '#') this.#skipLine();
      else if (/[;&|()]/.test(char) && !text.startsWith('&>', this.at)) {
        this.at++;
        this.#end();
      } else if (/[<>]|&>/.test(text.slice(this.at, this.at + (char === '&' ? 2 : 1)))) {
        this.#redirect();
      } else this.#word();
    }
    this.#end();
    for (const { delimiter } of this.#pending) {
      this.#fault(text.length, `the here-document that ends with ${delimiter} does not end`);
    }
  }

  #skipLine(): void {
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  #fault(offset: number, message: string): void {
    if (this.faults.length < 20) this.faults.push({ at: this.positionOf(offset), message });
  }

  #word(): void {
    const word = this.word();
    const isFirst = this.#open.words.length === 0;
    if (isFirst && reserved.has(word.source)) return;
    // The number of a file descriptor, as in 2>&1.
    if (/^\d$/.test(word.source) && /[<>]/.test(this.text[this.at] ?? '')) return;
    if (isFirst) this.#open.offset = word.offset;
    this.#open.words.push(word);
  }

  #redirect(): void {
    const match = /^(?:<<<|<<-|<<|<&|<>|<|&>>|&>|>>|>&|>\||>)/.exec(
      this.text.slice(this.at, this.at + 3),
    );
    const operator = match?.[0] ?? '>';
    this.at += operator.length;
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t') this.at++;
    const target = this.word();
    if (operator === '<<' || operator === '<<-') {
      this.#pending.push({
        delimiter: target.source.replaceAll(/['"\\]/g, ''),
        stripTabs: operator === '<<-',
        isLiteral: /['"\\]/.test(target.source),
        command: this.#open,
      });
    } else if (operator.includes('>') && operator !== '>&') this.#open.output = target;
  }

  #hereDocuments(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const here of pending) {
      const start = this.at;
      const lines: string[] = [];
      for (;;) {
        if (this.at >= this.text.length) {
          this.#pending.push(here);
          break;
        }
        const end = this.text.indexOf('\n', this.at);
        const raw = this.text.slice(this.at, end < 0 ? this.text.length : end);
        this.at = end < 0 ? this.text.length : end + 1;
        const line = (here.stripTabs ? raw.replace(/^\t+/, '') : raw).replace(/\r$/, '');
        if (line === here.delimiter) break;
        lines.push(line);
      }
      const body = lines.map((line) => `${line}\n`).join('');
      here.command.input = { body, at: this.positionOf(start), isLiteral: here.isLiteral };
    }
  }

  word(): ShellWord {
    const from = this.at;
    const segments: ShellSegment[] = [];
    while (this.at < this.text.length && !endsWord.test(this.text[this.at] ?? '')) {
      this.#segment(segments, false);
    }
    return { segments, source: this.text.slice(from, this.at), offset: from };
  }

  #push(segments: ShellSegment[], text: string, offset: number, quoted: boolean): void {
    segments.push({ kind: 'text', text, offset, quoted });
  }

  #segment(segments: ShellSegment[], quoted: boolean): void {
    const { text } = this;
    const from = this.at;
    const char = text[from] ?? '';
    if (char === '\\') {
      this.at += 2;
      const next = text[from + 1] ?? '';
      if (next === '\n') return;
      const keeps = quoted && !/[$`"\\]/.test(next);
      this.#push(segments, keeps ? `\\${next}` : next, from, true);
    } else if (char === "'" && !quoted) this.#single(segments);
    else if (char === '"' && !quoted) this.#double(segments);
    else if (char === '$') this.#dollar(segments, quoted);
    else if (char === '`') this.#backticks(segments, quoted);
    else {
      const stop = quoted ? /[\\"$`]/ : /[ \t\r\n;&|<>()\\'"$`]/;
      let end = from + 1;
      while (end < text.length && !stop.test(text[end] ?? '')) end++;
      this.at = end;
      this.#push(segments, text.slice(from, end), from, quoted);
    }
  }

  #single(segments: ShellSegment[]): void {
    const from = this.at;
    const end = this.text.indexOf("'", from + 1);
    if (end < 0) this.#fault(from, "the quote ' does not end");
    const stop = end < 0 ? this.text.length : end;
    this.#push(segments, this.text.slice(from + 1, stop), from + 1, true);
    this.at = stop + 1;
  }

  #double(segments: ShellSegment[]): void {
    const from = this.at;
    this.at++;
    // An empty pair of quotes is a word too.
    this.#push(segments, '', from, true);
    while (this.at < this.text.length && this.text[this.at] !== '"') this.#segment(segments, true);
    if (this.at >= this.text.length) this.#fault(from, 'the quote " does not end');
    this.at++;
  }

  #backticks(segments: ShellSegment[], quoted: boolean): void {
    const from = this.at;
    let end = from + 1;
    while (end < this.text.length && this.text[end] !== '`') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) this.#fault(from, 'the quote ` does not end');
    const source = this.text.slice(from + 1, end);
    segments.push({ kind: 'command', source, offset: from, quoted });
    this.at = end + 1;
  }

  #dollar(segments: ShellSegment[], quoted: boolean): void {
    const from = this.at;
    const rest = this.text.slice(from, from + 256);
    const name = /^\$([A-Za-z_]\w*|[0-9@*#?$!-])/.exec(rest);
    if (name !== null) {
      this.at += name[0].length;
      const variable = name[1] ?? '';
      segments.push({
        kind: 'variable',
        name: variable,
        fallback: undefined,
        offset: from,
        quoted,
      });
    } else if (rest.startsWith('$(')) {
      const end = this.#matching(from + 1, '(', ')', 0);
      const source = this.text.slice(from + 2, end);
      segments.push({ kind: 'command', source, offset: from, quoted });
      this.at = end + 1;
    } else if (rest.startsWith('${')) {
      const end = this.#matching(from + 1, '{', '}', 0);
      const inner = this.text.slice(from + 2, end);
      const parts = /^(\w+)(?::?-([\s\S]*))?$/.exec(inner);
      segments.push(
        parts === null
          ? { kind: 'command', source: inner, offset: from, quoted }
          : { kind: 'variable', name: parts[1] ?? '', fallback: parts[2], offset: from, quoted },
      );
      this.at = end + 1;
    } else if (rest.startsWith("$'") && !quoted) {
      this.at++;
      this.#single(segments);
    } else {
      this.at++;
      this.#push(segments, '$', from, quoted);
    }
  }

  /** Offset of the bracket that closes the one at `from`; skips quoted text. */
  #matching(from: number, open: string, close: string, depth: number): number {
    let level = 0;
    for (let i = from; i < this.text.length; i++) {
      const char = this.text[i] ?? '';
      if (char === '\\') i++;
      else if (char === open) level++;
      else if (char === close && --level === 0) return i;
      else if (char === "'" || char === '"') {
        const end = this.#closing(i, char);
        if (end < 0) break;
        i = end;
      }
      if (level + depth > maxDepth) break;
    }
    this.#fault(from, `the ${open} has no ${close}`);
    return this.text.length;
  }

  #closing(from: number, quote: string): number {
    for (let i = from + 1; i < this.text.length; i++) {
      if (this.text[i] === quote) return i;
      if (quote === '"' && this.text[i] === '\\') i++;
    }
    return -1;
  }
}

/** Parses `text`, which starts at `outer` of the file. */
export const parseShell = (text: string, outer: Position = begin): ShellScript => {
  const lexer = new Lexer(text, outer);
  lexer.run();
  return {
    commands: lexer.commands,
    faults: lexer.faults,
    positionOf: (offset) => lexer.positionOf(offset),
  };
};
