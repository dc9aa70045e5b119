// Public entry of the fault registry.
export { type FaultKind, Faults, faultKinds, isFaultKind, type TargetKey } from './faults.ts';
export { isKernelFault, kernelFaults } from './kernel-faults.ts';
