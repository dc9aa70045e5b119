// Faults in a group's user data that prevent a node from joining, as `drover userdata lint` finds
// them in the current launch template. Warnings are not causes.
import { defined } from '../../api/defined.ts';
import { lint } from '../bootstrap/index.ts';
import type { JoinCause, JoinEvidence } from './joining-evidence.ts';

/** User data has few faults; a longer list would hide the first one. */
const maxFindings = 3;

export const userDataCauses = ({ userData }: JoinEvidence): readonly JoinCause[] => {
  if (userData === undefined) return [];
  const { base64, template, family, hasOwnImage, kubernetesVersion, instanceType } = userData;
  const { findings } = lint(
    { name: 'user-data', bytes: new TextEncoder().encode(base64) },
    {
      family,
      launchedBy: hasOwnImage ? 'own-image' : 'managed',
      instanceType,
      ...defined({ kubernetesVersion }),
    },
  );
  return findings
    .filter(({ severity }) => severity === 'error')
    .slice(0, maxFindings)
    .map(({ rule, message, line, column, consequence, fix }) => ({
      code: 'UserData',
      certainty: 'likely',
      what: `its user data starts no kubelet: ${rule}: ${message}`,
      evidence: [`user data of ${template}, line ${line}, column ${column}: ${consequence}`],
      remedy: [fix, `docs/rules/${rule}.md`],
      instances: [],
    }));
};
