// Mutants about node groups: deletions, scale-in, groups that never settle.
import type { Mutant } from '../mutant.ts';

const removal = 'src/core/group-plan/removal.ts';
const steps = 'src/controllers/nodegroup/lifecycle/steps.ts';
const request = 'src/core/group-plan/requests.ts';
const sizes = 'src/core/nodegroup/sizes.ts';
const status = 'src/core/nodegroup/status.ts';
const sizeCalls = 'src/core/nodegroup/size-calls.ts';
const scaleIn = 'src/core/group-plan/scale-in.ts';
const leaving = 'src/core/group-plan/deletion.ts';
const story = 'a-node-group-is-made-and-deleted';
const scaledIn = 'a-group-is-scaled-in';

const deleted: readonly Mutant[] = [
  {
    name: 'the-template-of-a-deleted-group-stays',
    oracles: ['nothing-left-after-delete'],
    kind: 'logic',
    story,
    edits: [
      {
        file: removal,
        find: "[{ kind: 'DeleteTemplate', name: template.name } as const]",
        replace: '[]',
      },
    ],
  },
  {
    name: 'the-profile-of-a-deleted-group-stays',
    oracles: ['nothing-left-after-delete'],
    kind: 'logic',
    story,
    edits: [
      {
        file: removal,
        find: "[{ kind: 'DeleteProfile', name: profile.name } as const]",
        replace: '[]',
      },
    ],
  },
  {
    name: 'the-group-stays-when-its-nodes-are-gone',
    oracles: ['nothing-left-after-delete'],
    kind: 'logic',
    story,
    edits: [
      {
        file: removal,
        find: "[{ kind: 'DeleteGroup', autoScalingGroupName } as const]",
        replace: '[]',
      },
    ],
  },
  {
    name: 'the-object-goes-before-its-group',
    oracles: ['nothing-left-after-delete'],
    kind: 'timing',
    story,
    edits: [
      {
        file: steps,
        find: 'await cloud.deleteGroup(step.autoScalingGroupName, { signal });',
        replace:
          'await removeFinalizer(deps, group, signal);\n' +
          '      await cloud.deleteGroup(step.autoScalingGroupName, { signal });',
      },
    ],
  },
];

const grown: readonly Mutant[] = [
  {
    name: 'one-instance-more-is-requested',
    oracles: ['sizes-grow-as-noted'],
    kind: 'logic',
    story: 'a-group-is-scaled-out',
    edits: [
      {
        file: sizes,
        find: 'wanted.lower ?? Math.max(actual.desired, wanted.target);',
        replace:
          'wanted.lower ?? Math.max(actual.desired, wanted.target + ' +
          '(wanted.target > actual.desired ? 1 : 0));',
      },
    ],
  },
  {
    name: 'the-surge-is-noted-one-too-small',
    oracles: ['sizes-grow-as-noted'],
    kind: 'logic',
    story: 'a-group-is-updated',
    edits: [
      {
        file: status,
        find: 'return isNothing ? {} : { surge };',
        replace:
          'return isNothing ? {} : { surge: { ...surge, desired: Math.max(0, desired - 1) } };',
      },
    ],
  },
  {
    name: 'the-surge-is-noted-once-its-instances-count',
    oracles: ['sizes-grow-as-noted'],
    kind: 'timing',
    story: 'a-group-is-updated',
    edits: [
      {
        file: status,
        find: 'const { desired, maxSize, ...more } = surge;',
        replace:
          'const { desired, maxSize, ...more } = surge;\n' +
          '  const { base = facts.group.spec.scaling.desired ?? 0 } = more;\n' +
          '  if (desired > 0 && (facts.scaling?.desiredCapacity ?? 0) < base + desired) {\n' +
          '    return { surge: { ...surge, desired: 0 } };\n' +
          '  }',
      },
      {
        file: status,
        find: 'const surgeOf = ({ surge }: StatusFacts)',
        replace: 'const surgeOf = ({ surge, ...facts }: StatusFacts)',
      },
    ],
  },
];

const sized: readonly Mutant[] = [
  {
    name: 'one-more-than-asked-is-taken',
    oracles: ['groups-shrink-by-drained-nodes'],
    kind: 'logic',
    story: scaledIn,
    edits: [
      {
        file: request,
        find: 'const wanted = followed.desired ??',
        replace: 'const wanted = (followed.desired === 1 ? 0 : followed.desired) ??',
      },
    ],
  },
  {
    name: 'a-scale-in-goes-on-to-its-first-target',
    oracles: ['groups-shrink-by-drained-nodes'],
    kind: 'timing',
    story: 'a-scale-in-is-taken-back',
    edits: [
      {
        file: request,
        find: 'known.target === target ? known : { ...known, target }',
        replace: 'known',
      },
    ],
  },
  {
    name: 'made-smaller-before-its-nodes-are-drained',
    oracles: ['groups-shrink-by-drained-nodes'],
    kind: 'timing',
    story: scaledIn,
    edits: [
      {
        file: scaleIn,
        find: 'const lower = isForced(group) ? target : floor;',
        replace: 'const lower = isForced(group) || floor > 0 ? target : floor;',
      },
    ],
  },
  {
    name: 'a-late-call-is-taken-for-a-wish',
    oracles: ['sizes-of-others-are-followed'],
    kind: 'timing',
    story: 'a-size-is-set-too-late',
    edits: [
      {
        file: sizeCalls,
        find: '.filter((call) => call.epoch !== epoch && isRemembered(call, now))',
        replace: '.filter((call) => call.epoch > epoch && isRemembered(call, now))',
      },
    ],
  },
];

const ended: readonly Mutant[] = [
  {
    name: 'a-request-is-noted-and-not-carried-out',
    oracles: ['everything-ends'],
    kind: 'logic',
    story: 'a-group-is-scaled-out',
    edits: [
      {
        file: sizes,
        find: '{ desiredCapacity: desired }',
        replace: '{}',
      },
    ],
  },
  {
    name: 'a-scale-in-asks-nobody',
    oracles: ['everything-ends'],
    kind: 'logic',
    story: scaledIn,
    edits: [
      {
        file: scaleIn,
        find: 'const { missing } = missingDrains(scaling, view);',
        replace: 'const missing = missingDrains(scaling, view).missing - scaling.maxSize;',
      },
    ],
  },
  {
    name: 'a-failed-delete-is-tried-again-a-day-later',
    oracles: ['everything-ends'],
    kind: 'timing',
    story: 'a-delete-waits-for-a-budget',
    edits: [
      {
        file: leaving,
        find: 'const deleteAgainMs = 300_000;',
        replace: 'const deleteAgainMs = 86_400_000;',
      },
    ],
  },
];

export const groupMutants: readonly Mutant[] = [...deleted, ...grown, ...sized, ...ended];
