// Public entry of the node agent. `NodeAgent.begin` runs on any NodeHost: a machine, or a simulated
// node.
export { NodeAgent } from './agent.ts';
