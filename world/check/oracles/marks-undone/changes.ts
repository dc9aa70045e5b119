// A change of a node by the controller removes its own marks and no others, and no taint of others.
// A patch replaces the whole list of taints; the taints of others must survive it.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context, Watcher } from '../../oracle.ts';
import { type NodeState, type Request, succeeded } from '../../state/book.ts';
import { objectsOf, textOf } from '../../state/read.ts';
import { standing } from './standing.ts';

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

export const watchChanges = (context: Context): Watcher => {
  const { book } = context;
  const known: Known = { groupTaints: new Set(), taken: new Set() };
  return {
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
    object: ({ resource, object }) => {
      if (resource !== 'nodegroups') return;
      for (const taint of objectsOf(objectOr(object.spec).taints)) {
        known.groupTaints.add(`${textOf(taint.key)}:${textOf(taint.effect)}`);
      }
    },
  };
};
