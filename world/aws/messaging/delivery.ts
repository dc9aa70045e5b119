// The delivery of a notice to a queue: a short delay, and the effects of the message faults (loss,
// duplication, delay, reordering, foreign and malformed messages). Never reads a message.
import type { JsonObject } from '../../../src/api/json.ts';
import type { WorldEvent } from '../../kernel/index.ts';
import type { Scope, Span } from '../scope.ts';
import { brokenMessages } from './broken-messages.ts';
import type { Queues } from './queues.ts';

/** SQS guarantees at-least-once delivery: even without faults some messages arrive twice. */
const naturalDuplicateChance = 1 / 500;
const duplicateSpanMs: Span = [0, 30_000];
const lateSpanMs: Span = [5000, 120_000];
const component = 'aws.delivery';

export interface Parcel {
  readonly queue: string;
  readonly body: string;
  readonly senderId: string;
}

export class Delivery {
  readonly #scope: Scope;
  readonly #queues: Queues;

  constructor(scope: Scope, queues: Queues) {
    this.#scope = scope;
    this.#queues = queues;
    scope.kernel.register({ name: component, handle: (event) => this.#handle(event) });
  }

  /** `group`: the message's Auto Scaling group, a possible target of message faults. */
  post(parcel: Parcel, group: string | undefined): void {
    const place = group === undefined ? {} : { group };
    const { faults, kernel, timings } = this.#scope;
    const random = kernel.random(component);
    if (faults.active('message-malformed', place)) this.#postBroken(parcel);
    if (faults.active('message-loss', place)) return;
    const span = faults.active('message-delay', place) ? lateSpanMs : timings.deliveryMs;
    this.#schedule(parcel, span);
    let copies = random.next() < naturalDuplicateChance ? 1 : 0;
    if (faults.active('message-duplicate', place)) copies = 1 + random.below(3);
    for (let i = 0; i < copies; i++) this.#schedule(parcel, duplicateSpanMs);
  }

  #postBroken(parcel: Parcel): void {
    const random = this.#scope.kernel.random(component);
    const broken = brokenMessages[random.below(brokenMessages.length)];
    if (broken !== undefined) {
      this.#schedule({ ...parcel, body: broken(parcel.body) }, this.#scope.timings.deliveryMs);
    }
  }

  #schedule(parcel: Parcel, span: Span): void {
    const args: JsonObject = { ...parcel };
    this.#scope.kernel.schedule({
      afterMicros: this.#scope.delay(component, span),
      actor: component,
      kind: 'deliver',
      args,
    });
  }

  #handle(event: WorldEvent): void {
    const { queue, body, senderId } = event.args;
    this.#queues.send(String(queue), { body: String(body), senderId: String(senderId) });
  }
}
