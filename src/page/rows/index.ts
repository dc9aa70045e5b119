// Public entry of the rows: each kind of row from its objects.
export { budgetRowOf } from './budget.ts';
export { drainRowOf, repairRowOf } from './drain.ts';
export { groupRowOf, looseGroupRow } from './group.ts';
export { nodeRowOf, type RoomyNode, type Usage } from './node.ts';
export { updateRowOf } from './update.ts';
export { budgetsOf } from './waits.ts';
