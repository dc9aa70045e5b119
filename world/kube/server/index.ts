// Public entry of the embedded world's Kubernetes API server.
export { type DecodedBody, decodeBody } from './body.ts';
export type { AccessPolicies } from './rbac.ts';
export { createKubeApiServer, type KubeApiServer } from './server.ts';
