// The simulated AWS as one object: handlers of its services, machines for the Kubernetes side,
// direct calls for the simulation. Synchronous and deterministic; no I/O.
import { defined } from '../../src/api/defined.ts';
import {
  type AwsCallContext,
  type AwsCallRecord,
  type AwsCredential,
  AwsError,
  type AwsHandlers,
  type AwsInput,
  type AwsPrincipal,
  notImplemented,
} from '../../src/aws-wire/index.ts';
import type { MachineRegistry, ServiceBalancers } from '../contracts.ts';
import { type GroupRow, tagsOfGroup } from './autoscaling/rows.ts';
import type { AwsCaller } from './calls.ts';
import { withCloudErrors } from './cloud-errors.ts';
import { type DemoFacts, type DemoOptions, seedDemo } from './demo/seed.ts';
import { type ImageFamily, imageFamilies } from './ec2/image-families.ts';
import { hardwareFailure } from './ec2/instances.ts';
import type { ScheduledEventCode } from './ec2/scheduled-events.ts';
import type { ReceivedMessage } from './messaging/queues.ts';
import { queueUrl } from './messaging/sqs-handlers.ts';
import { type AwsParts, type AwsWorldOptions, buildParts, serviceHandlers } from './parts.ts';
import { type AccessAnswer, accessOf } from './platform/access-entries.ts';
import { ensureNetwork, layAccount, type NamedNetwork } from './platform/account.ts';
import { findVersion } from './platform/cluster-versions.ts';
import { type NodeAccess, nodeAccess } from './platform/node-access.ts';
import { type NodeBootstrap, nodeBootstrap } from './platform/node-bootstrap.ts';

export interface ImageFacts {
  readonly system: ImageFamily['system'];
  readonly windowsYear: ImageFamily['year'];
  /** `1.32.9` */
  readonly kubernetesPatch: string;
}

export interface AwsWorld {
  /** By service and operation, for the dispatcher of src/aws-wire. */
  readonly handlers: AwsHandlers;
  readonly machines: MachineRegistry;
  /** Load balancers of Services, for the cloud controller manager. */
  readonly balancers: ServiceBalancers;
  /**
   * Makes one call without HTTP and without the model's validation. Answers immediately:
   * ReceiveMessage does not wait (use `receiveWhenAvailable`). Throws AwsError.
   */
  call(service: string, operation: string, input: AwsInput, ctx?: Partial<AwsCallContext>): unknown;
  /**
   * A long poll in world time; see Queues.receiveWhenAvailable. Returns a function that cancels it.
   */
  receiveWhenAvailable(
    queueName: string,
    request: {
      readonly waitSeconds: number;
      readonly max?: number;
      readonly visibilitySeconds?: number;
      readonly onResult: (messages: readonly ReceivedMessage[]) => void;
    },
  ): () => void;
  queueUrl(name: string): string | undefined;
  /**
   * Connects services of the world to the operations that are answered outside it: stacks create
   * node groups with it. Without it, such calls reach only the world's own services.
   */
  connect(callAws: AwsCaller): void;
  /**
   * Keeps a call as a CloudTrail record, for the dispatcher's `onCall`. `call` records its own
   * calls.
   */
  recordCall(record: AwsCallRecord): void;
  /** Temporary credentials from AssumeRole, for the dispatcher's `authenticate`. */
  sessionCredential(accessKeyId: string): AwsCredential | undefined;
  /** The subnets of instances, for the targets of faults. */
  subnets(): readonly { readonly subnetId: string; readonly zone: string }[];
  /** Auto Scaling groups with the names of their node groups, if tags show them. */
  groups(): readonly { readonly autoScaling: string; readonly nodeGroup?: string }[];
  /** The instance behind a node's name, which is its private DNS name. */
  instanceIdOfNode(nodeName: string): string | undefined;
  /** Adds the cluster and its node groups to an empty account; throws if it is not empty. */
  seedDemo(options: DemoOptions): DemoFacts;
  /** Adds the content of a new account: images, a default VPC, roles, the notice queue. */
  seedAccount(): void;
  /**
   * Creates the VPC and subnets that a configuration names by id, as far as they do not exist.
   * Throws AwsError.
   */
  ensureNetwork(network: NamedNetwork): NamedNetwork;
  /**
   * The full version of the cluster's minor version, e.g. `1.33.5`; undefined without a cluster.
   */
  kubernetesPatch(): string | undefined;
  clusterNames(): readonly string[];
  /** The family and Kubernetes version of an image; undefined for a foreign image. */
  imageFacts(imageId: string): ImageFacts | undefined;
  /** The facts with which the instance joins a cluster. */
  nodeAccess(instanceId: string): NodeAccess | undefined;
  /** The boot input of the instance; undefined if EC2 does not know it. */
  nodeBootstrap(instanceId: string): NodeBootstrap | undefined;
  /**
   * The access that entries give to an ARN without its session; undefined: none, or the cluster's
   * mode does not support entries. `isAlone`: aws-auth is not used.
   */
  accessOf(canonicalArn: string): AccessAnswer;
  /** Called at every change of access entries. */
  onAccessChange(listener: () => void): void;
  /**
   * Sends a spot notice; the instance ends two minutes later. Returns false if it is not running.
   */
  interrupt(instanceId: string): boolean;
  recommendRebalance(instanceId: string): boolean;
  /**
   * EC2 announces an event through AWS Health. Returns false if the instance is not running or
   * already has such an event.
   */
  scheduleEvent(instanceId: string, code: ScheduledEventCode): boolean;
  /** Cancels future events; returns their number. */
  cancelEvents(code?: ScheduledEventCode): number;
  /** Ends the instance without a notice, as when its host fails. */
  kill(instanceId: string): void;
}

/** The creator of article 002's cluster. */
export const cliUser = (account: string): AwsPrincipal => ({
  type: 'IAMUser',
  accountId: account,
  arn: `arn:aws:iam::${account}:user/cli`,
  principalId: 'AIDAYFMQSNSE7DQH72FL7',
  userName: 'cli',
});

/** EKS' service role for node groups, as in article 004's record. */
export const nodegroupService = (
  account: string,
): Pick<AwsCallContext, 'principal' | 'accessKeyId' | 'userAgent' | 'sourceIp'> => ({
  principal: {
    type: 'AssumedRole',
    accountId: account,
    arn: `arn:aws:sts::${account}:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS`,
    principalId: 'AROAR5DGWODCNOJPW6PDC:EKS',
  },
  accessKeyId: 'ASIAR5DGWODCA5XSK7QN',
  userAgent: 'eks-nodegroup.amazonaws.com',
  sourceIp: 'eks-nodegroup.amazonaws.com',
});

export const createAwsWorld = (options: AwsWorldOptions): AwsWorld => worldOf(buildParts(options));

export const worldOf = (parts: AwsParts): AwsWorld => {
  const plain = serviceHandlers(parts);
  const handlers = withCloudErrors(parts.scope, plain);
  // Services retry calls to each other, so call faults apply to external callers only.
  parts.calls.bind((call) => callDirectly(parts, plain, { ...call, ctx: stackCaller }));
  return {
    handlers,
    machines: machineRegistry(parts),
    balancers: parts.balancers,
    call: (service, operation, input, ctx) =>
      callDirectly(parts, handlers, { service, operation, input, ctx }),
    receiveWhenAvailable: (queueName, request) =>
      parts.queues.receiveWhenAvailable(queueName, { max: 10, ...request }),
    queueUrl: (name) => {
      const queue = parts.queues.get(name);
      return queue && queueUrl(parts, queue);
    },
    connect: (callAws) => parts.calls.connect(callAws),
    recordCall: (record) => parts.trail.record(record),
    sessionCredential: (accessKeyId) => parts.identity.credential(accessKeyId),
    subnets: () => [...parts.network.subnets()].map(({ subnetId, zone }) => ({ subnetId, zone })),
    groups: () => parts.store.groups().map(namesOfGroup),
    instanceIdOfNode: (nodeName) => instanceIdOfNode(parts, nodeName),
    seedDemo: (options) => seedDemo(parts, options),
    seedAccount: () => layAccount(parts, parts.kubernetesVersion),
    ensureNetwork: (network) => {
      const { vpc, subnets } = ensureNetwork(parts, network);
      return { vpcId: vpc.vpcId, cidr: vpc.cidr, subnets };
    },
    kubernetesPatch: () => findVersion(parts.clusters.all()[0]?.version ?? '')?.patch,
    clusterNames: () => parts.clusters.all().map((row) => row.name),
    imageFacts: (imageId) => imageFacts(parts, imageId),
    nodeAccess: (instanceId) => nodeAccess(parts, instanceId),
    nodeBootstrap: (instanceId) => nodeBootstrap(parts, instanceId),
    accessOf: (canonicalArn) => accessOf(parts, canonicalArn),
    onAccessChange: (listener) => parts.entries.onChange(listener),
    interrupt: (instanceId) => parts.notices.interrupt(instanceId),
    recommendRebalance: (instanceId) => parts.notices.recommendRebalance(instanceId),
    scheduleEvent: (instanceId, code) => parts.scheduled.schedule(instanceId, code),
    cancelEvents: (code) => parts.scheduled.cancel(code),
    kill: (instanceId) => parts.instances.terminate(instanceId, hardwareFailure),
  };
};

/** CloudTrail records a stack's calls under the user's name, from this service. */
const stackService = 'cloudformation.amazonaws.com';
const stackCaller = { userAgent: stackService, sourceIp: stackService };

const imageFacts = ({ images }: AwsParts, imageId: string): ImageFacts | undefined => {
  const image = images.get(imageId);
  const family = imageFamilies.find((one) => one.amiType === image?.family);
  if (image === undefined || family === undefined) return undefined;
  const kubernetesPatch = image.releaseVersion.split('-')[0] ?? '';
  return { system: family.system, windowsYear: family.year, kubernetesPatch };
};

const namesOfGroup = (group: GroupRow): ReturnType<AwsWorld['groups']>[number] => {
  const tags = tagsOfGroup(group);
  const nodeGroup = tags['eks:nodegroup-name'] ?? tags['alpha.eksctl.io/nodegroup-name'];
  return { autoScaling: group.name, ...defined({ nodeGroup }) };
};

const machineRegistry = ({ instances, network }: AwsParts): MachineRegistry => ({
  instanceState: (instanceId) => instances.get(instanceId)?.state ?? 'unknown',
  allocatePodAddress: (instanceId) => instances.allocatePodAddress(instanceId),
  releasePodAddress: (instanceId, address) => network.release(instanceId, address),
});

/** Addresses are reused: of several instances with that name, the running one counts. */
const instanceIdOfNode = ({ instances }: AwsParts, nodeName: string): string | undefined => {
  const named = [...instances.all()].filter((row) => row.privateDnsName === nodeName);
  return (named.find((row) => row.state !== 'terminated') ?? named.at(-1))?.instanceId;
};

const callDirectly = (
  { scope, trail }: AwsParts,
  handlers: AwsHandlers,
  call: {
    readonly service: string;
    readonly operation: string;
    readonly input: AwsInput;
    readonly ctx: Partial<AwsCallContext> | undefined;
  },
): unknown => {
  const { service, operation, input } = call;
  const handler = handlers[service]?.[operation];
  if (handler === undefined) throw notImplemented(`The operation ${service}:${operation}`);
  const ctx: AwsCallContext = {
    region: scope.region,
    requestId: scope.uuid('aws.requests'),
    principal: cliUser(scope.account),
    accessKeyId: 'AKIAYFMQSNSE5H5ZTJDE',
    userAgent: 'drover',
    sourceIp: '127.0.0.1',
    ...call.ctx,
    service,
    operation,
  };
  const isReceive = service === 'sqs' && operation === 'ReceiveMessage';
  const record = { time: scope.now(), service, operation, input, ctx };
  try {
    const output = handler(isReceive ? { ...input, WaitTimeSeconds: 0 } : input, ctx);
    trail.record({ ...record, output });
    return output;
  } catch (error) {
    if (error instanceof AwsError) {
      const { code, message, httpStatus = 400 } = error;
      trail.record({ ...record, error: { code, message, httpStatus } });
    }
    throw error;
  }
};
