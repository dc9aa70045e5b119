// Public entry of explain: typed reasons and plans as plain lines.
export { explainDisruption, explainPlan } from './explain.ts';
export { explainWaiting } from './waiting.ts';
