// Public entry of the world's control plane: creates every controller and the scheduler.
import { defined } from '../../../src/api/defined.ts';
import type { MachineRegistry, ServiceBalancers, WorldKube } from '../../contracts.ts';
import type { Faults } from '../../faults/index.ts';
import type { Kernel } from '../../kernel/index.ts';
import type { Latency, LatencyName } from '../actors/index.ts';
import { Heartbeats } from '../kubelet/index.ts';
import { Scheduler } from '../scheduler/index.ts';
import { AttachDetachController } from './attach-detach.ts';
import { AutoscalerController } from './autoscaler.ts';
import { CertificateController } from './certificates.ts';
import { CloudNodeController } from './cloud-node.ts';
import type { Controller, ControllerContext } from './context.ts';
import { CronJobController } from './cronjob.ts';
import { DaemonSetController } from './daemonset.ts';
import { DeploymentController } from './deployment.ts';
import { DisruptionController } from './disruption.ts';
import { EndpointMirroring } from './endpoint-mirroring.ts';
import { EndpointSliceController } from './endpoints.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { JobController } from './job.ts';
import { NamespaceController, NamespaceGifts } from './namespaces.ts';
import { NodeLifecycleController } from './node-lifecycle.ts';
import { PodGarbageCollector } from './pod-gc.ts';
import { ReplicaSetController } from './replicaset.ts';
import { RoleAggregation } from './role-aggregation.ts';
import { ServiceLoadBalancers } from './service-lb.ts';
import { StatefulSetController } from './statefulset.ts';
import { TaintEvictionController } from './taint-eviction.ts';
import { TtlAfterFinishedController } from './ttl-after-finished.ts';
import { VolumeBinder } from './volume-binder.ts';
import { ClaimProtection } from './volume-protection.ts';

export interface KubeControllersOptions {
  readonly kernel: Kernel;
  readonly kube: WorldKube;
  readonly machines: MachineRegistry;
  readonly balancers: ServiceBalancers;
  readonly faults: Faults;
  /** The cluster's version in EKS form, as reported in user agents. */
  readonly version?: string;
  /** PEM bundle for kube-root-ca.crt. */
  readonly rootCa?: string;
  /**
   * False leaves kubelets' certificate requests to another approver, as outside EKS. Default true.
   */
  readonly approvesKubelets?: boolean;
  /** False disables core/v1 Events: large simulations do not read them. */
  readonly events?: boolean;
  /** Overrides of the controllers' latencies. */
  readonly latencies?: Readonly<Partial<Record<LatencyName, Latency>>>;
}

export interface KubeControllers {
  /** After a restart: every controller resyncs once, as real controllers do on their start. */
  resume(): void;
}

export const createKubeControllers = (options: KubeControllersOptions): KubeControllers => {
  const { kernel, kube } = options;
  const version = options.version ?? 'v1.32.9-eks-113cf36';
  const events = options.events ?? true;
  const latencies = options.latencies ?? {};
  const context: ControllerContext = { kernel, kube, version, events, latencies };
  const heartbeats = Heartbeats.of(kernel);
  const { scheduler: latency } = latencies;
  const controllers: readonly Controller[] = [
    // Workloads, bottom up: controllers that create pods.
    new ReplicaSetController(context),
    new DeploymentController(context),
    new DaemonSetController(context),
    new StatefulSetController(context),
    new JobController(context),
    new TtlAfterFinishedController(context),
    new CronJobController(context),
    new AutoscalerController(context),
    // Budgets: how many running pods may be disrupted.
    new DisruptionController(context),
    // Nodes: conditions and taints, evictions, deletion.
    new NodeLifecycleController(context, heartbeats),
    new TaintEvictionController(context),
    new CloudNodeController(context, options.machines, heartbeats),
    // Garbage collection, and namespaces' creation and deletion.
    new PodGarbageCollector(context),
    new GarbageCollector(context),
    new NamespaceController(context),
    new NamespaceGifts(context, options.rootCa ?? ''),
    // Storage: binds claims, attaches volumes to the machines of their pods.
    new VolumeBinder(context),
    new AttachDetachController(context, heartbeats),
    new ClaimProtection(context),
    // Traffic: which pods each Service reaches.
    new EndpointSliceController(context),
    new EndpointMirroring(context),
    new ServiceLoadBalancers(context, options.balancers),
    // Certificates: approves kubelets' requests, refuses those that violate a signer's rules.
    new CertificateController(context, options.approvesKubelets ?? true),
    // The rules of admin, edit and view.
    new RoleAggregation(context),
    new Scheduler({ kernel, kube, version, events, ...defined({ latency }) }),
  ];
  return {
    resume: () => {
      for (const controller of controllers) controller.resume();
    },
  };
};
