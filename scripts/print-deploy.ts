// Prints what an administrator applies for `drover controller` in a cluster: deploy/rbac.yaml from
// src/api/controller-rights.ts, deploy/certificates.yaml and deploy/hooks.yaml; deploy/fence.yaml
// from src/api/controller-fence.ts; deploy/agent from src/api/agent-rights.ts; the same objects as
// files of the charts in deploy/charts. test/deploy/controller.test.ts fails until it was run:
// `node scripts/print-deploy.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import {
  agentAccount,
  agentDaemonSet,
  agentGrants,
  agentPolicies,
  agentUnit,
  exampleBundleDirectory,
} from '../src/api/agent-rights.ts';
import { fence, fenceOptions } from '../src/api/controller-fence.ts';
import {
  certificateGrants,
  controllerGrants,
  hookGrants,
  notificationGrants,
  pageGrants,
  surgeGrants,
} from '../src/api/controller-rights.ts';
import { customResourceDefinitions } from '../src/api/crds.ts';
import { type JsonObject, objectOr } from '../src/api/json.ts';

export const deployDirectory = join(import.meta.dirname, '..', 'deploy');

/** To be replaced by an image of one's own registry. */
const agentImage = 'drover:0.1.0';
const { account } = fenceOptions;

type Printed = readonly [source: string, objects: readonly JsonObject[]];

const files: Readonly<Record<string, Printed>> = {
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
  'page.yaml': [
    'src/api/controller-rights.ts',
    pageGrants(`${account.name}-page`, { kind: 'ServiceAccount', ...account }),
  ],
  'surge.yaml': [
    'src/api/controller-rights.ts',
    surgeGrants(`${account.name}-surge`, { kind: 'ServiceAccount', ...account }),
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
  'agent/daemonset-bundles.yaml': [
    'src/api/agent-rights.ts',
    [agentDaemonSet(agentAccount, agentImage, exampleBundleDirectory)],
  ],
};

const withMetadata = (object: JsonObject, more: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...objectOr(object.metadata), ...more },
});

const objectsOf = (name: string): Printed => files[name] ?? ['', []];

/** The chart renders the ServiceAccount itself, with annotations. */
const withoutAccount = ([source, objects]: Printed): Printed => [
  source,
  objects.filter(({ kind }) => kind !== 'ServiceAccount'),
];

/** The chart replaces this name by each of its `hookNamespaces`. */
const hookNamespace = 'NAMESPACE-OF-HOOKS';

/** The files of the charts, with the same objects as above. */
const chartFiles: Readonly<Record<string, Printed>> = {
  'charts/drover/files/rbac.yaml': withoutAccount(objectsOf('rbac.yaml')),
  'charts/drover/files/fence.yaml': objectsOf('fence.yaml'),
  'charts/drover/files/certificates.yaml': objectsOf('certificates.yaml'),
  'charts/drover/files/notifications.yaml': objectsOf('notifications.yaml'),
  'charts/drover/files/page.yaml': objectsOf('page.yaml'),
  'charts/drover/files/surge.yaml': objectsOf('surge.yaml'),
  'charts/drover/files/hooks.yaml': [
    objectsOf('hooks.yaml')[0],
    objectsOf('hooks.yaml')[1].map((one) => withMetadata(one, { namespace: hookNamespace })),
  ],
  'charts/drover/files/agent-rbac.yaml': objectsOf('agent/rbac.yaml'),
  'charts/drover/files/agent-policy.yaml': objectsOf('agent/policy.yaml'),
  'charts/drover/files/agent-daemonset.yaml': objectsOf('agent/daemonset.yaml'),
  ...Object.fromEntries(
    customResourceDefinitions.map((crd): [string, Printed] => [
      `charts/drover-crds/files/${crd.metadata.name}.yaml`,
      // Deleting a definition deletes its objects, so helm must keep definitions when the chart is
      // uninstalled.
      [
        'src/api/crds.ts',
        [
          withMetadata(crd as unknown as JsonObject, {
            annotations: { 'helm.sh/resource-policy': 'keep' },
          }),
        ],
      ],
    ]),
  ),
};

/** Text by file name. */
export const deployFiles = (): Readonly<Record<string, string>> => ({
  'agent/drover-agent.service': agentUnit,
  ...Object.fromEntries(
    Object.entries({ ...files, ...chartFiles }).map(([name, [source, objects]]) => {
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
