// Windows user data: the <powershell> tag and the call of EKS' bootstrap script in it, with
// PowerShell's quotes and escape character `. Runs nothing, never throws.
import type { Placed } from '../node/arguments.ts';
import { begin, Lines, type ParseFault, type Position, within } from '../position.ts';

export interface PowerShellCall {
  readonly at: Position;
  /** By parameter in lower case, without its dash. */
  readonly parameters: ReadonlyMap<string, Placed>;
  /** Words without a parameter. */
  readonly strays: readonly Placed[];
}

export interface PowerShellScript {
  readonly hasTag: boolean;
  readonly tags: number;
  readonly body: string;
  readonly bodyAt: Position;
  readonly calls: readonly PowerShellCall[];
  readonly faults: readonly ParseFault[];
}

const parameters = [
  'EKSClusterName',
  'KubeletExtraArgs',
  'KubeProxyExtraArgs',
  'APIServerEndpoint',
  'Base64ClusterCA',
  'DNSClusterIP',
  'ContainerRuntime',
  'ServiceCIDR',
  'ExcludedSnatCIDRs',
];
export const windowsParameters: readonly string[] = parameters;

interface Word {
  readonly text: string;
  readonly offsets: readonly number[];
  readonly isOpaque: boolean;
  readonly isQuoted: boolean;
}

interface Statement {
  readonly words: readonly Word[];
  readonly offset: number;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

class Lexer {
  readonly text: string;
  at = 0;
  readonly faults: { offset: number; message: string }[] = [];
  readonly values = new Map<string, string>();
  constructor(text: string) {
    this.text = text;
  }

  statements(): readonly Statement[] {
    const all: Statement[] = [];
    let words: Word[] = [];
    let offset = 0;
    const end = (): void => {
      if (words.length > 0) all.push({ words, offset });
      words = [];
    };
    while (this.at < this.text.length) {
      const char = this.text[this.at] ?? '';
      const next = this.text[this.at + 1];
      if (char === '\n' || char === ';' || char === '|' || char === '{' || char === '}') {
        this.at++;
        end();
      } else if (char === '`' && (next === '\n' || next === '\r')) {
        this.at += this.text[this.at + 2] === '\n' && next === '\r' ? 3 : 2;
      } else if (/[\s(),]/.test(char)) this.at++;
      else if (this.text.startsWith('<#', this.at)) this.#skipTo('#>');
      else if (char === '#') this.#skipTo('\n', true);
      else {
        if (words.length === 0) offset = this.at;
        words.push(this.#word());
      }
    }
    end();
    return all;
  }

  #skipTo(what: string, keep = false): void {
    const found = this.text.indexOf(what, this.at);
    this.at = found < 0 ? this.text.length : found + (keep ? 0 : what.length);
  }

  #word(): Word {
    const { text } = this;
    let value = '';
    const offsets: number[] = [];
    let isOpaque = false;
    let isQuoted = false;
    const put = (chars: string, offset: number): void => {
      value += chars;
      for (let i = 0; i < chars.length; i++) offsets.push(offset);
    };
    let quote = '';
    const from = this.at;
    for (; this.at < text.length; this.at++) {
      const char = text[this.at] ?? '';
      if (quote !== "'" && char === '`') {
        this.at++;
        const escaped = text[this.at] ?? '';
        put(escapes[escaped] ?? escaped, this.at);
      } else if (quote !== '' && char === quote) {
        if (text[this.at + 1] === quote) {
          put(quote, this.at);
          this.at++;
        } else quote = '';
      } else if (quote === '' && (char === '"' || char === "'")) {
        quote = char;
        isQuoted = true;
      } else if (quote !== "'" && char === '$') {
        const name = /^\$(?:env:)?[\w:]+|^\$\{[^}]*\}|^\$\(/i.exec(
          text.slice(this.at, this.at + 128),
        );
        const known = this.values.get((name?.[0] ?? '').toLowerCase());
        if (known === undefined && name !== null) isOpaque = true;
        if (known !== undefined) put(known, this.at);
        else put(name?.[0] ?? '$', this.at);
        this.at += (name?.[0] ?? '$').length - 1;
      } else if (quote === '' && /[\s;|{}(),]/.test(char)) break;
      else put(char, this.at);
    }
    if (quote !== '')
      this.faults.push({ offset: from, message: `the quote ${quote} does not end` });
    return { text: value, offsets, isOpaque, isQuoted };
  }
}

const isScript = ({ text }: Word): boolean =>
  /EKSBootstrapScriptFile$|Start-EKSBootstrap\.ps1$/i.test(text);

const callOf = (
  words: readonly Word[],
  at: Position,
  place: (word: Word) => Placed,
): PowerShellCall => {
  const found = new Map<string, Placed>();
  const strays: Placed[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined) break;
    // Redirections such as 3>&1.
    if (!word.isQuoted && /^\d?>/.test(word.text)) continue;
    const name = /^-([A-Za-z]\w*):?$/.exec(word.isQuoted ? '' : word.text)?.[1];
    if (name === undefined) {
      strays.push(place(word));
      continue;
    }
    const value = words[i + 1];
    const isValue = value !== undefined && (value.isQuoted || !/^-[A-Za-z]\w*:?$/.test(value.text));
    if (value !== undefined && isValue) {
      found.set(name.toLowerCase(), place(value));
      i++;
    } else found.set(name.toLowerCase(), place({ ...word, text: '' }));
  }
  return { at, parameters: found, strays };
};

/** Parses Windows user data that starts at `outer` of the file. */
export const readPowerShell = (text: string, outer: Position = begin): PowerShellScript => {
  const open = /<powershell>/i.exec(text);
  const start = open === null ? 0 : open.index + open[0].length;
  const close = text.slice(start).search(/<\/powershell>/i);
  const body = text.slice(start, close < 0 ? undefined : start + close);
  const lines = new Lines(text);
  const position = (offset: number): Position => within(outer, lines.at(start + offset));
  const lexer = new Lexer(body);
  const place = ({ text: value, offsets, isOpaque }: Word): Placed => ({
    text: value,
    isOpaque,
    at: (offset) => position(offsets[offset] ?? offsets.at(-1) ?? 0),
  });
  const calls: PowerShellCall[] = [];
  for (const { words, offset } of lexer.statements()) {
    const at = words.findIndex((word) => isScript(word));
    const isAssignment = words.some((word) => word.text === '=' && !word.isQuoted);
    if (at >= 0 && !isAssignment && words[0]?.text === '&') {
      calls.push(callOf(words.slice(at + 1), position(offset), place));
    } else if (isAssignment) remember(words, lexer.values);
  }
  const faults = lexer.faults.map(({ offset, message }) => ({ at: position(offset), message }));
  if (open !== null && close < 0) {
    faults.push({ at: position(-start), message: '<powershell> is not closed' });
  }
  const tags = text.match(/<powershell>/gi)?.length ?? 0;
  return { hasTag: open !== null, tags, body, bodyAt: position(0), calls, faults };
};

/** `$Name = "text"`; the script's own path stays a name, so that its call is recognized. */
const remember = (words: readonly Word[], values: Map<string, string>): void => {
  const equals = words.findIndex((word) => word.text === '=');
  const name = /\$[\w:]+$/.exec(words[equals - 1]?.text ?? '')?.[0].toLowerCase();
  const value = words[equals + 1];
  if (name === undefined || value === undefined || value.isOpaque || isScript(value)) return;
  values.set(name, value.text);
};

/** Within PowerShell's double quotes, where ` escapes. */
export const powershellQuoted = (text: string): string => `"${text.replaceAll(/[`"$]/g, '`$&')}"`;
