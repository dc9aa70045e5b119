// Mutants about the role that authorizes a group's nodes to join.
import type { Mutant } from '../mutant.ts';

const file = 'src/controllers/nodegroup/nodes/node-roles.ts';
const creation = 'src/core/group-plan/creation.ts';
const oracles: Mutant['oracles'] = ['aws-auth-loses-no-entry'];
const story = 'node-groups-share-a-role';

export const roleMutants: readonly Mutant[] = [
  {
    name: 'aws-auth-is-written-over-what-was-not-read',
    oracles,
    kind: 'logic',
    story,
    edits: [
      {
        file: 'src/core/identity/aws-auth.ts',
        find: 'const { resourceVersion } = map.metadata;\n  const annotations',
        replace: 'const resourceVersion = undefined;\n  const annotations',
      },
    ],
  },
  {
    name: 'a-role-goes-that-another-group-has',
    oracles,
    kind: 'logic',
    story,
    edits: [
      {
        file,
        find: 'if (await this.#isUsed(group, role, signal)) return false;',
        replace: 'await this.#isUsed(group, role, signal);',
      },
    ],
  },
  {
    name: 'the-role-of-a-deleted-group-stays',
    oracles,
    kind: 'logic',
    story,
    edits: [
      {
        file,
        find: 'const wasInMap = await this.#takeOut(group, signal);',
        replace: 'const wasInMap = signal.aborted && (await this.#takeOut(group, signal));',
      },
    ],
  },
  {
    name: 'the-role-comes-when-the-group-is-there',
    oracles,
    kind: 'timing',
    story,
    edits: [
      {
        file: creation,
        find: "{ kind: 'AuthorizeRole', role: group.spec.nodeRole },",
        replace: '',
      },
      {
        file: creation,
        find: 'createStep(observation)];',
        replace: "createStep(observation), { kind: 'AuthorizeRole', role: group.spec.nodeRole }];",
      },
    ],
  },
  {
    name: 'the-role-goes-when-the-delete-begins',
    oracles,
    kind: 'timing',
    story,
    edits: [
      {
        file: 'src/controllers/nodegroup/pass.ts',
        find: 'const held = { failure, draining, memory: memory.held, now: observation.now };',
        replace:
          'await this.#input.roles.release(this.#group, async () => {}, signal);\n    const held = { failure, draining, memory: memory.held, now: observation.now };',
      },
    ],
  },
];
