// The embedded world as one object: API server, its controllers, machines and AWS on one kernel.
// Only wiring; the caller decides how time passes and where state and audit events are stored.

import { defined } from '../src/api/defined.ts';
import { exampleAuthority } from '../src/formats/index.ts';
import { accessPoliciesOf } from './access-policies.ts';
import { type AwsWorld, type ClusterAccess, createAwsWorld } from './aws/index.ts';
import type { AuditSink, KeptLog, MachineHost, WriteRecord } from './contracts.ts';
import { Faults } from './faults/index.ts';
import { createJoinGate } from './join-gate.ts';
import { Kernel, type Micros, type Tables } from './kernel/index.ts';
import { createKubeControllers, type KubeControllers } from './kube/controllers/index.ts';
import {
  createKubelets,
  type Kubelets,
  type NodeRelease,
  nodeReleases,
} from './kube/kubelet/index.ts';
import {
  installMonitoringAgent,
  monitoringAgent,
  removeMonitoringAgent,
  seedKube,
  seedRoles,
} from './kube/seed/index.ts';
import {
  type AccessPolicies,
  createKubeApiServer,
  type KubeApiServer,
} from './kube/server/index.ts';
import { defaultPrinter, printers } from './kube/tables/index.ts';
import { LateSeed } from './late-seed.ts';

/** The initial Kubernetes version of a world, in EKS' form. */
export const worldVersion = {
  gitVersion: 'v1.32.9-eks-113cf36',
  major: '1',
  minor: '32+',
} as const;
export const worldAccount = '111111111111';
export const worldRegion = 'eu-west-1';

export interface WorldOptions {
  readonly seed: number;
  /** Start time of a new world; a stored world continues at its own time. */
  readonly startAt: Micros;
  readonly tables?: Tables;
  readonly audit?: AuditSink;
  /** Reads back the events that `audit` received: CloudWatch's log of the control plane. */
  readonly auditLog?: KeptLog;
  /** Called with every write to the Kubernetes API; cheaper than an audit event. */
  readonly onWrite?: (record: WriteRecord) => void;
  /** False: keeps no CloudTrail records, for simulations that do not read them. */
  readonly trail?: boolean;
  /** False: keeps no managedFields, for simulations that do not read them. */
  readonly managers?: boolean;
  /** False: pods get no volume with their account's token. */
  readonly accountVolumes?: boolean;
  /** Origin of the AWS endpoint, once it is known; queue URLs contain it. */
  readonly endpoint?: () => string;
  readonly clusterAccess?: () => ClusterAccess | undefined;
  /** For test suites of another account or region; default: the world's own. */
  readonly account?: string;
  readonly region?: string;
  /** False: drops core/v1 Events, which large simulations do not read. */
  readonly events?: boolean;
  readonly leases?: 'written' | 'implied';
  /**
   * False: nothing in the world approves kubelets' certificate requests, as outside EKS. Default:
   * true.
   */
  readonly approvesKubelets?: boolean;
}

export interface World {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly kube: KubeApiServer;
  readonly aws: AwsWorld;
  readonly kubelets: Kubelets;
  readonly controllers: KubeControllers;
  /** True if the tables already contained a world. */
  readonly restored: boolean;
}

const inEksForm = (patch: string): string =>
  `v${patch}${worldVersion.gitVersion.slice(worldVersion.gitVersion.indexOf('-'))}`;

/** The cluster's version, if there is a cluster: an update of it appears in `kubectl version`. */
const servedVersion = (aws: AwsWorld) => {
  const patch = aws.kubernetesPatch();
  if (patch === undefined) return worldVersion;
  const [major = '', minor = ''] = patch.split('.');
  return { gitVersion: inEksForm(patch), major, minor: `${minor}+` };
};

/**
 * A node's version depends on its image; an image that EKS did not publish counts as Amazon Linux
 * 2.
 */
const releaseOf = (aws: AwsWorld, imageId: string): NodeRelease | undefined => {
  const facts = aws.imageFacts(imageId);
  if (facts === undefined) return undefined;
  return nodeReleases[facts.system](inEksForm(facts.kubernetesPatch), facts.windowsYear);
};

/**
 * The address of the cluster if no listener exists, for machines that only exist in this process.
 */
const virtualAccess: ClusterAccess = {
  endpoint: 'https://kubernetes.world',
  // Machines check only that it is a certificate authority; no connection verifies it.
  certificateAuthorityData: exampleAuthority,
};

/** The only add-on whose objects are created and deleted with it. */
const changeMonitoringAgent = (
  kube: KubeApiServer,
  region: string,
  addon: {
    readonly name: string;
    readonly version: string;
    readonly isPreserved?: boolean;
    readonly now: 'active' | 'deleted';
  },
): void => {
  const { name, version, isPreserved, now } = addon;
  if (name !== monitoringAgent.name) return;
  if (now === 'active') installMonitoringAgent(kube, { region, version });
  else if (isPreserved !== true) removeMonitoringAgent(kube);
};

/** Builds a world; a restored one resumes its work in progress at the next step. */
export const createWorld = (options: WorldOptions): World => {
  const { seed, startAt, tables, audit, endpoint, clusterAccess, events, onWrite } = options;
  const kernel = new Kernel({ seed, startAt, ...defined({ tables }) });
  const restored = kernel.tables.open('kernel.meta').has('kernel');
  const faults = new Faults(kernel);
  let policiesOf: AccessPolicies = () => [];
  const kube = createKubeApiServer({
    kernel,
    ...defined({
      audit,
      onWrite,
      managers: options.managers,
      accountVolumes: options.accountVolumes,
    }),
    version: () => servedVersion(aws),
    accessPolicies: (user) => policiesOf(user),
    printers,
    defaultPrinter,
  });
  let host: MachineHost | undefined;
  const aws = createAwsWorld({
    kernel,
    faults,
    account: options.account ?? worldAccount,
    region: options.region ?? worldRegion,
    ...defined({ trail: options.trail }),
    host: () => {
      if (host === undefined) throw new Error('machines are used before the world is wired');
      return host;
    },
    ...defined({ endpoint, auditLog: options.auditLog }),
    clusterAccess: clusterAccess ?? (() => virtualAccess),
    kubernetesVersion: worldVersion.gitVersion.slice(1, worldVersion.gitVersion.indexOf('-')),
    whenClusterActive: ({ bringsAddons }) =>
      seedKube({
        kube,
        version: worldVersion.gitVersion,
        region: worldRegion,
        addons: bringsAddons,
      }),
    whenAddon: (addon, now) =>
      changeMonitoringAgent(kube, options.region ?? worldRegion, { ...addon, now }),
  });
  const shared = { kernel, kube, machines: aws.machines, faults };
  const controllers = createKubeControllers({
    ...shared,
    balancers: aws.balancers,
    version: worldVersion.gitVersion,
    approvesKubelets: options.approvesKubelets ?? true,
    ...defined({ events }),
  });
  const kubelets = createKubelets({
    ...shared,
    options: {
      version: worldVersion.gitVersion,
      releaseOf: (imageId) => releaseOf(aws, imageId),
      gate: createJoinGate(kube, aws),
      ...defined({ events, leases: options.leases }),
    },
  });
  host = kubelets;
  policiesOf = (user) => accessPoliciesOf(aws, user);
  aws.onAccessChange(() => kubelets.lookAgain());
  new LateSeed(kernel, kube);
  if (restored) {
    const isSeeded = kube.read({ group: '', resource: 'namespaces' }, { name: 'kube-system' });
    if (isSeeded !== undefined) seedRoles(kube, { addons: false });
    controllers.resume();
    kubelets.resume();
  }
  return { kernel, faults, kube, aws, kubelets, controllers, restored };
};
