// Oracle 9: the controller removes its own marks and no others. The author of a mark comes from the
// requests, not from the journal. A mark that others set again may stay or be removed. Causes of an
// earlier episode keep their marks until they are withdrawn. A patch replaces the whole list of
// taints; the taints of others must survive it.

import { objectOr } from '../../../src/api/json.ts';
import { both, type Context, type Oracle } from '../oracle.ts';
import { type DisruptionState, type NodeState, type Request, succeeded } from '../state/book.ts';
import { markKinds } from '../state/nodes.ts';
import { microsPerMinute, objectsOf, textOf } from '../state/read.ts';

/** Without faults, a withdrawal is carried out within this time. */
const undoneWithinMicros = microsPerMinute;

const oursOn = (node: NodeState): readonly string[] =>
  markKinds.filter((kind) => node.marks.has(kind) && node.owners.get(kind) === 'us');

/** The taints that an update puts on old nodes; other owners do not use this prefix. */
const isOwnTaint = (taint: string): boolean => taint.startsWith('drover.dev/');

/** The node's last change is that of this patch, which listed all taints to keep. */
const checkTaints = (
  { saw, report }: Context,
  node: NodeState,
  entry: Request,
  ofGroups: ReadonlySet<string>,
): void => {
  if (!('taints' in objectOr(objectOr(entry.body).spec))) return;
  saw();
  const lost = node.lostTaints.filter((taint) => !ofGroups.has(taint) && !isOwnTaint(taint));
  if (lost.length === 0) return;
  const taints = lost.join(', ');
  report({ subject: node.name, message: `the taint ${taints} of others was taken away` });
};

/**
 * Causes that justify marks after the end of their drain: handled or in force, and not withdrawn.
 */
const standing = (
  { causes, handled }: DisruptionState,
  before = Number.POSITIVE_INFINITY,
): readonly string[] =>
  causes
    .filter(({ id, isCancelled }) => !isCancelled && (handled.get(id) ?? before) < before)
    .map(({ kind }) => kind);

/**
 * Reports marks that remain although every cause was withdrawn long ago, whatever the journal says.
 */
const checkLeft = ({ book, saw, report }: Context): void => {
  for (const node of book.nodes.byName.values()) {
    if (node.goneAt !== undefined) continue;
    const disruption = book.disruptions.ofNode(node);
    if (disruption === undefined || disruption.causes.length === 0) continue;
    const since = disruption.causes.map(({ cancelledSeenAt }) => cancelledSeenAt ?? book.now);
    if (book.now - Math.max(...since) < undoneWithinMicros) continue;
    saw();
    const left = oursOn(node);
    if (left.length === 0) continue;
    const message = `every cause was withdrawn, and our ${left.join(', ')} stayed`;
    report({ subject: node.name, message });
  }
};

interface Known {
  /** Taints that a node group's spec has had: the controller may remove them. */
  readonly groupTaints: Set<string>;
  /** Instances that the controller has terminated; their nodes may keep their marks. */
  readonly taken: Set<string>;
}

const checkChange = (context: Context, entry: Request, known: Known): void => {
  const { book, saw, report } = context;
  const node = book.nodes.byName.get(entry.name ?? '');
  if (node === undefined) return;
  checkTaints(context, node, entry, known.groupTaints);
  if (node.pending.length === 0) return;
  saw();
  const disruption = book.disruptions.ofNode(node);
  const wanted = [
    ...(disruption === undefined ? [] : standing(disruption, book.now - book.lagMicros)),
    ...(known.taken.has(node.instanceId) ? ['our own termination'] : []),
  ];
  for (const { kind, from, to } of node.pending) {
    const owner = node.owners.get(kind);
    if (from !== undefined && owner === 'other') {
      const how = to === undefined ? 'taken away' : `overwritten with ${to}`;
      report({ subject: node.name, message: `a ${kind} that is not ours was ${how}` });
    } else if (to !== undefined && disruption === undefined) {
      report({ subject: node.name, message: `was given a ${kind} without any NodeDisruption` });
    } else if (from !== undefined && to === undefined && wanted.length > 0) {
      const message = `our ${kind} was taken away, and ${wanted.join(', ')} was not withdrawn`;
      report({ subject: node.name, message });
    }
  }
};

export const marksUndone: Oracle = {
  name: 'marks-undone',
  what: 'a cancelled drain leaves no mark of ours and takes no mark or taint of others',
  strategies: both,
  needs: ['request', 'object'],
  watch: (context) => {
    const { book, saw, report } = context;
    const known: Known = { groupTaints: new Set(), taken: new Set() };
    return {
      end: () => {
        if (book.facts.settled) checkLeft(context);
      },
      request: (entry) => {
        if (entry.resource !== 'nodes' || !succeeded(entry) || !book.isOurs(entry)) return;
        checkChange(context, entry, known);
      },
      call: (entry) => {
        if (entry.operation !== 'TerminateInstanceInAutoScalingGroup') return;
        if (book.isOurs(entry) && entry.error === undefined) {
          known.taken.add(book.instanceOfCall(entry));
        }
      },
      object: ({ type, resource, object }) => {
        if (resource === 'nodegroups') {
          for (const taint of objectsOf(objectOr(object.spec).taints)) {
            known.groupTaints.add(`${textOf(taint.key)}:${textOf(taint.effect)}`);
          }
        }
        if (resource !== 'nodedisruptions' || type === 'DELETED') return;
        const disruption = book.disruptions.byName.get(textOf(objectOr(object.metadata).name));
        if (disruption?.phase !== 'Ended' || disruption.outcome !== 'Cancelled') return;
        const before = objectOr(objectOr(disruption.previous).status);
        if (before.phase === 'Ended' && before.episode === disruption.episode) return;
        saw();
        if (standing(disruption).length > 0) return;
        const byInstance = book.nodes.ofInstance(disruption.instanceId);
        const node = byInstance ?? book.nodes.byName.get(disruption.nodeName);
        if (node === undefined || node.goneAt !== undefined) return;
        const left = oursOn(node);
        if (left.length === 0) return;
        report({
          subject: node.name,
          message: `its drain was cancelled, and our ${left.join(', ')} stayed`,
        });
      },
    };
  },
};
