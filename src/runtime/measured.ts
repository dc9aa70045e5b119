// Ports whose calls are counted and timed by their verb and code. Answers and errors pass
// unchanged.
import {
  type Clock,
  type CloudApi,
  CloudError,
  type KubeApi,
  KubeError,
  type Metrics,
} from '../ports/index.ts';
import { NotLeader } from './fence.ts';

interface Measured {
  readonly clock: Clock;
  readonly count: (verb: string, code: string) => void;
  readonly time: (verb: string, seconds: number) => void;
  readonly codeOf: (error: unknown) => string | undefined;
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

const measured = <T extends object>(port: T, how: Measured): T =>
  new Proxy(port, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || typeof name !== 'string') return method;
      return (...args: readonly unknown[]): unknown => {
        const startedAt = how.clock.now();
        const answer: unknown = Reflect.apply(method, target, args);
        if (!isPromise(answer)) {
          // A watch is counted when it is opened.
          how.count(name, 'OK');
          return answer;
        }
        const done = (code: string | undefined): void => {
          // A call that the fence refused was not sent, and a call that its caller aborted has no
          // answer.
          if (code === undefined) return;
          how.count(name, code);
          how.time(name, Math.max(0, how.clock.now() - startedAt) / 1000);
        };
        answer.then(
          () => done('OK'),
          (error: unknown) => done(how.codeOf(error)),
        );
        return answer;
      };
    },
  });

export const measuredKube = (kube: KubeApi, clock: Clock, metrics: Metrics): KubeApi =>
  measured(kube, {
    clock,
    count: (verb, code) => metrics.add('drover_kube_requests_total', { verb, code }),
    time: (verb, seconds) =>
      metrics.observe('drover_kube_request_duration_seconds', { verb }, seconds),
    codeOf: (error) => (error instanceof KubeError ? error.code : unsent(error)),
  });

/** A long poll's duration depends on the requested wait. */
const longPoll = 'receiveMessages';

export const measuredCloud = (cloud: CloudApi, clock: Clock, metrics: Metrics): CloudApi =>
  measured(cloud, {
    clock,
    count: (operation, code) => metrics.add('drover_cloud_requests_total', { operation, code }),
    time: (operation, seconds) => {
      if (operation === longPoll) return;
      metrics.observe('drover_cloud_request_duration_seconds', { operation }, seconds);
    },
    codeOf: (error) => (error instanceof CloudError ? error.code : unsent(error)),
  });

const unsent = (error: unknown): string | undefined => {
  if (error instanceof NotLeader) return undefined;
  return error instanceof Error && error.name === 'AbortError' ? undefined : 'Other';
};
