// Builds the parts of the simulated AWS in the order of their dependencies. Only wiring.

import type { KeptLog } from '../contracts.ts';
import { Engine } from './autoscaling/engine.ts';
import { groupHandlers } from './autoscaling/group-handlers.ts';
import { hookHandlers } from './autoscaling/hook-handlers.ts';
import { instanceHandlers } from './autoscaling/instance-handlers.ts';
import { InstanceRefreshes } from './autoscaling/instance-refresh.ts';
import { refreshHandlers } from './autoscaling/refresh-handlers.ts';
import { standbyHandlers } from './autoscaling/standby-handlers.ts';
import { GroupStore } from './autoscaling/store.ts';
import { tagHandlers } from './autoscaling/tag-handlers.ts';
import { targetGroupHandlers } from './autoscaling/target-handlers.ts';
import type { WarmPools } from './autoscaling/warm-pool.ts';
import { warmPoolHandlers } from './autoscaling/warm-pool-handlers.ts';
import { ServiceCalls } from './calls.ts';
import {
  buildStacks,
  type ChangeSets,
  type StackEngine,
  type StackLookups,
  type Stacks,
  type StackUpdates,
  stackHandlers,
} from './cloudformation/index.ts';
import { accessHandlers } from './ec2/access-handlers.ts';
import { changeHandlers } from './ec2/change-handlers.ts';
import { instanceReadHandlers } from './ec2/describe-instances.ts';
import { catalogueHandlers } from './ec2/describe-network.ts';
import { withDryRun } from './ec2/dry-run.ts';
import { Images } from './ec2/images.ts';
import { requirementHandlers } from './ec2/instance-requirements.ts';
import { Instances } from './ec2/instances.ts';
import { KeyPairs } from './ec2/key-pairs.ts';
import { LaunchTemplates } from './ec2/launch-templates.ts';
import { Network } from './ec2/network.ts';
import { NetworkRecords } from './ec2/network-records.ts';
import { Ec2Notices } from './ec2/notices.ts';
import { ScheduledEvents } from './ec2/scheduled-events.ts';
import { ClassicBalancers } from './elb/classic-balancers.ts';
import { classicHandlers } from './elb/classic-handlers.ts';
import { elbHandlers } from './elb/elb-handlers.ts';
import { LoadBalancers } from './elb/load-balancers.ts';
import { TargetGroups } from './elb/target-groups.ts';
import { LogQueries, logHandlers } from './logs/index.ts';
import { Delivery } from './messaging/delivery.ts';
import { EventBus } from './messaging/event-bus.ts';
import { eventsHandlers } from './messaging/events-handlers.ts';
import { Queues } from './messaging/queues.ts';
import { snsHandlers } from './messaging/sns-handlers.ts';
import { sqsHandlers } from './messaging/sqs-handlers.ts';
import { Topics } from './messaging/topics.ts';
import { AccessEntries } from './platform/access-entries.ts';
import { accessEntryHandlers } from './platform/access-handlers.ts';
import { addonHandlers } from './platform/addon-handlers.ts';
import { clusterHandlers } from './platform/cluster-handlers.ts';
import { clusterUpdateHandlers } from './platform/cluster-updates.ts';
import {
  type AddonListener,
  type ClusterAccess,
  type ClusterRow,
  Clusters,
} from './platform/clusters.ts';
import { iamChangeHandlers } from './platform/iam-handlers.ts';
import { Identity, iamHandlers, stsHandlers } from './platform/identity.ts';
import { parameterHandlers } from './platform/parameters.ts';
import { serviceQuotaHandlers } from './platform/service-quotas.ts';
import { CloudTrail, cloudTrailHandlers } from './records/cloudtrail.ts';
import { Scope, type ScopeOptions, type ServiceHandlers } from './scope.ts';

export interface AwsWorldOptions extends ScopeOptions {
  /** Origin at which clients reach the world, for queue URLs. May become known late. */
  readonly endpoint?: () => string;
  /** May become known late; until then the cluster is CREATING. */
  readonly clusterAccess?: () => ClusterAccess | undefined;
  /** Kubernetes version of the API, e.g. `1.32.9`. */
  readonly kubernetesVersion?: string;
  /** Called when a cluster that a user created becomes active. */
  readonly whenClusterActive?: (cluster: ClusterRow) => void;
  /** Called when an add-on becomes active, also in another version, and when it is deleted. */
  readonly whenAddon?: AddonListener;
  /** The control plane's audit log; without one the log groups are empty. */
  readonly auditLog?: KeptLog;
  /** False: keeps no CloudTrail records. */
  readonly trail?: boolean;
}

/** For a world that keeps no audit events. */
const emptyLog: KeptLog = {
  extent: () => ({ start: 0, end: 0 }),
  read: () => new Uint8Array(),
};

export interface AwsParts {
  readonly scope: Scope;
  readonly network: Network;
  readonly instances: Instances;
  readonly images: Images;
  readonly keyPairs: KeyPairs;
  readonly templates: LaunchTemplates;
  readonly queues: Queues;
  readonly topics: Topics;
  readonly events: EventBus;
  readonly store: GroupStore;
  readonly engine: Engine;
  readonly warmPools: WarmPools;
  readonly refreshes: InstanceRefreshes;
  readonly targets: TargetGroups;
  readonly classic: ClassicBalancers;
  readonly balancers: LoadBalancers;
  readonly notices: Ec2Notices;
  readonly scheduled: ScheduledEvents;
  readonly records: NetworkRecords;
  readonly calls: ServiceCalls;
  readonly stacks: Stacks;
  readonly stackEngine: StackEngine;
  readonly stackUpdates: StackUpdates;
  readonly changeSets: ChangeSets;
  readonly lookups: StackLookups;
  readonly clusters: Clusters;
  readonly entries: AccessEntries;
  readonly identity: Identity;
  readonly trail: CloudTrail;
  readonly auditLog: KeptLog;
  readonly logQueries: LogQueries;
  readonly endpoint: () => string;
  readonly kubernetesVersion: string;
}

export const buildParts = (options: AwsWorldOptions): AwsParts => {
  const scope = new Scope(options);
  const network = new Network(scope);
  const kubernetesVersion = options.kubernetesVersion ?? '1.32.9';
  const images = new Images(scope, kubernetesVersion);
  const instances = new Instances(scope, network, images);
  const keyPairs = new KeyPairs(scope);
  const templates = new LaunchTemplates(scope);
  const queues = new Queues(scope);
  const delivery = new Delivery(scope, queues);
  const topics = new Topics(scope, queues, delivery);
  const events = new EventBus(scope, { queues, topics, delivery });
  const notices = new Ec2Notices(scope, events, instances);
  const scheduled = new ScheduledEvents(scope, events, instances);
  const store = new GroupStore(scope);
  const targets = { queues, topics, delivery, events };
  const targetGroups = new TargetGroups(scope, instances);
  const classic = new ClassicBalancers(scope, instances);
  const launching = { instances, network, templates, targets: targetGroups, classic };
  const engine = new Engine(store, launching, targets);
  notices.onRebalance = (instanceId) => engine.rebalancer.recommended(instanceId);
  const endpoint = options.endpoint ?? (() => `https://sqs.${options.region}.amazonaws.com`);
  const records = new NetworkRecords(scope);
  const ec2 = { scope, network, records, instances, images, keyPairs, templates };
  const identity = new Identity(scope);
  const calls = new ServiceCalls();
  const clusters = new Clusters(scope, options.clusterAccess ?? (() => undefined));
  const auditLog = options.auditLog ?? emptyLog;
  const platform = {
    auditLog,
    logQueries: new LogQueries(scope, auditLog),
    calls,
    ...buildStacks({ scope, calls, network, records, templates, store, identity }),
    clusters,
    entries: new AccessEntries(scope, identity),
    identity,
    trail: new CloudTrail(scope, { isOn: options.trail ?? true }),
  };
  if (options.whenClusterActive !== undefined) {
    platform.clusters.whenActive = options.whenClusterActive;
  }
  if (options.whenAddon !== undefined) clusters.whenAddon = options.whenAddon;
  const messaging = { queues, topics, events };
  const { warmPools } = engine;
  const refreshes = new InstanceRefreshes(store, engine);
  const balancers = new LoadBalancers(scope, { targets: targetGroups, network, clusters });
  const scaling = {
    store,
    engine,
    warmPools,
    refreshes,
    targets: targetGroups,
    classic,
    balancers,
    notices,
    scheduled,
  };
  return { ...ec2, ...platform, ...messaging, ...scaling, endpoint, kubernetesVersion };
};

/** Handlers of every service except EKS node groups, which are Drover's own objects. */
export const serviceHandlers = (parts: AwsParts): Readonly<Record<string, ServiceHandlers>> => ({
  ec2: withDryRun({
    ...instanceReadHandlers(parts),
    ...catalogueHandlers(parts),
    ...requirementHandlers(),
    ...changeHandlers(parts),
    ...accessHandlers(parts),
  }),
  autoscaling: {
    ...groupHandlers(parts),
    ...hookHandlers(parts),
    ...instanceHandlers(parts),
    ...tagHandlers(parts.store),
    ...standbyHandlers(parts),
    ...warmPoolHandlers(parts),
    ...targetGroupHandlers(parts),
    ...refreshHandlers(parts),
  },
  elb: classicHandlers(parts),
  elbv2: elbHandlers(parts),
  sqs: sqsHandlers(parts),
  sns: snsHandlers(parts),
  events: eventsHandlers(parts),
  cloudformation: stackHandlers(parts),
  eks: {
    ...clusterHandlers(parts),
    ...clusterUpdateHandlers(parts),
    ...addonHandlers(parts),
    ...accessEntryHandlers(parts),
  },
  sts: stsHandlers(parts.identity),
  iam: { ...iamHandlers(parts.identity), ...iamChangeHandlers(parts.identity) },
  ssm: parameterHandlers(parts.scope, parts.images),
  'service-quotas': serviceQuotaHandlers(parts.scope, parts.instances),
  logs: logHandlers(parts),
  cloudtrail: cloudTrailHandlers(parts.trail),
});
