// The node agent's permissions in a cluster: RBAC rules, and the ValidatingAdmissionPolicies that
// restrict its account to its own Node. RBAC alone would let every agent write every Node's
// conditions, labels and capacity. Printed to deploy/agent; contract tests verify them on an API
// server.
import type { JsonObject } from './json.ts';
import { bundleCondition } from './log-bundle.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const rbacGroup = 'rbac.authorization.k8s.io';
/** In a token bound to a pod or a node: the name of that node. */
const nodeClaim = 'authentication.kubernetes.io/node-name';
/** The namespace of Events about nodes. */
const eventNamespace = 'default';

/** Condition types about the node's health. */
export const agentConditionTypes = [
  'KernelReady',
  'StorageReady',
  'NetworkingReady',
  'ContainerRuntimeReady',
  'AcceleratedHardwareReady',
  'AgentHealthy',
] as const;

/** All condition types that the agent writes. */
export const agentWrittenTypes: readonly string[] = [...agentConditionTypes, bundleCondition];

export interface AgentAccount {
  readonly namespace: string;
  readonly name: string;
}

export const agentAccount: AgentAccount = { namespace: 'kube-system', name: 'drover-agent' };

const grant = (
  scope: '' | 'Cluster',
  metadata: JsonObject,
  rules: readonly JsonObject[],
  account: AgentAccount,
): readonly JsonObject[] => [
  { apiVersion: `${rbacGroup}/v1`, kind: `${scope}Role`, metadata, rules },
  {
    apiVersion: `${rbacGroup}/v1`,
    kind: `${scope}RoleBinding`,
    metadata,
    roleRef: { apiGroup: rbacGroup, kind: `${scope}Role`, name: String(metadata.name) },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  },
];

/** Roles and bindings with the name `name`. */
export const agentGrants = (name: string, account: AgentAccount): readonly JsonObject[] => [
  ...grant(
    'Cluster',
    { name },
    [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
    ],
    account,
  ),
  ...grant(
    '',
    { name, namespace: eventNamespace },
    [{ apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] }],
    account,
  ),
];

/** The field is unchanged, including absence. */
const unchanged = (path: string): string =>
  `has(object.${path}) == has(oldObject.${path}) && ` +
  `(!has(object.${path}) || object.${path} == oldObject.${path})`;

const pinned = [
  'metadata.labels',
  'metadata.annotations',
  'metadata.finalizers',
  'metadata.ownerReferences',
  'spec.taints',
  'spec.unschedulable',
  'spec.providerID',
  'status.capacity',
  'status.allocatable',
  'status.addresses',
  'status.nodeInfo',
  'status.volumesAttached',
  'status.volumesInUse',
  'status.images',
] as const;

const policy = (
  name: string,
  account: AgentAccount,
  match: { readonly resources: readonly string[]; readonly operations: readonly string[] },
  more: { readonly variables?: readonly JsonObject[]; readonly validations: readonly JsonObject[] },
): readonly JsonObject[] => {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], scope: '*', ...match };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [rule] },
        matchConditions: [
          { name: 'is-an-agent', expression: `request.userInfo.username == '${user}'` },
        ],
        variables: [
          {
            name: 'node',
            expression:
              `has(request.userInfo.extra) && '${nodeClaim}' in request.userInfo.extra ? ` +
              `request.userInfo.extra['${nodeClaim}'][0] : ''`,
          },
          ...(more.variables ?? []),
        ],
        validations: [
          {
            expression: "variables.node != ''",
            message: `the token of ${user} is not bound to a pod or a node`,
            reason: 'Forbidden',
          },
          ...more.validations.map((one) => ({ ...one, reason: 'Forbidden' })),
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
};

const others = (of: 'object' | 'oldObject'): string =>
  `has(${of}.status.conditions) ? ${of}.status.conditions.filter(c, !(c.type in ` +
  'variables.own)) : []';

/** An agent may write its own Node's conditions of its own types, and Events about its own Node. */
export const agentPolicies = (name: string, account: AgentAccount): readonly JsonObject[] => [
  ...policy(
    `${name}-node`,
    account,
    { resources: ['nodes', 'nodes/status'], operations: ['UPDATE'] },
    {
      variables: [
        { name: 'own', expression: JSON.stringify(agentWrittenTypes).replaceAll('"', "'") },
        { name: 'before', expression: others('oldObject') },
        { name: 'after', expression: others('object') },
      ],
      validations: [
        {
          expression: 'object.metadata.name == variables.node',
          message: 'an agent writes the status of its own Node alone',
        },
        {
          expression:
            'size(variables.before) == size(variables.after) && ' +
            'variables.after.all(c, variables.before.exists(b, b == c))',
          message: `an agent writes conditions of the types ${agentWrittenTypes.join(', ')} alone`,
        },
        {
          expression: pinned.map((path) => `(${unchanged(path)})`).join(' && '),
          message:
            'an agent writes conditions alone: no labels, annotations, capacity or addresses',
        },
      ],
    },
  ),
  ...policy(
    `${name}-events`,
    account,
    { resources: ['events'], operations: ['CREATE', 'UPDATE'] },
    {
      validations: [
        {
          expression:
            "object.involvedObject.kind == 'Node' && object.involvedObject.name == variables.node",
          message: 'an agent writes Events about its own Node alone',
        },
      ],
    },
  ),
];

const hostRoot = '/host';
const recordDirectory = '/var/lib/drover';

/** The DaemonSet with bundles mounts this path: an example of storage that outlives instances. */
export const exampleBundleDirectory = '/mnt/drover-bundles';

/**
 * Mounts the directory at the same path as on the node, because the agent's answer names that path.
 */
const bundlesAt = (directory: string) => ({
  args: ['--bundle-directory', directory],
  // A file system that the node mounts later appears in the container.
  mounts: [{ name: 'bundles', mountPath: directory, mountPropagation: 'HostToContainer' }],
  volumes: [{ name: 'bundles', hostPath: { path: directory, type: 'DirectoryOrCreate' } }],
});

/**
 * `image` contains this package; its entry point is `drover`. Without `bundleDirectory` no log
 * bundles are collected.
 */
export const agentDaemonSet = (
  account: AgentAccount,
  image: string,
  bundleDirectory?: string,
): JsonObject => {
  const labels = { 'app.kubernetes.io/name': account.name };
  const bundles = bundleDirectory === undefined ? undefined : bundlesAt(bundleDirectory);
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...account, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: account.name,
          priorityClassName: 'system-node-critical',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [{ operator: 'Exists' }],
          hostNetwork: true,
          hostPID: true,
          containers: [
            {
              name: 'agent',
              image,
              args: ['agent', '--host-root', hostRoot, ...(bundles?.args ?? [])],
              env: [
                { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
                // Node's cache of compiled sources: the root file system is read-only.
                { name: 'XDG_CACHE_HOME', value: recordDirectory },
              ],
              resources: {
                requests: { cpu: '10m', memory: '64Mi' },
                limits: { memory: '128Mi' },
              },
              // Needed for /dev/kmsg, the node's network and its programs, which the agent runs by
              // chroot.
              securityContext: { privileged: true, readOnlyRootFilesystem: true, runAsUser: 0 },
              volumeMounts: [
                { name: 'root', mountPath: hostRoot, mountPropagation: 'HostToContainer' },
                { name: 'record', mountPath: recordDirectory },
                ...(bundles?.mounts ?? []),
              ],
            },
          ],
          volumes: [
            { name: 'root', hostPath: { path: '/' } },
            { name: 'record', hostPath: { path: recordDirectory, type: 'DirectoryOrCreate' } },
            ...(bundles?.volumes ?? []),
          ],
        },
      },
    },
  };
};

/**
 * For nodes with a bootstrap that installs this package: the kubelet's credentials suffice. Further
 * flags are in DROVER_AGENT_OPTIONS of a file that need not exist.
 */
export const agentUnit = `[Unit]
Description=Drover node agent
Wants=network-online.target
After=network-online.target

[Service]
EnvironmentFile=-/etc/default/drover-agent
ExecStart=/usr/bin/drover agent --kubeconfig /var/lib/kubelet/kubeconfig $DROVER_AGENT_OPTIONS
Restart=always
RestartSec=5
StateDirectory=drover
CacheDirectory=drover
Environment=XDG_CACHE_HOME=/var/cache/drover
MemoryMax=160M
CPUQuota=20%
Nice=5
OOMScoreAdjust=-500
NoNewPrivileges=yes
ProtectHome=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`;
