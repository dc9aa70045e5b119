// Finds rules that drop, reject or redirect traffic in the output of `nft -j list ruleset`
// (libnftables-json(5)). Prints rules in nft's syntax, shortened when an expression is unusual.
import { isObject, type Json, type JsonObject, objectOr } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';
import type { FilterRule, FilterVerdict, PortRange } from './packet-filter.ts';

export interface NftRule extends FilterRule {
  /** ip, ip6, inet, arp, bridge, netdev */
  readonly family: string;
}

const maxTextLength = 300;

const valueText = (value: Json | undefined): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (!isObject(value)) return String(value);
  const { prefix, range, set, ...rest } = value;
  if (isObject(prefix)) return `${valueText(prefix.addr)}/${valueText(prefix.len)}`;
  if (Array.isArray(range)) return range.map(valueText).join('-');
  if (set !== undefined) return `{ ${valueText(set)} }`;
  return JSON.stringify(rest);
};

const leftText = (left: Json | undefined): string => {
  const { payload, meta, ct } = objectOr(left);
  const of = (value: Json | undefined): JsonObject => objectOr(value);
  if (payload !== undefined) return `${of(payload).protocol ?? ''} ${of(payload).field ?? ''}`;
  if (ct !== undefined) return `ct ${of(ct).key ?? ''}`;
  if (meta === undefined) return valueText(left);
  const key = String(of(meta).key ?? '');
  return ['iif', 'oif', 'iifname', 'oifname', 'mark'].includes(key) ? key : `meta ${key}`;
};

const expressionText = (expression: Json): string => {
  if (!isObject(expression)) return '';
  const [kind = '', value] = Object.entries(expression)[0] ?? [];
  const inner = objectOr(value);
  switch (kind) {
    case 'match': {
      const operator = inner.op === '==' || inner.op === 'in' ? '' : ` ${String(inner.op)}`;
      return `${leftText(inner.left)}${operator} ${valueText(inner.right)}`;
    }
    case 'counter':
      return '';
    case 'dnat': {
      const port = inner.port === undefined ? '' : `:${valueText(inner.port)}`;
      return `dnat to ${inner.addr === undefined ? '' : valueText(inner.addr)}${port}`;
    }
    case 'jump':
    case 'goto':
      return `${kind} ${valueText(inner.target)}`;
    default:
      return kind;
  }
};

const rangeOf = (value: Json | undefined): readonly PortRange[] => {
  if (typeof value === 'number') return [{ from: value, to: value }];
  if (Array.isArray(value)) return value.flatMap(rangeOf);
  const { range, set } = objectOr(value);
  if (set !== undefined) return rangeOf(set);
  if (!Array.isArray(range)) return [];
  const [from, to] = range;
  return typeof from === 'number' && typeof to === 'number' ? [{ from, to }] : [];
};

/** Destination ports that a match names. */
const portsOf = (expression: Json): readonly PortRange[] => {
  const match = objectOr(objectOr(expression).match);
  const { field } = objectOr(objectOr(match.left).payload);
  return field === 'dport' && match.op !== '!=' ? rangeOf(match.right) : [];
};

const verdictOf = (expressions: readonly Json[]): FilterVerdict | undefined =>
  (['drop', 'reject', 'dnat'] as const).find((verdict) =>
    expressions.some((one) => isObject(one) && Object.hasOwn(one, verdict)),
  );

const ruleOf = (rule: JsonObject): NftRule | undefined => {
  const expressions = Array.isArray(rule.expr) ? rule.expr : [];
  const verdict = verdictOf(expressions);
  if (verdict === undefined) return undefined;
  const words = expressions.map(expressionText).filter((text) => text !== '');
  const { family = '', table = '', chain = '', comment = '' } = rule;
  return {
    family: String(family),
    table: String(table),
    chain: String(chain),
    verdict,
    text: `${family} ${table} ${chain}: ${words.join(' ')}`.slice(0, maxTextLength),
    comment: String(comment),
    destinationPorts: expressions.flatMap(portsOf),
  };
};

const policyOf = (chain: JsonObject): NftRule | undefined => {
  if (chain.policy !== 'drop') return undefined;
  const { family = '', table = '', name = '', hook = '' } = chain;
  return {
    family: String(family),
    table: String(table),
    chain: String(name),
    verdict: 'policy',
    text: `${family} ${table} ${name}: hook ${hook}; policy drop`.slice(0, maxTextLength),
    comment: '',
    destinationPorts: [],
  };
};

/** Undefined when the text is not the JSON of nft. */
export const parseNftRules = (text: string): readonly NftRule[] | undefined => {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  const { nftables } = objectOr(value);
  if (!Array.isArray(nftables)) return undefined;
  return nftables.flatMap((entry) => {
    const { rule, chain } = objectOr(entry);
    const found = isObject(rule) ? ruleOf(rule) : isObject(chain) ? policyOf(chain) : undefined;
    return found === undefined ? [] : [found];
  });
};
