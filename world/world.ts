// The embedded world as one object: API server, its controllers, machines and AWS on one kernel.
// Only wiring; whoever builds it decides how time passes and where state and audit go.

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

/** The Kubernetes version that a world begins with, in EKS' form. */
export const worldVersion = {
  gitVersion: 'v1.32.9-eks-113cf36',
  major: '1',
  minor: '32+',
} as const;
export const worldAccount = '111111111111';
export const worldRegion = 'eu-west-1';

export interface WorldOptions {
  readonly seed: number;
  /** Start of a new world's time; a stored world goes on where it was. */
  readonly startAt: Micros;
  readonly tables?: Tables;
  readonly audit?: AuditSink;
  /** Where what `audit` was told can be read again: CloudWatch's log of the control plane. */
  readonly auditLog?: KeptLog;
  /** Told of every write to the Kubernetes API, at less cost than an audit event. */
  readonly onWrite?: (record: WriteRecord) => void;
  /** False keeps no CloudTrail records, for simulations that read none. */
  readonly trail?: boolean;
  /** False keeps no managedFields, for simulations that read none. */
  readonly managers?: boolean;
  /** False gives pods no volume with their account's token. */
  readonly accountVolumes?: boolean;
  /** Origin of the AWS endpoint, once it is known: queue URLs carry it. */
  readonly endpoint?: () => string;
  readonly clusterAccess?: () => ClusterAccess | undefined;
  /** For suites that were written for another account or region; default the world's own. */
  readonly account?: string;
  readonly region?: string;
  /** False drops core/v1 Events, which large simulations do not read. */
  readonly events?: boolean;
  readonly leases?: 'written' | 'implied';
  /** False: nobody plays the platform for kubelets' certificate requests. Default true. */
  readonly approvesKubelets?: boolean;
}

export interface World {
  readonly kernel: Kernel;
  readonly faults: Faults;
  readonly kube: KubeApiServer;
  readonly aws: AwsWorld;
  readonly kubelets: Kubelets;
  readonly controllers: KubeControllers;
  /** True when the tables held a world already. */
  readonly restored: boolean;
}

const inEksForm = (patch: string): string =>
  `v${patch}${worldVersion.gitVersion.slice(worldVersion.gitVersion.indexOf('-'))}`;

/** The cluster's version once there is a cluster: its update shows in `kubectl version`. */
const servedVersion = (aws: AwsWorld) => {
  const patch = aws.kubernetesPatch();
  if (patch === undefined) return worldVersion;
  const [major = '', minor = ''] = patch.split('.');
  return { gitVersion: inEksForm(patch), major, minor: `${minor}+` };
};

/** A node's versions follow its image; an image that EKS did not publish runs Amazon Linux 2. */
const releaseOf = (aws: AwsWorld, imageId: string): NodeRelease | undefined => {
  const facts = aws.imageFacts(imageId);
  if (facts === undefined) return undefined;
  return nodeReleases[facts.system](inEksForm(facts.kubernetesPatch), facts.windowsYear);
};

/**
 * Where nobody listens the cluster is reachable all the same, for machines that live in here alone.
 */
const virtualAccess: ClusterAccess = {
  endpoint: 'https://kubernetes.world',
  // Nothing verifies it, nodes only look that it is one.
  certificateAuthorityData: exampleAuthority,
};

/** Of all add-ons this one alone has objects that come and go with it. */
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

/** Builds a world; a restored one takes up its in-flight work at the next step. */
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
