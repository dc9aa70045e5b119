// Public entry of the node: what it becomes of user data, its capacity, labels and taints.
export { bottlerocketFields } from './bottlerocket.ts';
export { evaluateMaxPods, maxPodsOf, recommendedMaxPods, reservedMemoryMiB } from './capacity.ts';
export { type Evaluation, evaluateUserData } from './evaluate.ts';
export { exampleFacts, type NodeFacts } from './facts.ts';
export { instanceTypeFacts } from './instance-types.ts';
export { nearestName } from './kubelet-problems.ts';
export type { Problem } from './problem.ts';
