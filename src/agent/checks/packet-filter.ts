// Checks every packet filter of the node: iptables in both backends, IPv4 and IPv6, and native
// nftables. Each backend sees only its own rules, so all are read.
import {
  type FilterRule,
  isRuleOfInterest,
  type NftRule,
  parseNftRules,
  parseSavedRules,
} from '../../formats/node-health/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  matchesAny,
  outputText,
  type Results,
  readIfThere,
  runProgram,
  whyNoOutput,
} from './check.ts';

const reasons = ['UnexpectedRejectRule', 'PortConflict'];
/** Larger rule sets are not read: nftables' output is read completely into memory. */
const maxNftBytes = 4 * 1024 * 1024;
/** More findings of one look add no information. */
const maxFindings = 20;

/** Tables that iptables-nft creates, in its families. */
const iptablesTables: ReadonlySet<string> = new Set(['filter', 'nat', 'mangle', 'raw', 'security']);
const iptablesFamilies: ReadonlySet<string> = new Set(['ip', 'ip6']);

/** A chain's allow entry is `table/chain`; any other entry is ignored. */
const isExpected = ({ table, chain, comment }: FilterRule, allow: readonly string[]): boolean => {
  // The chain of the VPC CNI's own rule has other rules too, so its comment identifies it.
  if (chain === 'FORWARD' && comment.startsWith('Block Node Local Pod access')) return true;
  const entries = allow.filter((entry) => /^[^/\s]+\/[^/\s]+$/.test(entry));
  return matchesAny(entries, `${table}/${chain}`);
};

interface Reading {
  readonly rules: readonly FilterRule[];
  /** Undefined: the program exists and its output was read. */
  readonly why: string | undefined;
  readonly isMissing: boolean;
}

const readSaved = async (context: CheckContext, program: string): Promise<Reading> => {
  const outcome = await runProgram(context, program, [], { keepLine: isRuleOfInterest });
  return {
    rules: parseSavedRules(outputText(outcome)),
    why: whyNoOutput(program, outcome),
    isMissing: outcome.kind === 'missing',
  };
};

/** The legacy backend, only if it has tables: calling it otherwise loads its modules. */
const readLegacy = async (
  context: CheckContext,
  [program, names]: readonly [string, string],
): Promise<Reading> => {
  const tables = await readIfThere(context.host, names);
  if (tables === undefined || tables.trim() === '') {
    return { rules: [], why: undefined, isMissing: false };
  }
  return readSaved(context, program);
};

const readNft = async (context: CheckContext, withIptables: boolean): Promise<Reading> => {
  const words = ['-j', '-t', 'list', 'ruleset'];
  const outcome = await runProgram(context, 'nft', words, { maxBytes: maxNftBytes });
  const why = whyNoOutput('nft', outcome);
  const isMissing = outcome.kind === 'missing';
  if (why !== undefined) return { rules: [], why, isMissing };
  const rules = parseNftRules(outputText(outcome));
  if (rules === undefined) return { rules: [], why: 'nft prints no JSON', isMissing };
  const isNative = ({ family, table }: NftRule): boolean =>
    !(withIptables && iptablesFamilies.has(family) && iptablesTables.has(table));
  return { rules: rules.filter(isNative), why: undefined, isMissing };
};

const readAll = async (
  context: CheckContext,
): Promise<{
  readonly rules: readonly FilterRule[];
  readonly why: readonly string[];
  readonly read: number;
}> => {
  const legacy = [
    await readLegacy(context, ['iptables-legacy-save', '/proc/net/ip_tables_names']),
    await readLegacy(context, ['ip6tables-legacy-save', '/proc/net/ip6_tables_names']),
  ];
  let saved = [
    await readSaved(context, 'iptables-nft-save'),
    await readSaved(context, 'ip6tables-nft-save'),
  ];
  if (saved.every(({ isMissing }) => isMissing)) {
    saved = [await readSaved(context, 'iptables-save'), await readSaved(context, 'ip6tables-save')];
  }
  const withIptables = saved.every(({ why }) => why === undefined);
  const nft = await readNft(context, withIptables);
  const all = [...legacy, ...saved, nft];
  // nft lists all tables, including those that iptables-nft cannot print, so a failure of iptables
  // does not matter if nft succeeds.
  const needed = nft.why === undefined ? [...legacy, nft] : all;
  const failures = needed.filter(({ why, isMissing }) => why !== undefined && !isMissing);
  const read = [...saved, nft].filter(({ why }) => why === undefined).length;
  return {
    rules: all.flatMap(({ rules }) => rules),
    why: failures.flatMap(({ why }) => why ?? []),
    read,
  };
};

const judge = (context: CheckContext, results: Results, rules: readonly FilterRule[]): void => {
  const allow = context.rule('UnexpectedRejectRule')?.allow ?? [];
  const port = limitOf(context, 'PortConflict', 10_250);
  const shown = new Set<string>();
  for (const rule of rules) {
    if (rule.verdict === 'dnat') {
      const isTaken = rule.destinationPorts.some(({ from, to }) => from <= port && port <= to);
      if (isTaken) results.found('PortConflict', { port });
      continue;
    }
    if (shown.size >= maxFindings || shown.has(rule.text) || isExpected(rule, allow)) continue;
    shown.add(rule.text);
    results.found('UnexpectedRejectRule', { rule: rule.text });
  }
};

export const packetFilter: Check = {
  name: 'packet-filter',
  title: 'rules that drop, reject or redirect traffic',
  look: async (context, results) => {
    const { rules, why, read } = await readAll(context);
    if (read === 0 && why.length === 0) {
      results.lacks(reasons, 'neither iptables-save nor nft is installed');
      return;
    }
    if (why.length > 0) results.lacks(reasons, why.join('; '));
    results.saw(`${rules.length} rules and policies that drop, reject or redirect`);
    judge(context, results, rules);
  },
};
