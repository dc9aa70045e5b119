// The fence around the ports of a control plane: reads pass; a write is sent only while this
// process leads, and rejects with `NotLeader` otherwise. It checks synchronously, right before each
// call, so a paused leader cannot act on an earlier decision. It decides nothing else.
import type { CloudApi, Http, KubeApi } from '../ports/index.ts';

/** A write of a process that does not lead. It was not sent; the leader makes its own decision. */
export class NotLeader extends Error {
  override readonly name = 'NotLeader';
  constructor() {
    super('another process leads');
  }
}

type Effect = 'read' | 'write';
/** The compiler requires a row for every call of a port. */
type Effects<T> = Readonly<Record<keyof T, Effect>>;

const kubeEffects: Effects<KubeApi> = {
  get: 'read',
  list: 'read',
  watch: 'read',
  create: 'write',
  patch: 'write',
  delete: 'write',
  evict: 'write',
};

const cloudEffects: Effects<CloudApi> = {
  // Receiving a message hides it from the leader.
  receiveMessages: 'write',
  deleteMessage: 'write',
  changeVisibility: 'write',
  describeGroups: 'read',
  describeHooks: 'read',
  installHook: 'write',
  removeHook: 'write',
  completeHook: 'write',
  heartbeatHook: 'write',
  terminateInGroup: 'write',
  describeInstances: 'read',
  time: 'read',
  describeScheduledEvents: 'read',
  describeImpairedInstances: 'read',
  rebootInstance: 'write',
  detachFromGroup: 'write',
  terminateInstance: 'write',
  describeLaunchTemplate: 'read',
  findLaunchTemplate: 'read',
  createLaunchTemplate: 'write',
  addLaunchTemplateVersion: 'write',
  deleteLaunchTemplate: 'write',
  findInstanceProfile: 'read',
  ensureInstanceProfile: 'write',
  deleteInstanceProfile: 'write',
  createGroup: 'write',
  updateGroup: 'write',
  tagGroup: 'write',
  untagGroup: 'write',
  setProcesses: 'write',
  deleteGroup: 'write',
  describeActivities: 'read',
  describeSubnets: 'read',
  describeTargetGroups: 'read',
  describeTargets: 'read',
  describeInstanceTypes: 'read',
  describeImages: 'read',
  findImage: 'read',
  describeCluster: 'read',
  consoleOutput: 'read',
  listStacks: 'read',
  hasKeyPair: 'read',
  findSecurityGroups: 'read',
  createSecurityGroup: 'write',
  allowIngress: 'write',
  deleteSecurityGroup: 'write',
  findAccessEntry: 'read',
  createAccessEntry: 'write',
  deleteAccessEntry: 'write',
};

const httpEffects: Effects<Http> = { get: 'read', post: 'write' };

/** A call that is not in the table counts as a write. */
const fenced = <T extends object>(port: T, effects: Effects<T>, isLeader: () => boolean): T => {
  const reads = new Set<string | symbol>(
    Object.entries(effects).flatMap(([name, effect]) => (effect === 'read' ? [name] : [])),
  );
  return new Proxy(port, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      if (reads.has(name)) return method.bind(target);
      return (...args: readonly unknown[]): unknown =>
        isLeader() ? Reflect.apply(method, target, args) : Promise.reject(new NotLeader());
    },
  });
};

export const fencedKube = (kube: KubeApi, isLeader: () => boolean): KubeApi =>
  fenced(kube, kubeEffects, isLeader);

export const fencedCloud = (cloud: CloudApi, isLeader: () => boolean): CloudApi =>
  fenced(cloud, cloudEffects, isLeader);

export const fencedHttp = (http: Http, isLeader: () => boolean): Http =>
  fenced(http, httpEffects, isLeader);
