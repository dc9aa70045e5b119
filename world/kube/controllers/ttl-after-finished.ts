// Deletes finished Jobs after their ttlSecondsAfterFinished. Upstream:
// pkg/controller/ttlafterfinished (Kubernetes 1.32). Never touches a running Job.
import type { WorldClient } from '../../contracts.ts';
import { microsPerSecond } from '../../kernel/index.ts';
import {
  asJob,
  isTerminating,
  type JobView,
  keyOf,
  microsOf,
  nameOfKey,
  type Outcome,
  resources,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';
import { jobEnding } from './job-status.ts';

export class TtlAfterFinishedController implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'ttl-after-finished-controller').client;
    this.#worker = newWorker(context, 'ttl-after-finished', (key) => this.#reconcile(key));
    context.kube.onChange(resources.jobs, ({ type, object }) => {
      if (type !== 'DELETED') this.#look(asJob(object));
    });
  }

  resume(): void {
    for (const job of this.#context.kube.readAll(resources.jobs)) this.#look(asJob(job));
  }

  /** Undefined when the Job is kept. */
  #leftMicros(job: JobView): number | undefined {
    const ttl = job.spec.ttlSecondsAfterFinished;
    const ended = jobEnding(job);
    if (ttl === undefined || ended === undefined || isTerminating(job)) return undefined;
    const at = (microsOf(ended.lastTransitionTime) ?? 0) + ttl * microsPerSecond;
    return Math.max(0, at - this.#context.kernel.now());
  }

  #look(job: JobView): void {
    const left = this.#leftMicros(job);
    if (left !== undefined) this.#worker.markAfter(keyOf(job), left);
  }

  #reconcile(key: string): Outcome {
    const object = this.#context.kube.read(resources.jobs, nameOfKey(key));
    if (object === undefined) return undefined;
    const left = this.#leftMicros(asJob(object));
    if (left === undefined) return undefined;
    if (left > 0) return { againInMicros: left };
    const gone = this.#client.delete(resources.jobs, nameOfKey(key), {
      uid: object.metadata.uid,
      propagationPolicy: 'Foreground',
    });
    return gone.kind === 'ok' || gone.status.code === 404 ? undefined : 'retry';
  }
}
