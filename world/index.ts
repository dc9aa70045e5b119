// Public entry of the embedded world.

export { nodeManagerAgent, nodeManagerUser } from './identities.ts';
export {
  certificateIssuer,
  certificateRequests,
  type SigningOrder,
  signingOrderOf,
} from './kube/controllers/certificates.ts';
export { seedCluster } from './seed.ts';
export {
  createWorld,
  type World,
  worldAccount,
  worldRegion,
  worldVersion,
} from './world.ts';
