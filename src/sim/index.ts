// Public entry of the simulation: ports over a world in the same process.

export { createInProcessPorts } from './ports/ports.ts';
