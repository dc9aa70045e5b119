// Public entry of the story of a node: its events in an audit log, in order, and what is wrong in
// them.
export { type NodeStory, tellStory } from './judge.ts';
export { type Step, type StepKind, StoryReader } from './read.ts';
