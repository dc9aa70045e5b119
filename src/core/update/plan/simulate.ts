// One run of an update in virtual time: nodes are drained, budgets allow evictions, replacements
// become Ready, instances terminate and launch. Pods whose eviction is never allowed are evicted at
// the end of a run, and a drain that exceeds the timeout is late.
import { Candidates } from './candidates.ts';
import { type Compiled, compile, type Habits, habitsOf } from './compiled.ts';
import { DrainLog } from './drain-log.ts';
import { Emptying } from './emptying.ts';
import { Events, type Happening, happening } from './events.ts';
import { Members, state } from './members.ts';
import { type ModelInput, type RunOptions, type RunResult, unstoppableSeconds } from './model.ts';
import { Rests } from './pauses.ts';
import { Places } from './places.ts';
import { Chance } from './random.ts';
import { RunTimes } from './run-times.ts';
import { Tokens } from './tokens.ts';
import { turnsOf } from './turns.ts';

const none = -1;

class Run {
  readonly #model: Compiled;
  readonly #input: ModelInput;
  readonly #chance: Chance;
  readonly #times: RunTimes;
  readonly #rests: Rests;
  readonly #events: Events;
  readonly #members: Members;
  readonly #places: Places;
  readonly #habits: Habits;
  readonly #candidates: Candidates | undefined;
  /** Old nodes in order, for strategies that drain them in a fixed order. */
  readonly #order: readonly number[];
  #taken = 0;
  readonly #tokens: Tokens;
  readonly #emptying: Emptying;
  readonly #drains = new DrainLog();
  readonly #late: string[] = [];
  readonly #starved: string[] = [];
  #now = 0;
  #inFlight = 0;
  #launches = 0;
  #evictions = 0;
  #surgeLeft: number;
  #booting = 0;
  #isRolling = false;
  #lastBoot = 0;
  #emptiedAt = 0;
  /** A slot was free and the gate allowed no drain. */
  #isHeldByGate = false;

  constructor(model: Compiled, seed: number, { medians = false, inTurns = false }: RunOptions) {
    const { input, appOf } = model;
    this.#model = model;
    this.#input = input;
    const chance = new Chance(seed);
    this.#chance = chance;
    this.#times = new RunTimes(input, chance, medians);
    this.#rests = new Rests(input);
    this.#habits = habitsOf(input, chance, { seed, medians });
    this.#events = new Events(appOf.length);
    this.#members = new Members(model);
    this.#places = new Places(model);
    for (let node = this.#members.old; node < this.#members.count; node++) this.#places.open(node);
    this.#order = turnsOf(input.nodes, inTurns ? undefined : chance);
    if (input.strategy === 'SURGE') this.#candidates = new Candidates(model, this.#order);
    this.#emptying = new Emptying(appOf.length, { isEachSeen: this.#candidates !== undefined });
    this.#tokens = new Tokens(model);
    this.#surgeLeft = input.surge;
  }

  run(): RunResult {
    this.#at(this.#times.draw(this.#input.times.setup), happening.begin);
    do {
      while (this.#events.next()) {
        this.#now = this.#events.at;
        this.#handle(this.#events);
      }
    } while (this.#unstick());
    return {
      seconds: this.#end(),
      launches: this.#launches,
      evictions: this.#evictions,
      evictionsOfOnePod: this.#tokens.evictionsOfOnePod,
      drains: this.#drains.ofOld(this.#input.nodes),
      late: this.#late,
      starved: this.#starved,
    };
  }

  #end(): number {
    const last = this.#drains.lastEnd(this.#lastBoot);
    return Math.max(last, this.#rests.until) + this.#times.last();
  }

  /** Pods of a node, by index. */
  #podsOf(node: number): readonly number[] {
    return this.#members.isOld(node) ? (this.#model.podsOf[node] ?? []) : this.#places.podsOf(node);
  }

  #evictWaiting(node: number): void {
    for (const pod of this.#podsOf(node)) if (this.#tokens.isWaiting(pod)) this.#evict(pod);
  }

  /** Evicts pods as a forced drain does: they wait for room that only their own drain frees. */
  #unstick(): boolean {
    const before = this.#evictions;
    for (let node = 0; node < this.#members.count; node++) {
      if (this.#members.is(node, state.draining)) this.#evictWaiting(node);
    }
    return this.#evictions > before;
  }

  #handle({ kind, node, pod }: Events): void {
    if (kind === happening.stopped) this.#stopped(node, pod);
    else if (kind === happening.ready) this.#replaced(pod);
    else if (kind === happening.retried) this.#place(pod, 0);
    else if (kind === happening.begin) this.#begin();
    else if (kind === happening.booted) this.#booted(node);
    else if (kind === happening.seen) this.#release(true);
    else if (kind === happening.noticed) this.#noticed(node);
    else if (kind === happening.hooked) this.#evictFrom(node);
    else if (kind === happening.deadline) this.#deadline(node);
    else if (kind === happening.leaving) this.#leaving(node);
    else if (kind === happening.awaited) this.#awaited(pod);
    else this.#gone(node);
  }

  #at(after: number, kind: Happening, node = none, pod = none): void {
    this.#events.add(this.#now + after, kind, node, pod);
  }

  #launch(zone: number): void {
    this.#launches++;
    this.#booting++;
    const node = this.#members.launch(zone);
    this.#at(this.#times.untilUp(), happening.booted, node);
  }

  #begin(): void {
    const { surge } = this.#input;
    const zones = Math.max(1, this.#model.zones.length);
    for (let i = 0; i < surge; i++) this.#launch(i % zones);
    if (surge === 0) this.#at(0, happening.seen);
  }

  #booted(node: number): void {
    this.#members.become(node, state.up);
    this.#places.open(node);
    this.#booting--;
    this.#lastBoot = this.#now;
    const { backoff, look } = this.#input.times;
    for (const pod of this.#places.tryNew(this.#chance)) {
      this.#at(this.#times.draw(backoff), happening.retried, none, pod);
    }
    const seen = this.#times.draw(look);
    this.#at(seen, happening.noticed, node);
    if (!this.#isRolling && this.#booting === 0) this.#at(seen, happening.seen);
  }

  #noticed(node: number): void {
    this.#members.notice(node);
    this.#release();
  }

  get #waiting(): number {
    return this.#candidates?.size ?? this.#order.length - this.#taken;
  }

  /**
   * No drain begins before every node of the surge has joined and the controllers have noticed it.
   */
  #release(areSeen = false): void {
    this.#isRolling ||= areSeen;
    if (!this.#isRolling) return;
    this.#isHeldByGate = false;
    const limit = this.#limit();
    const perZone = this.#members.perZone.slice();
    for (let chosen = 0; chosen < limit && this.#waiting > 0; chosen++) {
      if (this.#inFlight >= this.#input.maxUnavailable) break;
      const node = this.#candidates === undefined ? this.#following() : this.#pick(perZone);
      if (node === none) return;
      const zone = this.#members.zoneOf(node);
      perZone[zone] = (perZone[zone] ?? 0) - 1;
      this.#drain(node);
    }
    const isDone = this.#waiting === 0 && this.#inFlight === 0;
    if (isDone && this.#now >= this.#rests.until) this.#scaleDown();
  }

  /** How many more drains may start at this time, according to waves and batches. */
  #limit(): number {
    const { limit, restSeconds } = this.#rests.decide({
      now: this.#now,
      begun: this.#input.nodes.length - this.#waiting,
      inFlight: this.#inFlight,
      emptiedAt: this.#emptiedAt,
      isSettled: this.#inFlight === 0 && this.#members.areSettled,
    });
    if (restSeconds !== undefined) this.#at(restSeconds, happening.seen);
    return limit;
  }

  /** EKS' strategies take nodes in order; nodes that do not serve come first. */
  #following(): number {
    const node = this.#order[this.#taken] ?? none;
    if (this.#members.isReady(node) && !this.#members.hasSpare) return none;
    this.#taken++;
    return node;
  }

  #pick(perZone: Int32Array): number {
    const { node, isHeldByGate } = this.#candidates?.next({
      hasSpare: this.#members.hasSpare,
      isAlone: this.#inFlight === 0,
      perZone,
      outstanding: this.#tokens.outstanding,
      left: this.#tokens.left,
    }) ?? { node: none, isHeldByGate: false };
    if (isHeldByGate) this.#isHeldByGate = true;
    return node;
  }

  #budgetOf(pod: number): number {
    return this.#model.budgetOf[pod] ?? none;
  }

  #drain(node: number): void {
    this.#inFlight++;
    this.#members.become(node, state.draining);
    if (!this.#members.isOld(node)) this.#places.close(node);
    this.#drains.began(node, this.#now);
    const hook = this.#members.isOld(node) ? this.#times.hook('preDrain') : 0;
    if (hook > 0) this.#at(hook, happening.hooked, node);
    else this.#evictFrom(node);
  }

  #evictFrom(node: number): void {
    const pods = this.#podsOf(node);
    this.#emptying.begin(node, pods);
    if (pods.length === 0) {
      this.#drained(node);
      return;
    }
    this.#at(this.#input.drainTimeoutSeconds, happening.deadline, node);
    const due = this.#model.hasWaits ? pods.filter((pod) => !this.#wait(node, pod)) : pods;
    for (const pod of due) {
      const budget = this.#budgetOf(pod);
      if (budget !== none) this.#tokens.ask(budget, pod);
    }
    let free = 0;
    let stopped = 0;
    for (const pod of due) {
      const budget = this.#budgetOf(pod);
      if (budget === none) {
        free++;
        stopped = Math.max(stopped, this.#let(pod));
      } else this.#grant(budget);
    }
    // Pods without a budget delay only their own node: one event for the last of them suffices.
    if (free > 0) this.#stop(node, -free, stopped);
  }

  /** Returns whether the drain waits for the pod before it evicts it. */
  #wait(node: number, pod: number): boolean {
    const seconds = this.#model.waitOf[pod] ?? 0;
    if (seconds > 0) this.#at(seconds, happening.awaited, node, pod);
    return seconds > 0;
  }

  /** `pod`: index of a pod that is gone in `seconds`, or -n for n pods without a budget. */
  #stop(node: number, pod: number, seconds: number): void {
    const count = pod < 0 ? -pod : 1;
    if (!this.#emptying.evicted(node, count, this.#now + seconds)) return;
    this.#at(seconds, happening.stopped, node, pod);
  }

  /** The drain has waited for the pod, and it was not forced meanwhile. */
  #awaited(pod: number): void {
    const budget = this.#budgetOf(pod);
    if (budget === none) {
      this.#evict(pod);
      return;
    }
    this.#tokens.ask(budget, pod);
    this.#grant(budget);
  }

  #grant(budget: number): void {
    for (let pod = this.#tokens.grant(budget); pod !== none; pod = this.#tokens.grant(budget)) {
      this.#evict(pod);
    }
  }

  #evict(pod: number): void {
    this.#stop(this.#emptying.homeOf(pod), pod, this.#let(pod));
  }

  /** Counts and places an evicted pod; returns seconds until it is gone. */
  #let(pod: number): number {
    const app = this.#model.appOf[pod] ?? none;
    this.#tokens.evicted(pod);
    this.#evictions++;
    const isDead = this.#model.isUnreachable[this.#emptying.homeOf(pod)] === 1;
    const stop = isDead ? unstoppableSeconds : this.#habits.stops.of(app);
    this.#place(pod, this.#model.apps.waitsForStop[app] === 1 ? stop : 0);
    return stop;
  }

  /** A pod that finds no room on a new node waits for the next one. */
  #place(pod: number, after: number): void {
    const app = this.#model.appOf[pod] ?? none;
    if (!this.#places.take(app, pod) && !this.#input.hasRoomElsewhere) {
      this.#places.wait(pod);
      return;
    }
    // A replacement without a budget lets no waiting pod be evicted, so it needs no event.
    if (this.#model.apps.budget[app] === none) return;
    const took = this.#times.replacement(this.#model.apps, app, this.#habits.pace[app] ?? 1);
    this.#at(after + took, happening.ready, none, pod);
  }

  #replaced(pod: number): void {
    const budget = this.#budgetOf(pod);
    this.#tokens.replaced(budget);
    this.#grant(budget);
    if (this.#isHeldByGate && this.#candidates?.hasFree === true) this.#release();
  }

  /** `pod`: index of the pod, or -n for n pods without a budget. */
  #stopped(node: number, pod: number): void {
    const budget = pod < 0 || this.#candidates === undefined ? none : this.#budgetOf(pod);
    if (budget !== none) {
      const outstanding = this.#tokens.stopped(budget, { isOld: this.#members.isOld(node) });
      this.#candidates?.eased(budget, outstanding);
    }
    if (this.#emptying.stopped(node)) this.#drained(node);
  }

  #drained(node: number): void {
    const { settleSeconds, strategy } = this.#input;
    const isOld = this.#members.isOld(node);
    // EKS marks all old nodes before the first drain, and surplus nodes one by one.
    const isMarkedNow = strategy === 'SURGE' || !isOld;
    const settle = isMarkedNow
      ? Math.max(0, this.#drains.startOf(node) + settleSeconds - this.#now)
      : 0;
    this.#emptiedAt = this.#now + settle;
    this.#at(settle + (isOld ? this.#times.cool() : 0), happening.leaving, node);
  }

  /**
   * Auto Scaling launches a replacement when an instance begins to terminate, not when it is gone.
   */
  #leaving(node: number): void {
    this.#members.become(node, state.leaving);
    const isOld = this.#members.isOld(node);
    const { terminate, look } = this.#input.times;
    // Surplus nodes are removed one by one, each once the controllers notice that the last is gone.
    const took = this.#times.draw(terminate);
    this.#at(took + (isOld ? 0 : this.#times.draw(look)), happening.gone, node);
    if (isOld && this.#members.isReplaced) this.#launch(this.#members.zoneOf(node));
  }

  #deadline(node: number): void {
    if (!this.#members.is(node, state.draining) || this.#emptying.isEmpty(node)) return;
    const name = this.#input.nodes[node]?.name ?? '';
    const isOld = this.#members.isOld(node);
    if (isOld || !this.#input.force) this.#late.push(name);
    // The budget waits for a replacement that has no room on any new node.
    if (isOld && this.#places.hasWaiting) this.#starved.push(name);
    if (this.#input.force) this.#evictWaiting(node);
  }

  #gone(node: number): void {
    this.#members.become(node, state.gone);
    this.#drains.ended(node, this.#now);
    this.#inFlight--;
    this.#release();
  }

  /** DEFAULT: the surplus nodes are removed one by one, and the pods on them move again. */
  #scaleDown(): void {
    if (this.#input.strategy !== 'DEFAULT' || this.#surgeLeft === 0 || this.#booting > 0) return;
    const victim = this.#members.surplus(this.#places.emptyNodes());
    if (victim === none) return;
    this.#surgeLeft--;
    this.#drain(victim);
  }
}

/** One run of a compiled model. For a single run, use `simulate`. */
export const simulateCompiled = (model: Compiled, seed: number, options?: RunOptions): RunResult =>
  new Run(model, seed, options ?? {}).run();

export const simulate = (input: ModelInput, seed: number, options: RunOptions = {}): RunResult =>
  simulateCompiled(compile(input), seed, options);
