// Room for moved pods on the nodes that exist at that time. A pod that no empty new node can hold
// is a blocker. A batch whose pods, in the plan's model, wait for replacements that never fit is a
// blocker, too. In other cases pods are only Pending for a while.
import type { Check, Found } from '../finding.ts';
import {
  type Amounts,
  amountsOf,
  isShort,
  minus,
  plus,
  podAmounts,
  printQuantity,
  shortOf,
  sum,
  times,
} from '../quantity.ts';
import { refusals } from '../scheduling.ts';
import { type MovedPod, placeOf, type View } from '../view.ts';
import { byOwner, kubectl, ownerObject, stuckDrain, whenDrained } from './parts.ts';

const describe = (short: ReturnType<typeof shortOf>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    short.map(({ resource, wanted, has }) => [
      resource,
      `needs ${printQuantity(resource, wanted)}, has ${printQuantity(resource, Math.max(0, has))}`,
    ]),
  );

const freeOn = (view: View, name: string, allocatable: Amounts): Amounts =>
  minus(allocatable, sum(view.podsOn(name).map(podAmounts)));

/** Pods larger than any node that will exist. */
const tooLarge = (view: View): readonly Found[] => {
  const rooms: readonly Amounts[] = [
    // Zones whose new nodes have the same room share one object.
    ...new Set(view.newNodes.flatMap(({ room }) => (room === undefined ? [] : [room]))),
    ...view.others.map(({ node }) =>
      freeOn(view, node.metadata.name, amountsOf(node.status.allocatable)),
    ),
  ];
  if (rooms.length === 0) return [];
  const large = view.moved.filter(
    ({ asks, owner }) => owner !== undefined && rooms.every((room) => isShort(asks, room)),
  );
  return byOwner(large).map((pods) => {
    const wanted = pods[0]?.asks ?? {};
    const object = ownerObject(pods);
    return {
      severity: 'blocker',
      object,
      evidence: { ...describe(shortOf(wanted, rooms[0] ?? {})), pods: pods.length },
      consequence: whenDrained(view, pods, 'no new node is large enough: it stays Pending'),
      remedy:
        `give ${view.snapshot.group.name} a larger instance type, or ${kubectl(object.name)} ` +
        `edit ${object.kind.toLowerCase()} ${pods[0]?.owner?.name ?? ''}`,
    };
  });
};

/** The worst first batch: the nodes whose pods request the most CPU. */
const worstBatch = (view: View): readonly MovedPod[] => {
  const { maxUnavailable } = view.snapshot.group;
  const cpu = (pods: readonly MovedPod[]): number =>
    pods.reduce((all, { asks }) => all + (asks.cpu ?? 0), 0);
  return view.oldNodes
    .map(({ node }) => view.movedFrom(node.metadata.name))
    .map((pods) => ({ pods, asks: cpu(pods) }))
    .toSorted((a, b) => b.asks - a.asks || b.pods.length - a.pods.length)
    .slice(0, maxUnavailable)
    .flatMap(({ pods }) => pods);
};

/** A blocker if nodes stop the update in more than this share of the runs. */
const stuckShare = 0.5;
/** Lowest share reported as a risk; a single run may be an artifact of the model. */
const leastRisk = 0.01;

/**
 * Pods under budgets whose replacements never fit, on the nodes where that is most likely. It
 * includes every node where it is more likely than not, since the first of them stops the update.
 */
const starvedPods = ({ moved, forecast }: View): readonly MovedPod[] => {
  const shareOf = ({ node }: MovedPod): number => forecast.starved.get(node) ?? 0;
  const pods = moved.filter((one) => one.budgets.length > 0 && shareOf(one) > 0);
  const least = Math.min(
    stuckShare,
    pods.reduce((most, one) => Math.max(most, shareOf(one)), 0),
  );
  return pods.filter((one) => shareOf(one) >= least);
};

/**
 * Which pods get the room of a new node is random: in some runs it does not go to the pods that
 * others wait for.
 */
const risk = (view: View, pods: readonly MovedPod[]): readonly Found[] => {
  const share = view.forecast.starvedShare;
  if (pods.length === 0 || share < leastRisk) return [];
  const percent = Math.round(100 * share);
  const text = `may stop: in ${percent} of 100 runs pods of a node wait for others that have no room`;
  return [
    {
      severity: 'warning',
      object: { kind: 'NodeGroup', name: view.snapshot.group.name },
      evidence: { runsPercent: percent, surge: view.surge, pods: pods.length },
      consequence: stuckDrain(view, pods, text),
      remedy: newNodesFirst(view),
    },
  ];
};

const newNodesFirst = ({ snapshot }: View): string =>
  `drover plan update ${snapshot.group.name} --strategy SURGE   # new nodes first`;

const batchShort = (view: View): readonly Found[] => {
  const room = view.newNodes[0]?.room;
  if (room === undefined) return [];
  const batch = worstBatch(view).filter(({ owner }) => owner !== undefined);
  const onOthers = view.others
    .filter((other) => batch.some(({ pod }) => refusals(pod, placeOf(other)).length === 0))
    .map(({ node }) => freeOn(view, node.metadata.name, amountsOf(node.status.allocatable)));
  const free = plus(times(room, view.surge), sum(onOthers));
  const wanted = sum(batch.map(({ asks }) => asks));
  const short = shortOf(wanted, view.surge === 0 && onOthers.length === 0 ? {} : free);
  if (batch.length === 0 || short.length === 0) return [];
  const isAlone = view.surge === 0 && onOthers.length === 0;
  const starved = isAlone ? starvedPods(view) : [];
  const isStuck = starved.length > 0 && view.forecast.starvedShare > stuckShare;
  const nodes = new Set(batch.map(({ node }) => node)).size;
  const text = `the pods of ${nodes} node${nodes === 1 ? '' : 's'} find no room until a new one is there`;
  return [
    {
      severity: isStuck ? 'blocker' : 'warning',
      object: { kind: 'NodeGroup', name: view.snapshot.group.name },
      evidence: { ...describe(short), surge: view.surge, pods: batch.length },
      consequence: isStuck ? stuckDrain(view, starved, text) : whenDrained(view, batch, text),
      remedy: newNodesFirst(view),
    },
    ...(isStuck ? [] : risk(view, starved)),
  ];
};

export const newNodeCapacity: Check = {
  name: 'new-node-capacity',
  title: 'Evicted pods find no capacity',
  needs: ['nodes', 'pods'],
  run: (view) => {
    const large = tooLarge(view);
    // Pods too large for any node are short in every batch, too.
    return large.length > 0 ? large : batchShort(view);
  },
};
