// Shared by all simulated AWS services: the kernel, the faults, the account, and durations. Holds
// no state of its own and reads no clock but the kernel's.
import { epochMs, formatKubeTime, formatTime } from '../../src/api/brand.ts';
import { AwsError, type AwsHandler } from '../../src/aws-wire/index.ts';
import type { Random } from '../../src/ports/index.ts';
import type { MachineHost } from '../contracts.ts';
import type { Faults } from '../faults/index.ts';
import { hexString, type Kernel, microsPerMs, uuid } from '../kernel/index.ts';

export type ServiceHandlers = Readonly<Record<string, AwsHandler>>;

/** Minimum and maximum, in milliseconds; the value is drawn uniformly between them. */
export type Span = readonly [fromMs: number, toMs: number];

/**
 * Durations of the cloud. Shorter than real ones if only a user would wait (a real instance needs
 * 10 to 40 s to run); code has to handle their order, not their length.
 */
export interface Timings {
  readonly instancePendingMs: Span;
  readonly instanceShuttingDownMs: Span;
  readonly instanceStoppingMs: Span;
  /** From a change of capacity to the resulting launch or termination. */
  readonly scalingMs: Span;
  /** From Terminating to Terminating:Wait, and from a hook's result to the next state. */
  readonly transitionMs: Span;
  /** From an instance's end in EC2 to its detection by the group. */
  readonly healthCheckMs: Span;
  /** Wait after a failed launch, doubled per consecutive failure up to sixteenfold. */
  readonly launchRetryMs: Span;
  /** From the event to the message in the queue. */
  readonly deliveryMs: Span;
}

const defaultTimings: Timings = {
  instancePendingMs: [1500, 3000],
  instanceShuttingDownMs: [4000, 9000],
  instanceStoppingMs: [3000, 6000],
  scalingMs: [400, 1200],
  transitionMs: [80, 250],
  healthCheckMs: [15_000, 45_000],
  launchRetryMs: [15_000, 20_000],
  deliveryMs: [20, 120],
};

/** EC2 lists a terminated instance for about an hour. */
export const terminatedMemoryMs = 3_600_000;
/** Notice time before EC2 reclaims a spot instance. */
export const spotNoticeMs = 120_000;

export interface ScopeOptions {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly host: () => MachineHost;
  readonly account: string;
  readonly region: string;
  readonly timings?: Partial<Timings>;
}

export class Scope {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly host: () => MachineHost;
  readonly account: string;
  readonly region: string;
  readonly timings: Timings;

  constructor(options: ScopeOptions) {
    this.kernel = options.kernel;
    this.faults = options.faults;
    this.host = options.host;
    this.account = options.account;
    this.region = options.region;
    this.timings = { ...defaultTimings, ...options.timings };
  }

  /** Epoch milliseconds. */
  now(): number {
    return Math.floor(this.kernel.now() / microsPerMs);
  }

  /** A random duration from `span`, in microseconds, from the random stream of `component`. */
  delay(component: string, span: Span): number {
    const random = this.kernel.random(component);
    const [from, to] = span;
    return Math.round((from + random.next() * (to - from)) * microsPerMs);
  }

  /** `us-east-1`-style id of 17 hex digits, e.g. `i-0ab76e62066c9730c`. */
  id(component: string, prefix: string): string {
    return `${prefix}-0${hexString(this.kernel.random(component), 16)}`;
  }

  uuid(component: string): string {
    return uuid(this.kernel.random(component));
  }

  arn(service: string, resource: string, account = this.account): string {
    return `arn:aws:${service}:${this.region}:${account}:${resource}`;
  }
}

/** `2022-09-25T13:58:43Z` */
export const isoSeconds = (ms: number): string => formatKubeTime(epochMs(ms));
/** `2022-09-25T13:58:43.356Z` */
export const isoMillis = (ms: number): string => formatTime(epochMs(ms));

const upperAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** The suffix of CloudFormation's physical names, e.g. `1Q19K6MP0HTFJ`. */
export const upperSuffix = (random: Random, length: number): string => {
  let out = '';
  for (let i = 0; i < length; i++) out += upperAlphabet[random.below(upperAlphabet.length)];
  return out;
};

/** The form of EKS' ids: 8-4-4-4-12 hex digits without a version digit. */
export const plainUuid = (random: Random): string =>
  [8, 4, 4, 4, 12].map((length) => hexString(random, length)).join('-');

export const refuse = (code: string, message: string, httpStatus?: number): AwsError =>
  new AwsError(httpStatus === undefined ? { code, message } : { code, message, httpStatus });

/** The error of Auto Scaling and CloudFormation for nearly every invalid request. */
export const validationError = (message: string): AwsError => refuse('ValidationError', message);

/** Joins the pieces of a sentence to one line. */
export const sentence = (...pieces: readonly string[]): string => pieces.join(' ');
