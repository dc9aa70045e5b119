// Public entry of the embedded world's Kubernetes API server.
export { type DecodedBody, decodeBody } from './body.ts';
export { basicRules, defaultClusterRoles, discoveryRules } from './rbac-defaults.ts';
export { createKubeApiServer, type KubeApiServer } from './server.ts';
