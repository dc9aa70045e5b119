// Requests, calls and changes of one minute, and the bounds that they must keep.
import type { Context } from '../../oracle.ts';
import { microsPerMinute } from '../../state/read.ts';

/** One target: a write every two seconds for a whole minute is a loop. */
const perTarget = 30;
/**
 * These statuses list every instance of a group, so each lifecycle step of an instance may cause a
 * write.
 */
const tellOfInstances = /^patch nodegroup(?:s|updates)\/status /;
/** Polls of groups, queue and instances, and the retries of a minute with errors. */
const idleRequests = 240;
const idleCalls = 300;
const perChange = 20;

export class Minute {
  readonly #context: Context;
  #minute = 0;
  #requests = 0;
  #calls = 0;
  #changes = 0;
  #changesBefore = 0;
  /** Lifecycle steps of instances, in this minute and the previous one. */
  #steps = 0;
  #stepsBefore = 0;
  readonly #targets = new Map<string, number>();
  readonly #told = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  change(at: number): void {
    this.#advance(at);
    this.#changes++;
  }

  step(at: number): void {
    this.change(at);
    this.#steps++;
  }

  request(at: number, target: string): void {
    this.#advance(at);
    this.#requests++;
    this.#aim(target);
  }

  call(at: number, target: string): void {
    this.#advance(at);
    this.#calls++;
    // Reads follow each change of many nodes: they count in total, not per target.
    if (!/^(?:Describe|List|Get|Receive)/.test(target)) this.#aim(target);
  }

  end(): void {
    this.#advance(Number.POSITIVE_INFINITY);
  }

  #aim(target: string): void {
    const count = (this.#targets.get(target) ?? 0) + 1;
    this.#targets.set(target, count);
    const steps = tellOfInstances.test(target) ? this.#steps + this.#stepsBefore : 0;
    if (count <= perTarget + steps || this.#told.has(target)) return;
    this.#told.add(target);
    this.#context.report({
      subject: target,
      message: `asked for more than ${perTarget + steps} times within a minute`,
    });
  }

  #advance(at: number): void {
    const minute = Math.floor(at / microsPerMinute);
    if (minute === this.#minute) return;
    this.#judge();
    const isNext = minute === this.#minute + 1;
    this.#changesBefore = isNext ? this.#changes : 0;
    this.#stepsBefore = isNext ? this.#steps : 0;
    this.#minute = minute;
    this.#requests = 0;
    this.#calls = 0;
    this.#changes = 0;
    this.#steps = 0;
    this.#targets.clear();
    this.#told.clear();
  }

  #judge(): void {
    const { saw, report, figure } = this.#context;
    if (this.#requests === 0 && this.#calls === 0) return;
    saw();
    figure('requests of ours in a minute, most', this.#requests);
    figure('cloud calls of ours in a minute, most', this.#calls);
    const changes = this.#changes + this.#changesBefore;
    const at = this.#minute * microsPerMinute;
    const told = (count: number, what: string) =>
      report({ at, subject: what, message: `${count} in a minute with ${changes} changes` });
    const bound = perChange * changes;
    if (this.#requests > idleRequests + bound) told(this.#requests, 'requests');
    if (this.#calls > idleCalls + bound) told(this.#calls, 'cloud calls');
  }
}
