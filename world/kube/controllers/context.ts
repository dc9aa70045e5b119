// Dependencies shared by all of the world's controllers. Holds no state of its own.
import { defined } from '../../../src/api/defined.ts';
import type { WorldClient, WorldKube } from '../../contracts.ts';
import type { Kernel } from '../../kernel/index.ts';
import {
  clientFor,
  controllerIdentity,
  EventRecorder,
  type Identity,
  type Latency,
  type LatencyName,
  type Outcome,
  Worker,
} from '../actors/index.ts';

export interface ControllerContext {
  readonly kernel: Kernel;
  readonly kube: WorldKube;
  /** The cluster's version, e.g. v1.32.9-eks-113cf36. */
  readonly version: string;
  /** False disables core/v1 Events: large simulations do not read them. */
  readonly events: boolean;
  readonly latencies: Readonly<Partial<Record<LatencyName, Latency>>>;
}

/** A controller that can resync everything, as on its own start. */
export interface Controller {
  resume(): void;
}

export const newWorker = (
  context: ControllerContext,
  name: LatencyName,
  reconcile: (key: string) => Outcome,
): Worker => {
  const latency = context.latencies[name];
  return new Worker({
    kernel: context.kernel,
    name,
    reconcile,
    ...defined({ latency }),
  });
};

/** Client and event recorder of one of kube-controller-manager's controllers. */
export const controllerClient = (
  context: ControllerContext,
  account: string,
  identity: Identity = controllerIdentity(account, context.version),
  /** The component that its events name, when it differs from the account. */
  component: string = account,
): { readonly client: WorldClient; readonly events: EventRecorder } => {
  const client = clientFor(context.kube, identity);
  const events = new EventRecorder({
    kernel: context.kernel,
    client,
    component,
    enabled: context.events,
  });
  return { client, events };
};
