// Public entry of the listeners.
export { type ControlAnswer, type ControlRoutes, createFrontListener } from './front-listener.ts';
export { createKubeListener } from './kube-listener.ts';
export { listenOnLoopback } from './listen.ts';
export { Pacer, WorldEnded } from './pacer.ts';
export { keyAccess, pageKey, tokenAccess } from './page-access.ts';
export { type PageFile, readPageFiles } from './page-files.ts';
export { createPageListener } from './page-listener.ts';
export { PageRoutes } from './page-routes.ts';
export {
  createProbeListener,
  listenForProbes,
  type ProbeAnswer,
  type ProbeRoutes,
} from './probe-listener.ts';
