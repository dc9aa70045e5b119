// Prints what an administrator applies for `drover controller` in a cluster: deploy/rbac.yaml from
// src/api/controller-rights.ts, deploy/certificates.yaml and deploy/hooks.yaml; deploy/fence.yaml
// from src/api/controller-fence.ts; deploy/agent from src/api/agent-rights.ts. A test
// (test/deploy/controller.test.ts) fails when somebody forgot to run it: `node
// scripts/print-deploy.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import {
  agentAccount,
  agentDaemonSet,
  agentGrants,
  agentPolicies,
  agentUnit,
} from '../src/api/agent-rights.ts';
import { fence, fenceOptions } from '../src/api/controller-fence.ts';
import {
  certificateGrants,
  controllerGrants,
  hookGrants,
  notificationGrants,
} from '../src/api/controller-rights.ts';
import type { JsonObject } from '../src/api/json.ts';

export const deployDirectory = join(import.meta.dirname, '..', 'deploy');

/** To be replaced by an image of one's own registry. */
const agentImage = 'drover:0.1.0';
const { account } = fenceOptions;

const files: Readonly<Record<string, readonly [string, readonly JsonObject[]]>> = {
  'rbac.yaml': [
    'src/api/controller-rights.ts',
    [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account } },
      ...controllerGrants(account.name, { kind: 'ServiceAccount', ...account }),
    ],
  ],
  'certificates.yaml': [
    'src/api/controller-rights.ts',
    certificateGrants(`${account.name}-certificates`, { kind: 'ServiceAccount', ...account }),
  ],
  'hooks.yaml': [
    'src/api/controller-rights.ts',
    hookGrants(`${account.name}-hooks`, { kind: 'ServiceAccount', ...account }),
  ],
  'notifications.yaml': [
    'src/api/controller-rights.ts',
    notificationGrants(`${account.name}-notifications`, { kind: 'ServiceAccount', ...account }),
  ],
  'fence.yaml': ['src/api/controller-fence.ts', fence(fenceOptions)],
  'agent/rbac.yaml': [
    'src/api/agent-rights.ts',
    [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...agentAccount } },
      ...agentGrants(agentAccount.name, agentAccount),
    ],
  ],
  'agent/policy.yaml': ['src/api/agent-rights.ts', agentPolicies(agentAccount.name, agentAccount)],
  'agent/daemonset.yaml': ['src/api/agent-rights.ts', [agentDaemonSet(agentAccount, agentImage)]],
};

/** Text by file name. */
export const deployFiles = (): Readonly<Record<string, string>> => ({
  'agent/drover-agent.service': agentUnit,
  ...Object.fromEntries(
    Object.entries(files).map(([name, [source, objects]]) => {
      const options = { lineWidth: 100, aliasDuplicateObjects: false };
      const documents = objects.map((object) => stringify(object, options)).join('---\n');
      return [
        name,
        `# Printed from ${source} by scripts/print-deploy.ts; do not edit.\n${documents}`,
      ];
    }),
  ),
});

if (import.meta.main) {
  for (const [name, text] of Object.entries(deployFiles())) {
    mkdirSync(dirname(join(deployDirectory, name)), { recursive: true });
    writeFileSync(join(deployDirectory, name), text);
    console.log(name);
  }
}
