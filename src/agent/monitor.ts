// Monitors one node: reads its logs, runs its checks, and keeps the engine's state. Independent of
// a cluster; uses only a NodeHost, so that it also runs on simulated nodes in virtual time.
import { type EpochMs, epochMs } from '../api/brand.ts';
import type { Condition } from '../api/kube.ts';
import type { Log, NodeHost, Random } from '../ports/index.ts';
import type { Check, CheckContext, LookResult } from './checks/index.ts';
import { createChecks, Results } from './checks/index.ts';
import {
  adopt,
  afterLook,
  afterReading,
  afterTime,
  type ConditionState,
  emptyState,
  type HealthState,
  type Notice,
  observe,
  publish,
  restoredReasons,
  type Step,
  savedReasons,
} from './engine/index.ts';
import type { AgentRecord } from './record.ts';
import { catalogue } from './rules/catalogue.ts';
import type { CheckName } from './rules/check-names.ts';
import { LineMatcher } from './rules/line-matcher.ts';
import {
  type ConditionType,
  conditionTypes,
  type HealthRule,
  type LineSource,
  occurrenceOf,
} from './rules/rule.ts';
import { createSelfTest } from './self-test.ts';
import { FileTails } from './sources/file-tail.ts';
import { JournalLog } from './sources/journal.ts';
import { KernelLog } from './sources/kernel-log.ts';
import { LineGate } from './sources/line-gate.ts';

/** Jitter of check times, so that the checks of many nodes do not run together. */
const jitter = 0.1;
const lookMs = 300_000;
/** A fault that is uncertain, or may have cleared, is checked again after this. */
const soonMs = 60_000;
/** Short, because the self-test costs little. */
const selfTestMs = 10_000;
const tailMs = 10_000;
/** Lines read at once; other tasks run in between. */
const maxLines = 1_000;
/** Older kernel messages cause no Event. */
const maxEventAgeMs = 3_600_000;

export interface BootFacts {
  readonly bootId: string;
  readonly bootedAt: EpochMs;
}

export interface MonitorOptions {
  readonly host: NodeHost;
  readonly random: Random;
  readonly log: Log;
  readonly boot: BootFacts;
  /** The record of an earlier agent on this node. */
  readonly record?: AgentRecord;
}

interface Scheduled {
  readonly check: Check;
  readonly at: EpochMs;
}

/** One look, for display. */
export interface Looked extends LookResult {
  readonly check: Check;
}

export class HealthMonitor {
  readonly #host: NodeHost;
  readonly #random: Random;
  readonly #log: Log;
  readonly #boot: BootFacts;
  readonly #kernelLog: KernelLog;
  readonly #journal: JournalLog;
  readonly #tails: FileTails;
  readonly #gates = new Map<LineSource, LineGate>();
  readonly #checks: readonly Check[];
  readonly #saved: readonly unknown[];
  #schedule: readonly Scheduled[];
  #tailAt: EpochMs = epochMs(0);
  #rules: readonly HealthRule[] = catalogue;
  #matcher = new LineMatcher(catalogue);
  #state: HealthState = emptyState;
  #isAdopted = false;
  #accelerator: 'nvidia' | 'neuron' | undefined;
  #notices: Notice[] = [];

  constructor({ host, random, log, boot, record }: MonitorOptions) {
    this.#host = host;
    this.#random = random;
    this.#log = log;
    this.#boot = boot;
    const isSameBoot = record?.bootId === boot.bootId;
    this.#saved = isSameBoot ? record.reasons : [];
    this.#kernelLog = new KernelLog(host, {
      bootedAt: boot.bootedAt,
      afterSequence: isSameBoot ? record.sequence : undefined,
    });
    this.#journal = new JournalLog(host, record?.cursor);
    this.#tails = new FileTails(host);
    const selfTest = createSelfTest({
      kernelLog: this.#kernelLog,
      random,
      takeSkipped: () =>
        [...this.#gates].map(([source, gate]) => ({ source, count: gate.takeSkipped() })),
    });
    this.#checks = [...createChecks(), selfTest];
    this.#schedule = this.#checks.map((check) => ({ check, at: epochMs(0) }));
  }

  /** The conditions to write to the Node; empty before `adopt`. */
  get conditions(): ReadonlyMap<ConditionType, ConditionState> {
    return this.#state.conditions;
  }
  /** State that the next agent needs to continue. */
  get record(): AgentRecord {
    const { sequence } = this.#kernelLog;
    const { cursor } = this.#journal;
    return {
      bootId: this.#boot.bootId,
      reasons: savedReasons(this.#state),
      ...(sequence === undefined ? {} : { sequence }),
      ...(cursor === undefined ? {} : { cursor }),
    };
  }
  takeNotices(): readonly Notice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  /** Replaces the rules. Throws RegexError, in which case nothing changes. */
  useRules(rules: readonly HealthRule[]): void {
    this.#matcher = new LineMatcher(rules);
    this.#rules = rules;
    const known = new Set(rules.map(({ reason }) => reason));
    const reasons = new Map(
      [...this.#state.reasons].filter(([, { rule }]) => rule === '' || known.has(rule)),
    );
    this.#state = { ...this.#state, reasons };
  }

  /** Adopts the Node's conditions; from then on there are conditions to write. */
  adopt(conditions: readonly Condition[], now: EpochMs): void {
    this.#state = adopt(this.#state, {
      conditions,
      saved: restoredReasons(this.#saved),
      rules: this.#rules,
      bootedAt: this.#boot.bootedAt,
      now,
    });
    this.#isAdopted = true;
    this.#settle(now);
  }

  /** Reads new log lines; `isAtEnd`: everything available was read. */
  async readLogs(now: EpochMs): Promise<{ readonly isAtEnd: boolean }> {
    const { lines, isAtEnd } = await this.#kernelLog.read(maxLines, now);
    for (const { text, at } of lines) this.#line('kernel', text, at, now);
    if (isAtEnd) this.#state = afterReading(this.#state, 'kernel');
    const entries = await this.#journal.read(maxLines, now);
    for (const { source, text, at } of entries) this.#line(source, text, at, now);
    if (now >= this.#tailAt) {
      this.#tailAt = epochMs(now + tailMs);
      const tailed = await this.#tails.read(now);
      for (const { source, text, at } of tailed) this.#line(source, text, at, now);
    }
    this.#settle(now);
    return { isAtEnd: isAtEnd && entries.length < maxLines };
  }

  /** Runs the due checks one after the other. Returns the time of the next one. */
  async runChecks(now: () => EpochMs, signal: AbortSignal): Promise<EpochMs> {
    for (const { check, at } of this.#schedule) {
      if (signal.aborted || at > now()) continue;
      await this.look(check, now, signal);
    }
    return epochMs(Math.min(...this.#schedule.map(({ at }) => at)));
  }

  /** Runs every check once, whether due or not. */
  async runAll(now: () => EpochMs, signal: AbortSignal): Promise<readonly Looked[]> {
    const looked: Looked[] = [];
    for (const check of this.#checks) looked.push(await this.look(check, now, signal));
    return looked;
  }

  async look(check: Check, now: () => EpochMs, signal: AbortSignal): Promise<Looked> {
    const begunAt = now();
    const results = new Results();
    const context: CheckContext = {
      host: this.#host,
      now: begunAt,
      signal,
      rule: (reason) => this.#rules.find((rule) => rule.reason === reason),
    };
    await check.look(context, results);
    const result = results.end();
    this.#took(check.name, result, begunAt, now());
    return { check, ...result };
  }

  close(): void {
    this.#kernelLog.close();
    this.#journal.close();
  }

  /** Logs that cannot be read, for display. */
  get unreadable(): readonly string[] {
    const { failure: kernel } = this.#kernelLog;
    const { failure: journal } = this.#journal;
    return [
      ...(kernel === undefined ? [] : [`kernel log: ${kernel}`]),
      ...(journal === undefined ? [] : [`journal: ${journal}`]),
    ];
  }

  setAccelerator(accelerator: 'nvidia' | 'neuron' | undefined): void {
    this.#accelerator = accelerator;
  }

  #took(name: CheckName, result: LookResult, begunAt: EpochMs, now: EpochMs): void {
    const found = result.found.flatMap(({ reason, facts }) =>
      this.#rules
        .filter((rule) => rule.reason === reason && rule.check === name)
        .map((rule) => occurrenceOf(rule, facts)),
    );
    const unseen = result.lacks.flatMap(({ reasons }) => reasons);
    const look = { check: name, found, unseen, begunAt };
    this.#apply(afterLook(this.#state, this.#index(), look, now));
    for (const { why } of result.lacks)
      this.#log.debug('a check lacks something', { check: name, why });
    const wait = name === 'kernel-log' ? selfTestMs : this.#isUncertain(name) ? soonMs : lookMs;
    const at = epochMs(now + wait * (1 - jitter + 2 * jitter * this.#random.next()));
    this.#schedule = this.#schedule.map((one) => (one.check.name === name ? { ...one, at } : one));
    this.#settle(now);
  }

  /** Whether a reason of this check is being counted, or makes a condition False. */
  #isUncertain(name: CheckName): boolean {
    return [...this.#state.reasons.values()].some(({ rule, severity, hits, since }) => {
      if (severity !== 'Condition' || (hits.length === 0 && since === undefined)) return false;
      return this.#rules.some((one) => one.reason === rule && one.check === name);
    });
  }

  #line(source: LineSource, text: string, at: EpochMs, now: EpochMs): void {
    let gate = this.#gates.get(source);
    if (gate === undefined) {
      gate = new LineGate();
      this.#gates.set(source, gate);
    }
    if (!gate.pass(now)) return;
    for (const occurrence of this.#matcher.find(source, text, at)) {
      const isHistory = occurrence.rule.severity === 'Event' && now - at > maxEventAgeMs;
      if (isHistory) continue;
      this.#apply(observe(this.#state, occurrence, at));
      this.#lookSoon(occurrence.rule, now);
    }
  }

  /** Checks earlier than scheduled after a log line reported a fault that a check can confirm. */
  #lookSoon({ check: name, severity }: HealthRule, now: EpochMs): void {
    if (name === undefined || severity !== 'Condition') return;
    const soon = epochMs(now + soonMs);
    this.#schedule = this.#schedule.map((one) =>
      one.check.name === name && one.at > soon ? { ...one, at: soon } : one,
    );
  }

  #apply({ state, notices }: Step): void {
    this.#state = state;
    this.#notices.push(...notices);
  }

  #settle(now: EpochMs): void {
    this.#state = afterTime(this.#state, this.#index(), now);
    if (!this.#isAdopted) return;
    const needed = this.#needed();
    this.#apply(publish(this.#state, { needed, accelerator: this.#accelerator }, now));
  }

  #index(): ReadonlyMap<string, HealthRule> {
    return new Map(this.#rules.toReversed().map((rule) => [rule.reason, rule]));
  }

  /** Checks and logs that are required to know a condition. */
  #needed(): ReadonlyMap<ConditionType, readonly string[]> {
    return new Map(
      conditionTypes.map((type) => {
        const own = this.#rules.filter(({ condition }) => condition === type);
        const checks = own.flatMap(({ check }) => check ?? []);
        const isOfKernel = own.some(({ lines }) =>
          lines?.some(({ source }) => source === 'kernel'),
        );
        return [type, [...new Set(checks), ...(isOfKernel ? ['kernel'] : [])]];
      }),
    );
  }
}
