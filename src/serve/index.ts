// Public entry of the listeners.
export { type ControlAnswer, type ControlRoutes, createFrontListener } from './front-listener.ts';
export { createKubeListener } from './kube-listener.ts';
export { listenOnLoopback } from './listen.ts';
export { Pacer, WorldEnded } from './pacer.ts';
export {
  createProbeListener,
  listenForProbes,
  type ProbeRoutes,
} from './probe-listener.ts';
