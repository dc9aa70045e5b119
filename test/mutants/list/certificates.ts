// Mutants about the approval of certificate requests.
import type { Mutant } from '../mutant.ts';

const file = 'src/core/identity/certificates.ts';
const oracles: Mutant['oracles'] = ['certificates-name-their-instance'];
const story = 'kubelets-ask-for-certificates';

export const certificateMutants: readonly Mutant[] = [
  {
    name: 'an-address-of-another-instance-is-certified',
    oracles,
    kind: 'logic',
    story,
    edits: [
      {
        file,
        find: 'if (address !== undefined) {',
        replace: "if (address === 'none') {",
      },
    ],
  },
  {
    name: 'whoever-asks-gets-the-certificate-of-a-node',
    oracles,
    kind: 'logic',
    story,
    edits: [
      {
        file,
        find: 'username === content.commonName;',
        replace: "username.startsWith('system:node:') && content.commonName !== '';",
      },
    ],
  },
  {
    name: 'an-instance-that-ends-is-still-certified',
    oracles,
    kind: 'timing',
    story,
    edits: [
      {
        file,
        find: "const running = new Set(['pending', 'running']);",
        replace: "const running = new Set(['pending', 'running', 'shutting-down', 'terminated']);",
      },
    ],
  },
];
