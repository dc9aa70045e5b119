// Public entry of the oracles: an independent judgement of a trace, written from the specification
// alone. Never imports core, the controllers or the world that it judges.
import type { Trace } from '../../src/api/trace.ts';
import { type CheckReport, type Oracle, runOracles } from './oracle.ts';
import { awsAuth } from './oracles/aws-auth/index.ts';
import { blockers } from './oracles/blockers.ts';
import { budgets } from './oracles/budgets.ts';
import { certificates } from './oracles/certificates.ts';
import { drainable } from './oracles/drainable.ts';
import { economics } from './oracles/economics.ts';
import { evictedOnce } from './oracles/evicted-once.ts';
import { fixedState } from './oracles/fixed-state/index.ts';
import { forced } from './oracles/forced/index.ts';
import { foreignHooks } from './oracles/foreign-hooks.ts';
import { groupsGone } from './oracles/groups-gone/index.ts';
import { held } from './oracles/held.ts';
import { hooksCompleted } from './oracles/hooks-completed/index.ts';
import { hooksKept } from './oracles/hooks-kept.ts';
import { hotLoop } from './oracles/hot-loop/index.ts';
import { intent } from './oracles/intent/index.ts';
import { liveness } from './oracles/liveness/index.ts';
import { marksFirst } from './oracles/marks-first.ts';
import { marksUndone } from './oracles/marks-undone/index.ts';
import { messages } from './oracles/messages.ts';
import { notices } from './oracles/notices.ts';
import { repairs } from './oracles/repairs/index.ts';
import { sizes } from './oracles/sizes/index.ts';
import { surgeMoves } from './oracles/surge-moves/index.ts';
import { updateTimes } from './oracles/times/index.ts';
import { turns } from './oracles/turns.ts';
import { updateGates } from './oracles/update-gates/index.ts';
import { updateMarks } from './oracles/update-marks/index.ts';
import { updatePace } from './oracles/update-pace/index.ts';

export { finalFacts } from './final-facts.ts';
export { traceFromAudit } from './from-audit.ts';
export type { CheckReport, Oracle } from './oracle.ts';
export { repairs as repairOracles } from './oracles/repairs/index.ts';

/** In the order of docs/designs/oracles.md. */
export const oracles: readonly Oracle[] = [
  budgets,
  forced,
  marksFirst,
  drainable,
  evictedOnce,
  hooksKept,
  hooksCompleted,
  foreignHooks,
  messages,
  notices,
  ...sizes,
  turns,
  held,
  updateTimes,
  updatePace,
  updateGates,
  surgeMoves,
  updateMarks,
  marksUndone,
  awsAuth,
  certificates,
  ...repairs,
  intent,
  fixedState,
  groupsGone,
  liveness,
  blockers,
  hotLoop,
  economics,
];

/**
 * Judges a trace by every oracle that applies to its strategy. Stateless; never changes the trace.
 */
export const checkTrace = (trace: Trace): CheckReport => runOracles(oracles, trace);
