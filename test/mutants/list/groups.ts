// Mistakes about node groups that are deleted.
import type { Mutant } from '../mutant.ts';

const remove = 'src/controllers/nodegroup/remove.ts';
const story = 'a-node-group-is-made-and-deleted';

export const groupMutants: readonly Mutant[] = [
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
