// Mutants about marks: set too late, incomplete, another owner's removed, left behind, without a
// recorded intent.
import type { Mutant } from '../mutant.ts';

const marks = 'src/core/termination/marks.ts';
const marking = 'src/core/termination/marking.ts';
const undoing = 'src/core/termination/undoing.ts';
const drains = 'src/core/termination/drains.ts';
const draining = 'src/core/termination/draining.ts';

const markedFirst: readonly Mutant[] = [
  {
    name: 'drains-once-one-mark-is-visible',
    oracles: ['marks-before-eviction'],
    kind: 'logic',
    edits: [
      {
        file: marks,
        find: 'return wanted[compat].every((mark) => present[mark]);',
        replace: 'return wanted[compat].some((mark) => present[mark]);',
      },
    ],
  },
  {
    name: 'evicts-before-the-cordon-is-visible',
    oracles: ['marks-before-eviction'],
    kind: 'timing',
    edits: [
      {
        file: marking,
        find: '  if (marksAreVisible(node, compat)) {\n    const markedAt',
        replace: '  if (status.startedAt !== undefined) {\n    const markedAt',
      },
      {
        file: drains,
        find: 'const marked = status.node?.uid === node.metadata.uid && marksAreVisible(node, compat);',
        replace: 'const marked = status.node?.uid === node.metadata.uid;',
      },
      {
        file: draining,
        find: 'if (status === undefined || !same || !marksAreVisible(node, options.compat)) {',
        replace: "if (status === undefined || !same || options.compat === 'native') {",
      },
    ],
  },
  {
    name: 'never-cordons',
    oracles: ['marks-before-eviction'],
    kind: 'logic',
    story: 'a-pod-of-nobody-is-evicted',
    edits: [
      {
        file: marks,
        find: "...(present.unschedulable ? [] : [patch(node, cordon, 'cordon it')]),",
        replace: "...[patch(node, cordon, 'cordon it')].slice(1),",
      },
      {
        file: marks,
        find: "eks: ['excludeLabel', 'unschedulable'],",
        replace: "eks: ['excludeLabel'],",
      },
    ],
  },
  {
    name: 'native-drains-without-its-taint',
    oracles: ['marks-before-eviction'],
    kind: 'logic',
    compat: 'native',
    edits: [
      {
        file: marks,
        find: '...(present.taint ? {} : { taints })',
        replace: '...(present.taint ? { taints } : {})',
      },
      {
        file: marks,
        find: '  native: names,',
        replace: "  native: ['excludeLabel', 'unschedulable', 'annotation'],",
      },
    ],
  },
];

const undone: readonly Mutant[] = [
  {
    name: 'takes-away-the-cordon-of-others',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'a-cordoned-node-is-given-back',
    edits: [
      {
        file: marks,
        find: 'present[mark] ? before[mark] : wanted[compat].includes(mark);',
        replace: 'present[mark] ? !before[mark] : wanted[compat].includes(mark);',
      },
    ],
  },
  {
    name: 'leaves-its-own-cordon',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'drained-twice-and-given-back',
    edits: [
      {
        file: marks,
        find: '...(ours.unschedulable ? { unschedulable: null } : {}),',
        replace: '',
      },
      {
        file: marks,
        find: 'unschedulable: owned.unschedulable && node.spec.unschedulable === true,',
        replace: 'unschedulable: false,',
      },
    ],
  },
  {
    name: 'ended-before-the-marks-are-gone',
    oracles: ['marks-undone'],
    kind: 'timing',
    story: 'withdrawn-while-a-budget-blocks',
    edits: [
      {
        file: undoing,
        find: 'if (node !== undefined && steps.length > 0) {',
        replace: 'if (node !== undefined && steps.length > 4) {',
      },
    ],
  },
  {
    name: 'the-label-stays-behind',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'drained-twice-and-given-back',
    edits: [
      {
        file: marks,
        find: '...(ours.excludeLabel ? { labels: { [marks.excludeFromLoadBalancers]: null } } : {}),',
        replace: '',
      },
      {
        file: marks,
        find: "owned.excludeLabel && node.metadata.labels?.[marks.excludeFromLoadBalancers] === 'true',",
        replace: 'false,',
      },
    ],
  },
  {
    name: 'given-back-after-its-end-and-nothing-happens',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'drained-twice-and-given-back',
    edits: [
      {
        file: 'src/core/termination/ended.ts',
        find: 'if (ours && withdrawn && !wasTerminated(disruption)) return startUndoing(observation);',
        replace: 'if (ours && withdrawn && now < 0) return startUndoing(observation);',
      },
    ],
  },
  {
    name: 'the-next-episode-forgets-which-marks-are-ours',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'drained-twice-and-given-back',
    edits: [
      {
        file: 'src/core/termination/status.ts',
        find: '...(before?.ownedMarks === undefined || before.node === undefined',
        replace: '...(before?.ownedMarks !== undefined || before?.node === undefined',
      },
    ],
  },
  {
    name: 'a-withdrawn-drain-stays-where-it-is',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'withdrawn-while-a-budget-blocks',
    edits: [
      {
        file: draining,
        find: '  if (demand.causes.length === 0) return startUndoing(observation);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'the-taint-list-is-written-without-others',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'a-tainted-node-is-given-back',
    compat: 'native',
    edits: [
      {
        file: marks,
        find: 'const taints = [...(node.spec.taints ?? []).map(taintJson), ours];',
        replace: 'const taints = [ours];',
      },
    ],
  },
  {
    name: 'undoing-wipes-the-taints-of-others',
    oracles: ['marks-undone'],
    kind: 'logic',
    story: 'a-tainted-node-is-given-back',
    compat: 'native',
    edits: [
      {
        file: marks,
        find: '{ taints: others.length > 0 ? others : null }',
        replace: '{ taints: others.length > 9 ? others : null }',
      },
    ],
  },
  {
    name: 'taints-written-without-the-version-they-were-read-at',
    oracles: ['marks-undone'],
    kind: 'timing',
    story: 'a-node-is-tainted-just-before-its-drain',
    compat: 'native',
    edits: [
      {
        file: marks,
        find: '      uid,\n      resourceVersion,\n      annotations: {',
        replace: '      uid,\n      annotations: {',
      },
    ],
  },
];

const announced: readonly Mutant[] = [
  {
    name: 'marks-before-the-intent-is-written',
    oracles: ['intent-before-effect'],
    kind: 'timing',
    edits: [
      {
        file: marking,
        find: 'steps: [writeStatus({ disruption, demand, change, now }), ...patches],',
        replace: 'steps: [...patches, writeStatus({ disruption, demand, change, now })],',
      },
    ],
  },
  {
    name: 'forces-before-it-says-so',
    oracles: ['intent-before-effect'],
    kind: 'timing',
    edits: [
      {
        file: drains,
        find: 'forcing: intended && status.forcingSince !== undefined,',
        replace: 'forcing: intended,',
      },
    ],
  },
  {
    name: 'evicts-while-marking',
    oracles: ['intent-before-effect'],
    kind: 'timing',
    edits: [
      {
        file: drains,
        find: "if (status?.phase !== 'Draining' || node === undefined || demand.causes.length === 0) {",
        replace:
          "if (status?.phase === undefined || status.phase === 'Pending' || node === undefined) {",
      },
    ],
  },
  {
    name: 'goes-on-evicting-when-the-drain-is-withdrawn',
    oracles: ['intent-before-effect'],
    kind: 'logic',
    story: 'withdrawn-while-a-budget-blocks',
    edits: [
      {
        file: drains,
        find: "if (status?.phase !== 'Draining' || node === undefined || demand.causes.length === 0) {",
        replace: "if (status === undefined || status.phase === 'Marking' || node === undefined) {",
      },
      {
        file: drains,
        find: 'const marked = status.node?.uid === node.metadata.uid && marksAreVisible(node, compat);',
        replace: 'const marked = status.node?.uid === node.metadata.uid;',
      },
      {
        file: 'src/controllers/disruption/controller.ts',
        find: "if (phase !== 'Pending' && phase !== 'Marking' && phase !== 'Draining') {",
        replace: "if (phase === 'Ended' && disruption.status?.outcome !== 'Cancelled') {",
      },
    ],
  },
  {
    name: 'withdrawn-causes-still-count',
    oracles: ['intent-before-effect'],
    kind: 'logic',
    story: 'withdrawn-while-a-budget-blocks',
    edits: [
      {
        file: 'src/core/termination/causes.ts',
        find: '(cause) => isInForce(cause) && !wasHandled(cause, handled)',
        replace: '(cause) => isConfirmed(cause) && !wasHandled(cause, handled)',
      },
      {
        file: 'src/core/termination/causes.ts',
        find: "import { isInForce } from '../../api/confirmation.ts';",
        replace: "import { isConfirmed, isInForce } from '../../api/confirmation.ts';",
      },
    ],
  },
  {
    name: 'an-instance-that-leaves-is-given-back',
    oracles: ['marks-undone'],
    kind: 'timing',
    story: 'a-termination-is-taken-back',
    edits: [
      {
        file: 'src/core/termination/terminating.ts',
        find: '  return asked.keptBy === undefined && !cools;',
        replace: '  return asked.keptBy === undefined && cools;',
      },
    ],
  },
  {
    name: 'a-drained-instance-is-terminated-unasked',
    oracles: ['intent-before-effect'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/terminating.ts',
        find: 'if (!ends(followUp)) return false;',
        replace: "if (followUp === 'Reboot') return false;",
      },
    ],
  },
];

export const markMutants: readonly Mutant[] = [...markedFirst, ...undone, ...announced];
