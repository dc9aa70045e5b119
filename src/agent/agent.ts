// The node agent: monitors one node and writes its Node conditions and Events. `run` is the process
// on a real node; `pass` is one step of it, for simulated nodes in virtual time.
import { durationMs, type EpochMs, epochMs } from '../api/brand.ts';
import { type Node, resourceTypes } from '../api/kube.ts';
import {
  type Clock,
  type KubeApi,
  KubeError,
  type Log,
  type NodeHost,
  NodeHostError,
  type Random,
} from '../ports/index.ts';
import { Backoff, describeError, sleepOrAbort, TaskRegistry } from '../runtime/index.ts';
import { bootFacts, findAccelerator } from './facts.ts';
import type { AgentMetrics } from './metrics.ts';
import { HealthMonitor } from './monitor.ts';
import { parseRecord } from './record.ts';
import { ConditionReporter } from './report/conditions.ts';
import { EventReporter, type EventTarget } from './report/events.ts';
import { BundleReporter, type BundleStore } from './report/log-bundle.ts';
import { rulesInForce } from './rules/rules-file.ts';

const pollMs = durationMs(1_000);
const rulesFileMs = 30_000;
const recordMs = 60_000;
const shutdownMs = 5_000;
const nodeBackoff = { baseMs: 1_000, capMs: 60_000 } as const;

export interface AgentDeps {
  readonly host: NodeHost;
  readonly kube: Pick<KubeApi, 'get' | 'patch' | 'create'>;
  readonly clock: Clock;
  /** One random stream per purpose. */
  readonly random: (purpose: string) => Random;
  readonly log: Log;
  /** Absent: requests for log bundles are ignored. */
  readonly bundles?: BundleStore;
  /** Absent: nothing is counted. */
  readonly metrics?: AgentMetrics;
}

export interface AgentSettings {
  readonly node: string;
  /** Component of its Events: `drover-agent`. */
  readonly component: string;
  /** A file on the node, read repeatedly, so that a change needs no restart. */
  readonly rulesFile?: string;
}

export class NodeAgent {
  readonly #deps: AgentDeps;
  readonly #settings: AgentSettings;
  readonly #monitor: HealthMonitor;
  readonly #conditions: ConditionReporter;
  readonly #events: EventReporter;
  readonly #bundles: BundleReporter | undefined;
  readonly #nodeBackoff: Backoff;
  #target: EventTarget | undefined;
  #nodeNotBefore: EpochMs = epochMs(0);
  #rulesAt: EpochMs = epochMs(0);
  #rulesText: string | undefined;
  #recordAt: EpochMs = epochMs(0);
  #recordText = '';

  /** Reads the record of an earlier agent. */
  static async begin(deps: AgentDeps, settings: AgentSettings): Promise<NodeAgent> {
    const { host, clock, random, log } = deps;
    const boot = await bootFacts(host, clock.now());
    const text = await host.readRecord().catch((error: unknown) => {
      if (!(error instanceof NodeHostError)) throw error;
      log.warn('the record of the agent cannot be read', { error: error.message });
      return undefined;
    });
    const record = parseRecord(text);
    const known = record === undefined ? {} : { record };
    const monitor = new HealthMonitor({ host, random: random('checks'), log, boot, ...known });
    monitor.setAccelerator(await findAccelerator(host));
    return new NodeAgent(deps, settings, monitor);
  }

  private constructor(deps: AgentDeps, settings: AgentSettings, monitor: HealthMonitor) {
    const { kube, random, log, clock, bundles: store } = deps;
    this.#deps = deps;
    this.#settings = settings;
    this.#monitor = monitor;
    const { node } = settings;
    this.#conditions = new ConditionReporter({ kube, node, random: random('conditions'), log });
    this.#events = new EventReporter({ kube, random: random('events'), log });
    this.#bundles =
      store === undefined ? undefined : new BundleReporter({ kube, clock, node, store, log });
    this.#nodeBackoff = new Backoff(random('node'), nodeBackoff);
    deps.metrics?.watch(() => monitor);
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const ended = new AbortController();
    const tasks = new TaskRegistry({
      clock,
      report: ({ task, error }) => {
        log.error('a part of the agent ended', { task, error: describeError(error) });
        ended.abort(error);
      },
    });
    const loop = (name: string, step: (inner: AbortSignal) => Promise<void>): void =>
      tasks.start(name, async (inner) => {
        while (!inner.aborted) {
          await step(inner);
          await sleepOrAbort(clock, pollMs, inner);
        }
      });
    loop('logs', () => this.#readLogs());
    loop('checks', (inner) => this.#runChecks(inner));
    loop('report', (inner) => this.#report(inner));
    loop('bundles', async (inner) => this.#bundles?.pass(inner));
    const stop = AbortSignal.any([signal, ended.signal]);
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    await tasks.shutdown({ withinMs: shutdownMs });
    this.#recordAt = epochMs(0);
    await this.#saveRecord(clock.now());
    this.#monitor.close();
    // Ends the agent, so that its supervisor restarts it: it must not appear healthy after a part
    // failed.
    if (ended.signal.aborted) throw ended.signal.reason;
  }

  /** Does everything that is due; returns the time by which the next pass must run. */
  async pass(signal: AbortSignal): Promise<EpochMs> {
    await this.#readLogs();
    await this.#runChecks(signal);
    await this.#report(signal);
    await this.#bundles?.pass(signal);
    return epochMs(this.#deps.clock.now() + pollMs);
  }

  async #readLogs(): Promise<void> {
    const { clock } = this.#deps;
    for (let isAtEnd = false; !isAtEnd; ) {
      ({ isAtEnd } = await this.#monitor.readLogs(clock.now()));
      this.#tellNotices(clock.now());
      // Yields between two full reads, so that other tasks can run.
      if (!isAtEnd) await clock.sleep(durationMs(0));
    }
  }

  async #runChecks(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    await this.#lookAtRules(clock.now());
    await this.#monitor.runChecks(() => clock.now(), signal);
    this.#tellNotices(clock.now());
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    await this.#findNode(clock.now(), signal);
    if (this.#target === undefined) return;
    const outcome = await this.#conditions.pass(this.#monitor.conditions, clock.now(), signal);
    if (outcome !== 'idle') this.#deps.metrics?.reported(outcome);
    if (outcome === 'gone') this.#target = undefined;
    if (this.#target !== undefined) await this.#events.pass(this.#target, clock.now(), signal);
    await this.#saveRecord(clock.now());
  }

  #tellNotices(now: EpochMs): void {
    for (const notice of this.#monitor.takeNotices()) {
      const { condition, reason, message } = notice;
      this.#deps.log.info('found', { condition, reason, message });
      if (notice.type === 'Warning') this.#deps.metrics?.found(condition, reason);
      this.#events.tell(notice, now);
    }
  }

  /** Read once: repeated reads of the Node by every agent would load the API server. */
  async #findNode(now: EpochMs, signal: AbortSignal): Promise<void> {
    if (this.#target !== undefined || now < this.#nodeNotBefore) return;
    const { kube, log } = this.#deps;
    const { node, component } = this.#settings;
    try {
      const found = await kube.get<Node>(resourceTypes.nodes, { name: node }, { signal });
      if (found.kind === 'found') {
        const { metadata, status } = found.object;
        this.#target = { node, uid: metadata.uid, component };
        this.#nodeBackoff.reset();
        this.#monitor.adopt(status?.conditions ?? [], now);
        return;
      }
      const wait = this.#nodeBackoff.next();
      this.#nodeNotBefore = epochMs(now + wait);
      log.warn('the Node does not exist yet', { node, waitMs: wait });
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      const wait = this.#nodeBackoff.next();
      this.#nodeNotBefore = epochMs(now + wait);
      log.warn('the Node cannot be read', { node, error: describeError(error), waitMs: wait });
    }
  }

  /** An invalid file leaves the active rules unchanged and is reported once. */
  async #lookAtRules(now: EpochMs): Promise<void> {
    const { rulesFile } = this.#settings;
    if (rulesFile === undefined || now < this.#rulesAt) return;
    this.#rulesAt = epochMs(now + rulesFileMs);
    let text: string | undefined;
    try {
      text = await this.#deps.host.read(rulesFile, { maxBytes: 1024 * 1024 });
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      this.#deps.log.warn('the rules file cannot be read', { error: error.message });
      return;
    }
    if (text === this.#rulesText) return;
    this.#rulesText = text;
    const { rules, fault } = rulesInForce(text);
    if (fault === undefined) {
      this.#monitor.useRules(rules);
      this.#deps.log.info('rules in force', { count: rules.length });
      return;
    }
    const message = `${rulesFile}:${fault}; the rules before it stay in force`;
    const notice = { condition: 'AgentHealthy', reason: 'RulesFileRefused', message } as const;
    this.#events.tell({ type: 'Warning', ...notice, at: now }, now);
    this.#deps.log.warn('the rules file is refused', { error: message });
  }

  async #saveRecord(now: EpochMs): Promise<void> {
    if (now < this.#recordAt) return;
    this.#recordAt = epochMs(now + recordMs);
    const text = JSON.stringify(this.#monitor.record);
    if (text === this.#recordText) return;
    try {
      await this.#deps.host.writeRecord(text);
      this.#recordText = text;
    } catch (error) {
      if (!(error instanceof NodeHostError)) throw error;
      this.#deps.log.warn('the record of the agent cannot be written', { error: error.message });
    }
  }
}
