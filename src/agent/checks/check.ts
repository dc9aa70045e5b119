// A check: one repeated look at the node. It reports what it found, what it saw, and what it could
// not check. It never decides the consequences, and never throws for what the node lacks.
import type { EpochMs } from '../../api/brand.ts';
import { type NodeHost, NodeHostError, type ProgramOutcome } from '../../ports/index.ts';
import type { CheckName } from '../rules/check-names.ts';
import type { Facts, HealthRule } from '../rules/rule.ts';

export interface CheckContext {
  readonly host: NodeHost;
  readonly now: EpochMs;
  readonly signal: AbortSignal;
  /** The rule of this reason; undefined when disabled. */
  readonly rule: (reason: string) => HealthRule | undefined;
}

export interface Lack {
  /** Reasons of rules that could not be checked. */
  readonly reasons: readonly string[];
  readonly why: string;
}

export interface LookResult {
  readonly found: readonly { readonly reason: string; readonly facts: Facts }[];
  /** What was seen, briefly: `2 zombies`. */
  readonly saw: readonly string[];
  readonly lacks: readonly Lack[];
}

export interface Check {
  readonly name: CheckName;
  /** What it checks, for display. */
  readonly title: string;
  readonly look: (context: CheckContext, results: Results) => Promise<void>;
}

/** The results of one look. */
export class Results {
  readonly #found: { readonly reason: string; readonly facts: Facts }[] = [];
  readonly #saw: string[] = [];
  readonly #lacks: Lack[] = [];

  found(reason: string, facts: Facts = {}): void {
    this.#found.push({ reason, facts });
  }
  saw(what: string): void {
    this.#saw.push(what);
  }
  lacks(reasons: readonly string[], why: string): void {
    this.#lacks.push({ reasons, why });
  }
  end(): LookResult {
    return { found: this.#found, saw: this.#saw, lacks: this.#lacks };
  }
}

/** A program that has not answered within this time is treated as hanging. */
const programTimeoutMs = 10_000;
const usualMaxBytes = 1024 * 1024;

export const runProgram = (
  { host, signal }: CheckContext,
  program: string,
  words: readonly string[],
  more: { readonly maxBytes?: number; readonly keepLine?: (line: string) => boolean } = {},
): Promise<ProgramOutcome> =>
  host.run(program, words, {
    timeoutMs: programTimeoutMs,
    maxBytes: usualMaxBytes,
    signal,
    ...more,
  });

const decoder = new TextDecoder();
export const outputText = (outcome: ProgramOutcome): string =>
  outcome.kind === 'ended' ? decoder.decode(outcome.output) : '';

/** Why a program's output is unusable; undefined when it is usable. */
export const whyNoOutput = (program: string, outcome: ProgramOutcome): string | undefined => {
  if (outcome.kind === 'missing') return `${program} is not installed`;
  if (outcome.kind === 'late') return `${program} does not end`;
  if (outcome.isCut) return `${program} prints more than is read`;
  if (outcome.code === 0) return undefined;
  const [line = ''] = outcome.errors.trim().split('\n');
  return `${program} ended with ${outcome.code}${line === '' ? '' : `: ${line}`}`;
};

/** The text of a file. If it cannot be read, returns undefined and records in `results` why not. */
export const readOrLack = async (
  { host }: CheckContext,
  results: Results,
  path: string,
  reasons: readonly string[],
): Promise<string | undefined> => {
  try {
    const text = await host.read(path);
    if (text === undefined) results.lacks(reasons, `${path} does not exist`);
    return text;
  } catch (error) {
    if (!(error instanceof NodeHostError)) throw error;
    results.lacks(reasons, error.message);
    return undefined;
  }
};

/** The text of a file that may not exist, or undefined. */
export const readIfThere = async (host: NodeHost, path: string): Promise<string | undefined> => {
  try {
    return await host.read(path);
  } catch (error) {
    if (!(error instanceof NodeHostError)) throw error;
    return undefined;
  }
};

export const listIfThere = async (
  host: NodeHost,
  directory: string,
): Promise<readonly string[]> => {
  try {
    return await host.list(directory);
  } catch (error) {
    if (!(error instanceof NodeHostError)) throw error;
    return [];
  }
};

export const limitOf = ({ rule }: CheckContext, reason: string, otherwise: number): number =>
  rule(reason)?.limit ?? otherwise;

/** `*` matches any text. */
export const matchesAny = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => {
    const [first = '', ...rest] = pattern.split('*');
    if (!text.startsWith(first)) return false;
    if (rest.length === 0) return text === pattern;
    let at = first.length;
    for (const [index, part] of rest.entries()) {
      if (index === rest.length - 1) return text.length - part.length >= at && text.endsWith(part);
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return true;
  });

export const percentOf = (count: number, max: number): string => ((count / max) * 100).toFixed(1);
