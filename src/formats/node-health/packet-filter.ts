// Finds packet filter rules that drop, reject or redirect traffic in the output of iptables-save.
// Ignores all other rules and lines. Does not decide which rules are expected.

export type FilterVerdict = 'drop' | 'reject' | 'dnat';

export interface FilterRule {
  /** `filter`, `nat`; for nftables the table's own name. */
  readonly table: string;
  readonly chain: string;
  /** `policy`: the chain's default for unmatched packets. */
  readonly verdict: FilterVerdict | 'policy';
  /** The rule as iptables-save or nft prints it. */
  readonly text: string;
  readonly comment: string;
  /** Matched by `--dport`, `--dports`, or nft's `dport`. */
  readonly destinationPorts: readonly PortRange[];
}

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

const maxRuleLength = 2048;

/**
 * Words of a rule; double quotes enclose spaces, in which a backslash escapes the next character.
 */
export const ruleWords = (line: string): readonly string[] => {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (isQuoted && char === '\\') word = `${word ?? ''}${line.charAt(++at)}`;
    else if (char === '"') {
      isQuoted = !isQuoted;
      word ??= '';
    } else if (!isQuoted && (char === ' ' || char === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${char}`;
  }
  if (word !== undefined) words.push(word);
  return words;
};

const parsePort = (text: string): number | undefined => {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : undefined;
};

/** `10250`, `30000:32767`, and lists of both. */
const parsePorts = (text: string): readonly PortRange[] =>
  text.split(',').flatMap((part) => {
    const [first = '', last = first] = part.split(':');
    const from = parsePort(first);
    const to = parsePort(last);
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });

const verdictOf = (target: string | undefined): FilterVerdict | undefined => {
  if (target === 'DROP') return 'drop';
  if (target === 'REJECT') return 'reject';
  return target === 'DNAT' ? 'dnat' : undefined;
};

const parseRule = (table: string, line: string): FilterRule | undefined => {
  const text = line.slice(0, maxRuleLength);
  const words = ruleWords(text);
  const chain = words[1];
  if (chain === undefined) return undefined;
  let verdict: FilterVerdict | undefined;
  let comment = '';
  let destinationPorts: readonly PortRange[] = [];
  for (let at = 2; at < words.length; at++) {
    const value = words[at + 1];
    const isInverted = words[at - 1] === '!';
    switch (words[at]) {
      case '-j':
      case '-g':
      case '--jump':
      case '--goto':
        verdict = verdictOf(value);
        at++;
        break;
      case '--comment':
        comment = value ?? '';
        at++;
        break;
      case '--dport':
      case '--dports':
      case '--destination-port':
        if (!isInverted) destinationPorts = parsePorts(value ?? '');
        at++;
        break;
    }
  }
  return verdict === undefined
    ? undefined
    : { table, chain, verdict, text, comment, destinationPorts };
};

/** `:INPUT DROP [0:0]` */
const parsePolicy = (table: string, line: string): FilterRule | undefined => {
  const match = /^:(\S+) DROP\b/.exec(line);
  if (match?.[1] === undefined) return undefined;
  const text = `:${match[1]} DROP`;
  return { table, chain: match[1], verdict: 'policy', text, comment: '', destinationPorts: [] };
};

/**
 * Whether `parseSavedRules` evaluates this line of iptables-save: few lines of a large rule set.
 */
export const isRuleOfInterest = (line: string): boolean =>
  line.startsWith('*') ||
  (line.startsWith('-A') && /\b(?:DROP|REJECT|DNAT)\b/.test(line)) ||
  (line.startsWith(':') && line.includes(' DROP'));

export const parseSavedRules = (text: string): readonly FilterRule[] => {
  const rules: FilterRule[] = [];
  let table = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1).trim();
    const found = line.startsWith('-A ')
      ? parseRule(table, line.trim())
      : line.startsWith(':')
        ? parsePolicy(table, line)
        : undefined;
    if (found !== undefined) rules.push(found);
  }
  return rules;
};
