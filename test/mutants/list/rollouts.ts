// Mutants about complete version updates: too many nodes at once, pods that move twice, leftovers,
// and updates that never end.
import type { Mutant } from '../mutant.ts';

const nodes = 'src/core/update/records/nodes.ts';
const surge = 'src/core/update/strategies/surge.ts';
const ending = 'src/core/update/ending/ending.ts';
const updated = 'a-group-is-updated';
const setBack = 'an-update-is-set-back';

const pace: readonly Mutant[] = [
  {
    name: 'an-update-takes-three-nodes-at-once',
    oracles: ['updates-keep-their-pace'],
    kind: 'logic',
    story: updated,
    edits: [
      {
        file: nodes,
        find: 'const { maxUnavailable = 1 } = status;',
        replace: 'const maxUnavailable = Math.max(3, status.maxUnavailable ?? 1);',
      },
    ],
  },
  {
    name: 'a-node-that-cools-down-counts-as-gone',
    oracles: ['updates-keep-their-pace'],
    kind: 'timing',
    story: updated,
    edits: [
      {
        file: nodes,
        find: "      state.kind === 'draining' ||\n      state.kind === 'drained' ||\n",
        replace:
          "      (state.kind === 'draining' && instance.disruption?.status?.phase !== 'Completing') ||\n",
      },
    ],
  },
  {
    name: 'whoever-serves-may-be-spared',
    oracles: ['updates-keep-their-pace'],
    kind: 'logic',
    story: 'an-old-node-falls-silent',
    edits: [
      {
        file: nodes,
        find: 'spare: Math.max(0, serving - Math.max(0, desired - maxUnavailable)),',
        replace: 'spare: serving,',
      },
    ],
  },
  {
    name: 'the-surplus-is-retired-first-where-fewest-are',
    oracles: ['updates-keep-their-pace'],
    kind: 'logic',
    story: 'zones-are-updated',
    edits: [
      {
        file: surge,
        find: "      one !== undefined &&\n      placements.of(one.instance.zone) !== 'wanted'\n",
        replace: '      one !== undefined\n',
      },
      {
        file: surge,
        find: 'const most = Math.max(...pool.map(sizeOf));',
        replace: 'const most = Math.min(...pool.map(sizeOf));',
      },
    ],
  },
];

const templates: readonly Mutant[] = [
  {
    name: 'a-group-uses-the-template-before-its-update-names-it',
    oracles: ['intent-before-effect'],
    kind: 'timing',
    story: updated,
    edits: [
      {
        file: 'src/controllers/nodegroup/update/prepare.ts',
        find: '  const desired = input.wanted;\n',
        replace:
          '  await useTemplate(deps, input, { version: target.templateVersion });\n  const desired = input.wanted;\n',
      },
      {
        file: 'src/controllers/nodegroup/update/prepare.ts',
        find: 'import { makeTarget }',
        replace: 'import { makeTarget, useTemplate }',
      },
    ],
  },
  {
    name: 'what-restores-is-used-before-it-is-noted',
    oracles: ['intent-before-effect'],
    kind: 'timing',
    story: setBack,
    edits: [
      {
        file: 'src/controllers/nodegroup/update/template.ts',
        find: '  await writeUpdate(deps, update, { ...status, restored }, signal);\n  await useTemplate(deps, input, { version: restored });\n',
        replace:
          '  await useTemplate(deps, input, { version: restored });\n  await writeUpdate(deps, update, { ...status, restored }, signal);\n',
      },
    ],
  },
];

const moves: readonly Mutant[] = [
  {
    name: 'new-nodes-count-as-old-ones',
    oracles: ['surge-moves-pods-once'],
    kind: 'logic',
    story: updated,
    edits: [
      {
        file: nodes,
        find: 'old: counted.filter(({ instance }) => !instance.isTarget),',
        replace: 'old: counted,',
      },
    ],
  },
  {
    name: 'old-nodes-go-when-new-ones-are-asked-for',
    oracles: ['surge-moves-pods-once'],
    kind: 'timing',
    story: updated,
    edits: [
      {
        file: surge,
        find: 'if (isComplete && fresh.every(isHealthyNew)) return next();',
        replace: 'if (isComplete) return next();',
      },
      {
        file: surge,
        find: '  !groupNodes.fresh.some(isHealthyNew) &&',
        replace: '  groupNodes.fresh.length === 0 &&',
      },
    ],
  },
  {
    name: 'small-groups-dip-no-toe',
    oracles: ['surge-moves-pods-once'],
    kind: 'logic',
    story: updated,
    edits: [
      {
        file: surge,
        find: 'if (old.length === 0) return next();',
        replace: 'if (old.length <= 2) return next();',
      },
    ],
  },
];

const remains: readonly Mutant[] = [
  {
    name: 'old-nodes-stay-outdated-when-an-update-is-set-back',
    oracles: ['updates-leave-nothing'],
    kind: 'logic',
    story: setBack,
    edits: [
      {
        file: ending,
        find: 'instance.nodeName !== undefined && instance.hasOutdatedTaint === true',
        replace: 'instance.nodeName === undefined && instance.hasOutdatedTaint === true',
      },
    ],
  },
  {
    name: 'takes-the-annotations-of-others-for-its-own',
    oracles: ['updates-leave-nothing'],
    kind: 'logic',
    story: setBack,
    edits: [
      {
        file: 'src/core/update/strategies/scale-down-disabled.ts',
        find: "instance.nodeName !== undefined && instance.scaleDownDisabled === 'ours'",
        replace: 'instance.nodeName !== undefined && instance.scaleDownDisabled !== undefined',
      },
    ],
  },
  {
    name: 'an-update-is-over-before-its-processes-run-again',
    oracles: ['updates-leave-nothing'],
    kind: 'timing',
    story: updated,
    edits: [
      {
        file: ending,
        find: 'if (observation.suspended.length > 0) {',
        replace: 'if (observation.suspended.length > 1) {',
      },
    ],
  },
];

const ends: readonly Mutant[] = [
  {
    name: 'an-update-waits-for-a-group-without-new-nodes',
    oracles: ['everything-ends'],
    kind: 'logic',
    story: updated,
    edits: [
      {
        file: surge,
        find: 'if (isThrough && isStarted && fresh.every(isHealthyNew) && !restsInWave(observation)) {',
        replace: 'if (isThrough && isStarted && fresh.length === 0 && !restsInWave(observation)) {',
      },
    ],
  },
  {
    name: 'the-surplus-of-an-update-is-never-gone',
    oracles: ['everything-ends'],
    kind: 'logic',
    story: 'a-group-is-updated-as-eks-does',
    edits: [
      {
        file: 'src/core/update/strategies/surplus.ts',
        find: 'if (isHeld(observation)) return stay(observation);',
        replace: 'if (isHeld(observation) || surge.desired === 1) return stay(observation);',
      },
    ],
  },
];

export const rolloutMutants: readonly Mutant[] = [
  ...pace,
  ...templates,
  ...moves,
  ...remains,
  ...ends,
];
