// Requests to a running update: pause, resume, stop, roll back. Says what each does in the update's
// phase, or why it is refused. The command line and the page write the returned patch. Pure.
import type { JsonObject } from '../../api/json.ts';
import { type NodeGroupUpdate, updateStatusOf } from '../../api/nodegroup-update.ts';

export type ControlVerdict =
  | { readonly kind: 'refused'; readonly text: string }
  /** The update is already as requested. */
  | { readonly kind: 'nothing'; readonly text: string }
  /** A merge patch of the NodeGroupUpdate. */
  | { readonly kind: 'patch'; readonly text: string; readonly patch: JsonObject };

type Named = Pick<NodeGroupUpdate, 'metadata' | 'spec' | 'status'>;

const refused = (text: string): ControlVerdict => ({ kind: 'refused', text });

/** Why no request to this update is accepted; undefined: it is a version update in progress. */
export const notRunning = (update: NodeGroupUpdate): string | undefined => {
  const { name } = update.metadata;
  const status = updateStatusOf(update);
  if (status !== 'InProgress') return `update ${name} is over: ${status}`;
  const { type } = update.spec;
  if (type === 'VersionUpdate') return undefined;
  return `update ${name} is a ${type}: only version updates take long enough`;
};

/**
 * Why a pause in phase Restoring is refused: no further node is started in that phase, and a pause
 * does not delay its other steps.
 */
export const latePause = ({ metadata, status }: Named): string | undefined => {
  if (status?.phase !== 'Restoring') return undefined;
  const what =
    status.ending === undefined
      ? 'has replaced all nodes and only sets back what it had set apart for that'
      : `is being set back already, and ends as ${status.ending}`;
  return `update ${metadata.name} ${what}: nothing is left to hold`;
};

export const pauseVerdict = (update: NodeGroupUpdate, paused: boolean): ControlVerdict => {
  const { metadata, spec } = update;
  const { name } = metadata;
  if (spec.abort !== undefined) return refused(`update ${name} is being stopped already`);
  const late = paused ? latePause(update) : undefined;
  if (late !== undefined) return refused(late);
  if ((spec.paused ?? false) === paused) {
    const is = paused ? 'is paused' : 'is not paused';
    return { kind: 'nothing', text: `update ${name} ${is} already` };
  }
  const text = paused
    ? `update ${name} is paused: running drains finish, no further node is started; ` +
      `\`drover resume update ${name}\` continues it`
    : `update ${name} continues`;
  return { kind: 'patch', text, patch: { spec: { paused } } };
};

const said = (text: string, rollback: boolean): ControlVerdict => ({
  kind: 'patch',
  text,
  patch: { spec: { abort: rollback ? 'RollBack' : 'Stop' } },
});

/** For an update in phase Restoring: the request only affects what follows it. */
const endingVerdict = ({ metadata, spec, status }: Named, rollback: boolean): ControlVerdict => {
  const { name } = metadata;
  const { ending } = status ?? {};
  if (ending !== undefined) {
    const then = rollback ? '; then a rollback takes back what it has done' : '';
    return said(`update ${name} is being set back already, and ends as ${ending}${then}`, rollback);
  }
  const what = `update ${name} has replaced all nodes and only sets back what it had set apart for that`;
  if (rollback) {
    const then = 'it ends as Successful; then a rollback replaces them again';
    return said(`${what}: ${then}`, rollback);
  }
  return refused(
    `${what}: nothing is left to stop. \`drover rollback nodegroup ${spec.nodeGroup}\` goes ` +
      'back when it is over',
  );
};

/** The effect on the group, by the phase in which the update is stopped. */
const effectOf = ({ status }: Named, rollback: boolean): string => {
  const { phase, strategy, progress, phases = [] } = status ?? {};
  if (phase === undefined || phase === 'Pending') {
    return 'it had not begun, and the group stays as it is';
  }
  // Without new nodes, the rollback only resets the requested revision.
  const asked = rollback ? '; then a rollback sets back what the group asks for' : '';
  const isLast = phases.some((one) => one.phase === 'ScalingDown');
  if (strategy === 'BLUE_GREEN' && !isLast) {
    return (
      'the group goes back to its old nodes, all of them; the new ones are drained ' +
      `and retire${asked}`
    );
  }
  if (isLast) {
    const again = rollback ? '; then a rollback replaces the new ones' : '';
    const go =
      strategy === 'BLUE_GREEN'
        ? 'old nodes that were asked to go still go'
        : 'the surplus still goes';
    return `all new nodes are there; ${go}${again}`;
  }
  const { done = 0, draining = 0 } = progress ?? {};
  if (done + draining === 0) {
    return `no node was replaced, and the group keeps its old ones; what was made for it goes${asked}`;
  }
  if (rollback) return 'running drains finish; nodes already updated are replaced again';
  const ends = 'running drains finish, waiting nodes are uncordoned';
  return `${ends}; the group keeps nodes of both revisions`;
};

export const abortVerdict = (update: NodeGroupUpdate, rollback: boolean): ControlVerdict => {
  const { metadata, spec, status } = update;
  const wanted = rollback ? 'RollBack' : 'Stop';
  if (spec.abort !== undefined && spec.abort !== wanted) {
    return refused(
      `update ${metadata.name} is being aborted already (${spec.abort}), which stays so`,
    );
  }
  const verdict =
    status?.phase === 'Restoring'
      ? endingVerdict(update, rollback)
      : said(
          `update ${metadata.name} is being ${rollback ? 'rolled back' : 'stopped'}: ` +
            effectOf(update, rollback),
          rollback,
        );
  if (verdict.kind !== 'patch' || spec.abort === undefined) return verdict;
  return { kind: 'nothing', text: verdict.text };
};
