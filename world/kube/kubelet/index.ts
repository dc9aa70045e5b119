// Public entry of the simulated kubelets.
export { Heartbeats } from './heartbeats.ts';
export { machineOf } from './hosts.ts';
export { createKubelets, type Kubelets, type KubeletsOptions } from './kubelets.ts';
export { type NodeRelease, nodeReleases } from './machine-facts.ts';
export { createSimulatedHost, type PoweredNode, poweredNode } from './node-host.ts';
export { podAnnotations } from './pod-times.ts';
