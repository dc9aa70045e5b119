// Calls between services of the world: synchronous if the world itself answers, else through a port
// (EKS node groups are Kubernetes objects outside the simulated AWS).
import type { AwsInput } from '../../src/aws-wire/index.ts';

export interface ServiceCall {
  readonly service: string;
  readonly operation: string;
  readonly input: AwsInput;
}

/** Answers as the endpoint would, including node groups. Rejects with AwsError. */
export type AwsCaller = (call: ServiceCall) => Promise<unknown>;

export class ServiceCalls {
  #now: ((call: ServiceCall) => unknown) | undefined;
  #later: AwsCaller | undefined;

  bind(now: (call: ServiceCall) => unknown): void {
    this.#now = now;
  }
  connect(later: AwsCaller): void {
    this.#later = later;
  }

  /** Makes a call that the world's own services answer. Throws AwsError. */
  now(service: string, operation: string, input: AwsInput): Readonly<Record<string, unknown>> {
    if (this.#now === undefined) throw new Error('a service is called before the world is wired');
    return (this.#now({ service, operation, input }) ?? {}) as Readonly<Record<string, unknown>>;
  }

  async later(call: ServiceCall): Promise<Readonly<Record<string, unknown>>> {
    const answer =
      this.#later === undefined
        ? this.now(call.service, call.operation, call.input)
        : await this.#later(call);
    return (answer ?? {}) as Readonly<Record<string, unknown>>;
  }
}
