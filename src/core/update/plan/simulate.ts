// One run of an update in virtual time: nodes are released, budgets hand out tokens, replacements come
// up, instances go and come. What cannot be evicted at all is left to the preflight: here everything
// goes in the end, and what took longer than a drain may last is told as late.
import { type BudgetLoad, loadsOf } from './gate.ts';
import { Heap } from './heap.ts';
import type { ModelApp, ModelInput, RunOptions, RunResult } from './model.ts';
import { nextOf } from './next.ts';
import { type Chance, chanceOf } from './random.ts';
import { Rests } from './rests.ts';
import type { Habit, Happening, RunNode, RunPod } from './run-node.ts';
import {
  habitsOf,
  hasSpare,
  isReplaced,
  isSeen,
  leastOf,
  perZoneOf,
  surplusOf,
  turnsOf,
} from './run-node.ts';
import { RunTimes } from './run-times.ts';

class Run {
  readonly #input: ModelInput;
  readonly #chance: Chance;
  readonly #times: RunTimes;
  readonly #rests: Rests;
  readonly #inTurns: boolean;
  readonly #heap = new Heap<Happening>();
  readonly #nodes: RunNode[] = [];
  readonly #pods: RunPod[] = [];
  readonly #tokens: number[];
  readonly #queues: number[][];
  /** Pods per budget: released and not gone yet, and all that are on old nodes yet. */
  readonly #outstanding: number[];
  readonly #left: number[];
  /** Per application: how much slower it is in this run, and how long its pods take to stop. */
  readonly #habits: readonly Habit[];
  readonly #homeless: number[] = [];
  readonly #drains: RunNode[] = [];
  readonly #late: string[] = [];
  readonly #starved: string[] = [];
  #order: number[] = [];
  #seq = 0;
  #now = 0;
  #inFlight = 0;
  #launches = 0;
  #evictions = 0;
  #surgeLeft: number;
  #booting = 0;
  #isRolling = false;
  #lastBoot = 0;
  #emptiedAt = 0;
  /** A place was free and the gate let no node go. */
  #isHeldByGate = false;
  /** Per old node; their pods stay until they are drained. */
  readonly #loads: readonly (readonly BudgetLoad[])[];
  /** Which node each pod is on, for the event of its end. */
  readonly #homeOf = new Map<number, number>();

  constructor(input: ModelInput, seed: number, { medians = false, inTurns = false }: RunOptions) {
    this.#input = input;
    this.#inTurns = inTurns;
    this.#chance = chanceOf(seed);
    this.#times = new RunTimes(input, this.#chance, medians);
    this.#rests = new Rests(input);
    this.#tokens = input.budgets.map(({ allowed }) => allowed);
    this.#queues = input.budgets.map(() => []);
    this.#outstanding = input.budgets.map(() => 0);
    this.#left = input.budgets.map(() => 0);
    this.#habits = habitsOf(input, this.#chance, medians);
    this.#surgeLeft = input.surge;
    for (const node of input.nodes) {
      const pods = node.pods.map(({ app }) => {
        const budget = input.apps[app]?.budget;
        if (budget !== undefined) this.#left[budget] = (this.#left[budget] ?? 0) + 1;
        this.#pods.push({ app, evictions: 0, isWaiting: false });
        return this.#pods.length - 1;
      });
      this.#add({ ...node, isOld: true, state: 'up', pods });
    }
    this.#loads = input.nodes.map((node) => loadsOf(input, node));
    for (let i = 0; i < input.done; i++) this.#addNew('', 'up');
  }

  run(): RunResult {
    this.#order = turnsOf(this.#input.nodes, this.#inTurns ? undefined : this.#chance);
    this.#at(this.#times.draw(this.#input.times.setup), 'begin');
    do {
      for (let next = this.#heap.pop(); next !== undefined; next = this.#heap.pop()) {
        this.#now = next.at;
        this.#handle(next);
      }
    } while (this.#unstick());
    return {
      seconds: this.#end(),
      launches: this.#launches,
      evictions: this.#evictions,
      evictionsOfOnePod: this.#pods.reduce((most, pod) => Math.max(most, pod.evictions), 0),
      drains: this.#drains
        .filter(({ isOld }) => isOld)
        .map(({ name, start, end }) => ({ node: name, startSeconds: start, endSeconds: end })),
      late: this.#late,
      starved: this.#starved,
    };
  }

  #end(): number {
    const last = this.#drains.reduce((most, { end }) => Math.max(most, end), this.#lastBoot);
    return Math.max(last, this.#rests.until) + this.#times.last();
  }

  /** Pods that wait for a place which only the end of their drain would bring: let go, as by force. */
  #unstick(): boolean {
    const before = this.#evictions;
    const draining = this.#nodes.flatMap(({ state, pods }) => (state === 'draining' ? pods : []));
    for (const pod of draining) if (this.#pods[pod]?.isWaiting === true) this.#evict(pod);
    return this.#evictions > before;
  }

  #handle({ kind, node, pod }: Happening): void {
    const handlers: Readonly<Record<Happening['kind'], () => void>> = {
      begin: () => this.#begin(),
      booted: () => this.#booted(node),
      seen: () => this.#release(true),
      noticed: () => this.#noticed(this.#nodes[node]),
      hooked: () => this.#evictFrom(node),
      stopped: () => this.#stopped(node, pod),
      retried: () => this.#place(pod, 0),
      ready: () => this.#replaced(pod),
      deadline: () => this.#deadline(node),
      leaving: () => this.#leaving(node),
      gone: () => this.#gone(node),
    };
    handlers[kind]();
  }

  #at(after: number, kind: Happening['kind'], node = -1, pod = -1): void {
    this.#heap.push({ at: this.#now + after, seq: this.#seq++, kind, node, pod });
  }

  #add(node: Pick<RunNode, 'name' | 'zone' | 'isOld' | 'isReady' | 'state' | 'pods'>): number {
    const isNoticed = node.state === 'up';
    this.#nodes.push({ ...node, isNoticed, perApp: new Map(), left: 0, start: 0, end: 0 });
    return this.#nodes.length - 1;
  }
  #addNew(zone: string, state: 'up' | 'booting'): number {
    return this.#add({ name: '', zone, isOld: false, isReady: true, state, pods: [] });
  }

  #launch(zone: string): void {
    this.#launches++;
    this.#booting++;
    this.#at(this.#times.untilUp(), 'booted', this.#addNew(zone, 'booting'));
  }

  #begin(): void {
    const zones = [...new Set(this.#input.nodes.map(({ zone }) => zone))].toSorted();
    for (let i = 0; i < this.#input.surge; i++) this.#launch(zones[i % zones.length] ?? '');
    if (this.#input.surge === 0) this.#at(0, 'seen');
  }

  #booted(node: number): void {
    const one = this.#nodes[node];
    if (one === undefined) return;
    one.state = 'up';
    this.#booting--;
    this.#lastBoot = this.#now;
    const { backoff, look } = this.#input.times;
    for (const pod of this.#homeless.splice(0))
      this.#at(this.#times.draw(backoff), 'retried', -1, pod);
    const seen = this.#times.draw(look);
    this.#at(seen, 'noticed', node);
    if (!this.#isRolling && this.#booting === 0) this.#at(seen, 'seen');
  }

  #noticed(one: RunNode | undefined): void {
    if (one !== undefined) one.isNoticed = true;
    this.#release();
  }

  /** Nothing is drained before every node of the surge is there, and seen. */
  #release(areSeen = false): void {
    this.#isRolling ||= areSeen;
    if (!this.#isRolling) return;
    this.#isHeldByGate = false;
    const { maxUnavailable, strategy } = this.#input;
    const limit = this.#limit();
    const chosen = new Set<number>();
    while (chosen.size < limit && this.#order.length > 0 && this.#inFlight < maxUnavailable) {
      const at = strategy === 'SURGE' ? this.#pick(chosen) : this.#following();
      if (at === undefined) return;
      const [node] = this.#order.splice(at, 1);
      if (node === undefined) return;
      chosen.add(node);
      this.#drain(node);
    }
    const isDone = this.#order.length === 0 && this.#inFlight === 0;
    if (isDone && this.#now >= this.#rests.until) this.#scaleDown();
  }

  /** How many may be begun now, as waves and batches have it. */
  #limit(): number {
    const { limit, restSeconds } = this.#rests.decide({
      now: this.#now,
      begun: this.#input.nodes.length - this.#order.length,
      inFlight: this.#inFlight,
      emptiedAt: this.#emptiedAt,
      isSettled: this.#inFlight === 0 && this.#nodes.every(isSeen),
    });
    if (restSeconds !== undefined) this.#at(restSeconds, 'seen');
    return limit;
  }

  /** EKS' strategies take them in turn; the first in it serve last. */
  #following(): number | undefined {
    const isIdle = this.#nodes[this.#order[0] ?? -1]?.isReady === false;
    return isIdle || hasSpare(this.#input, this.#nodes) ? 0 : undefined;
  }

  #pick(chosen: ReadonlySet<number>): number | undefined {
    const { budgets, drainTimeoutSeconds } = this.#input;
    const candidates = this.#order.flatMap((index) => {
      const node = this.#nodes[index];
      const isHopeless = this.#input.nodes[index]?.isHopeless === true;
      const loads = this.#loads[index] ?? [];
      return node ? [{ ...node, isHopeless, isEmpty: node.pods.length === 0, loads }] : [];
    });
    const choice = nextOf(candidates, {
      hasSpare: hasSpare(this.#input, this.#nodes),
      isAlone: this.#inFlight === 0,
      perZone: perZoneOf(this.#nodes, { chosen, areKept: this.#input.last !== undefined }),
      left: (budget) => this.#left[budget] ?? 0,
      gate: {
        drainTimeoutSeconds,
        allowed: (budget) => budgets[budget]?.allowed ?? 1,
        outstanding: (budget) => this.#outstanding[budget] ?? 0,
      },
    });
    if (choice.isHeldByGate) this.#isHeldByGate = true;
    return choice.at;
  }

  #appOf(pod: number): ModelApp | undefined {
    return this.#input.apps[this.#pods[pod]?.app ?? -1];
  }

  #drain(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    this.#inFlight++;
    node.state = 'draining';
    node.start = this.#now;
    this.#drains.push(node);
    const hook = node.isOld ? this.#times.hook('preDrain') : 0;
    if (hook > 0) this.#at(hook, 'hooked', index);
    else this.#evictFrom(index);
  }

  #evictFrom(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.left = node.pods.length;
    if (node.left === 0) {
      this.#drained(index);
      return;
    }
    this.#at(this.#input.drainTimeoutSeconds, 'deadline', index);
    for (const pod of node.pods) {
      const budget = this.#appOf(pod)?.budget;
      if (budget !== undefined) {
        this.#outstanding[budget] = (this.#outstanding[budget] ?? 0) + 1;
        this.#queues[budget]?.push(pod);
      }
      const one = this.#pods[pod];
      if (one !== undefined) one.isWaiting = true;
      this.#homeOf.set(pod, index);
    }
    for (const pod of node.pods) {
      const budget = this.#appOf(pod)?.budget;
      if (budget === undefined) this.#evict(pod);
      else this.#grant(budget);
    }
  }

  #grant(budget: number): void {
    const queue = this.#queues[budget];
    while (queue !== undefined && queue.length > 0 && (this.#tokens[budget] ?? 0) > 0) {
      const pod = queue.shift();
      if (pod === undefined) return;
      if (this.#pods[pod]?.isWaiting !== true) continue;
      this.#tokens[budget] = (this.#tokens[budget] ?? 0) - 1;
      this.#evict(pod);
    }
  }

  #evict(pod: number): void {
    const one = this.#pods[pod];
    const app = this.#appOf(pod);
    if (one === undefined || app === undefined) return;
    one.isWaiting = false;
    one.evictions++;
    this.#evictions++;
    const stop = this.#habits[one.app]?.stop ?? 0;
    this.#at(stop, 'stopped', this.#homeOf.get(pod) ?? -1, pod);
    this.#place(pod, app.waitsForStop ? stop : 0);
  }

  /** The new node with the fewest of its like takes it, then the emptiest; without any it waits for the next. */
  #place(pod: number, after: number): void {
    const app = this.#appOf(pod);
    const kind = this.#pods[pod]?.app;
    if (app === undefined || kind === undefined) return;
    const best = leastOf(this.#nodes, { app: kind, podRoom: this.#input.podRoom });
    if (best === undefined && !this.#input.hasRoomElsewhere) {
      this.#homeless.push(pod);
      return;
    }
    best?.pods.push(pod);
    best?.perApp.set(kind, (best.perApp.get(kind) ?? 0) + 1);
    const pace = this.#habits[this.#pods[pod]?.app ?? -1]?.pace ?? 1;
    this.#at(after + this.#times.draw(app.replace, pace), 'ready', -1, pod);
  }

  #replaced(pod: number): void {
    const budget = this.#appOf(pod)?.budget;
    if (budget === undefined) return;
    const allowed = this.#input.budgets[budget]?.allowed ?? 1;
    this.#tokens[budget] = Math.min(allowed, (this.#tokens[budget] ?? 0) + 1);
    this.#grant(budget);
    if (this.#isHeldByGate) this.#release();
  }

  #stopped(index: number, pod: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    const budget = this.#appOf(pod)?.budget;
    if (budget !== undefined) {
      this.#outstanding[budget] = Math.max(0, (this.#outstanding[budget] ?? 0) - 1);
      if (node.isOld) this.#left[budget] = (this.#left[budget] ?? 0) - 1;
    }
    node.left--;
    if (node.left === 0) this.#drained(index);
  }

  #drained(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.pods = [];
    const { settleSeconds, strategy } = this.#input;
    // EKS marks all old nodes before the first of them is drained, and surplus as it goes.
    const isMarkedNow = strategy === 'SURGE' || !node.isOld;
    const settle = isMarkedNow ? Math.max(0, node.start + settleSeconds - this.#now) : 0;
    this.#emptiedAt = this.#now + settle;
    this.#at(settle + (node.isOld ? this.#times.cool() : 0), 'leaving', index);
  }

  /** Auto Scaling starts another one as soon as one is on its way out, not when it is gone. */
  #leaving(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.state = 'leaving';
    const { terminate, look } = this.#input.times;
    // Surplus goes one by one: the next when the last one is seen to have left.
    const took = this.#times.draw(terminate);
    this.#at(took + (node.isOld ? 0 : this.#times.draw(look)), 'gone', index);
    if (node.isOld && isReplaced(this.#input, this.#nodes)) this.#launch(node.zone);
  }

  #deadline(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined || node.state !== 'draining' || node.left === 0) return;
    if (node.isOld || !this.#input.force) this.#late.push(node.name);
    // What waits for a token that only a pod without a place would give back.
    if (node.isOld && this.#homeless.length > 0) this.#starved.push(node.name);
    if (!this.#input.force) return;
    for (const pod of node.pods) if (this.#pods[pod]?.isWaiting === true) this.#evict(pod);
  }

  #gone(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.state = 'gone';
    node.end = this.#now;
    this.#inFlight--;
    this.#release();
  }

  /** DEFAULT: the surplus goes one by one, and with it the pods that landed there. */
  #scaleDown(): void {
    if (this.#input.strategy !== 'DEFAULT' || this.#surgeLeft === 0 || this.#booting > 0) return;
    const victim = surplusOf(this.#nodes);
    if (victim === undefined) return;
    this.#surgeLeft--;
    this.#drain(victim);
  }
}

export const simulate = (input: ModelInput, seed: number, options: RunOptions = {}): RunResult =>
  new Run(input, seed, options).run();
