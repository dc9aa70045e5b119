// Public entry of the node: evaluation of user data, capacity, labels and taints.
export { placedLabels } from './arguments.ts';
export { unknownOption } from './bootstrap-sh.ts';
export { bottlerocketFields } from './bottlerocket-settings.ts';
export {
  evaluateMaxPods,
  kubeReserved,
  maxPodsOf,
  recommendedMaxPods,
  reservedMemoryMiB,
  reservedMillicores,
} from './capacity.ts';
export { authorityFault, publicKeyInfo } from './certificate.ts';
export { type Evaluation, evaluateUserData, takesGzip } from './evaluate.ts';
export type { EvaluatedNode } from './evaluated.ts';
export { exampleAuthority } from './example-authority.ts';
export { exampleFacts, minorOf, type NodeFacts, nvidiaRuntimeFile } from './facts.ts';
export { localDisksFile, type NodeFile, redacted, resolvedFile } from './files.ts';
export { instanceTypeFacts } from './instance-types.ts';
export { fieldOf } from './kubelet.ts';
export { kubeletTypeProblems, unknownKubeletFields } from './kubelet-fields.ts';
export { kubeletMaySet, splitLabels } from './labels.ts';
export { nearestName } from './nearest.ts';
export type { Problem } from './problem.ts';
