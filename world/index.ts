// Public entry of the embedded world.

export { nodeManagerAgent, nodeManagerUser } from './identities.ts';
export {
  certificateIssuer,
  certificateRequests,
  type SigningOrder,
  signingOrderOf,
} from './kube/controllers/certificates.ts';
export { createSimulatedHost, type PoweredNode, poweredNode } from './kube/kubelet/index.ts';
export { monitoringAgent } from './kube/seed/index.ts';
export { seedCluster } from './seed.ts';
export {
  createWorld,
  type World,
  worldAccount,
  worldRegion,
  worldVersion,
} from './world.ts';
