// Mistakes about node groups: deleted, scaled in, never done with.
import type { Mutant } from '../mutant.ts';

const remove = 'src/controllers/nodegroup/lifecycle/remove.ts';
const request = 'src/controllers/nodegroup/size/request.ts';
const sizes = 'src/core/nodegroup/sizes.ts';
const sizeCalls = 'src/core/nodegroup/size-calls.ts';
const scaleIn = 'src/controllers/nodegroup/size/scale-in.ts';
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
        file: remove,
        find: 'await cloud.deleteLaunchTemplate(template.name, { signal });',
        replace: 'await Promise.resolve(template.name);',
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
        file: remove,
        find: 'await cloud.deleteInstanceProfile(name, { signal });',
        replace: 'await Promise.resolve(name);',
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
        file: remove,
        find: 'await cloud.deleteGroup(name, { signal });',
        replace: 'await Promise.resolve(name);',
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
        file: remove,
        find: 'await cloud.deleteGroup(name, { signal });',
        replace:
          'await removeFinalizer(deps, group, signal);\n    await cloud.deleteGroup(name, { signal });',
      },
    ],
  },
];

const sized: readonly Mutant[] = [
  {
    name: 'one-more-than-asked-is-taken',
    oracles: ['desired-within-bounds'],
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
    oracles: ['desired-within-bounds'],
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
    oracles: ['desired-within-bounds'],
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
    oracles: ['desired-within-bounds'],
    kind: 'timing',
    story: 'a-size-is-set-too-late',
    edits: [
      {
        file: sizeCalls,
        find: 'if (call.epoch === epoch || !isRemembered(call, now)) continue;',
        replace: 'if (call.epoch <= epoch || !isRemembered(call, now)) continue;',
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
        find: 'if (missing <= 0) return;',
        replace: 'if (missing <= scaling.maxSize) return;',
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
        file: remove,
        find: 'const deleteAgainMs = 300_000;',
        replace: 'const deleteAgainMs = 86_400_000;',
      },
    ],
  },
];

export const groupMutants: readonly Mutant[] = [...deleted, ...sized, ...ended];
