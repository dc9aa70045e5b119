// Public entry of the overview: nodes and updates as the command line and the page show them.
export { isLasting } from './lasting.ts';
export {
  disruptionNameOf,
  groupNameOf,
  healthIn,
  type NodeInHealth,
  type NodeRow,
  nodeRow,
} from './nodes.ts';
export {
  fromTo,
  type NodeView,
  revisionText,
  type UpdateFacts,
  type UpdateView,
  updateView,
} from './update-view.ts';
