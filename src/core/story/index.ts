// Public entry of the story of a node: what an audit log tells of it, in order, and what is odd in
// that.
export { type NodeStory, tellStory } from './judge.ts';
export { type Step, type StepKind, StoryReader } from './read.ts';
