// Informers that only this controller needs, each trimmed to what its decisions read.
import { defined } from '../../api/defined.ts';
import {
  type ObjectMeta,
  type Pod,
  type PodDisruptionBudget,
  resourceTypes,
} from '../../api/kube.ts';
import { terminationStart } from '../../core/drain/index.ts';
import { Informer, type InitialEvents } from '../../runtime/index.ts';
import { slim } from '../informers.ts';
import type { DisruptionDeps } from './deps.ts';

type Base = Pick<DisruptionDeps, 'kube' | 'clock' | 'random' | 'log'>;

const pick = ({ kube, clock, random, log }: Base): Base => ({ kube, clock, random, log });

/** A pod as the drain decisions see it. */
export const trimPod = ({ apiVersion, kind, metadata, spec, status }: Pod): Pod => ({
  apiVersion,
  kind,
  metadata: slim(metadata),
  spec: {
    ...defined({
      nodeName: spec.nodeName,
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
      priorityClassName: spec.priorityClassName,
      priority: spec.priority,
      tolerations: spec.tolerations,
    }),
    ...(spec.volumes === undefined ? {} : { volumes: spec.volumes.flatMap(trimVolume) }),
  },
  status: {
    ...defined({
      phase: status?.phase,
      conditions: status?.conditions,
      startTime: status?.startTime,
    }),
  },
});

type Volume = NonNullable<Pod['spec']['volumes']>[number];

/**
 * Keeps the fields that show which data is lost with the node, and which volumes may be attached to
 * it.
 */
const trimVolume = ({ name, emptyDir, ephemeral, persistentVolumeClaim }: Volume): Volume[] => {
  if (emptyDir !== undefined) return [{ name, emptyDir }];
  if (ephemeral !== undefined) return [{ name, ephemeral: {} }];
  return persistentVolumeClaim === undefined ? [] : [{ name, persistentVolumeClaim }];
};

/** The pods of one node. Never all pods of the cluster. */
export const createNodePodInformer = (
  deps: Base,
  node: string,
  initialEvents: InitialEvents,
): Informer<Pod> =>
  new Informer<Pod>({
    ...pick(deps),
    type: resourceTypes.pods,
    fieldSelector: `spec.nodeName=${node}`,
    project: trimPod,
    initialEvents,
    // The API server stamps a deletion, and the removal that ends it.
    writtenAfter: terminationStart,
  });

export const createBudgetInformer = (deps: Base): Informer<PodDisruptionBudget> =>
  new Informer<PodDisruptionBudget>({
    ...pick(deps),
    type: resourceTypes.poddisruptionbudgets,
    project: ({ apiVersion, kind, metadata, spec, status }) => ({
      apiVersion,
      kind,
      metadata: slim(metadata),
      spec,
      // The disruption controller of Kubernetes writes the status shortly after the budget is
      // created.
      status: status ?? {},
    }),
  });

export interface DaemonSetLike {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/**
 * Watched only to know whether a DaemonSet exists: a pod whose DaemonSet is deleted is drained like
 * any other.
 */
export const createDaemonSetInformer = (deps: Base): Informer<DaemonSetLike> =>
  new Informer<DaemonSetLike>({
    ...pick(deps),
    type: resourceTypes.daemonsets,
    project: ({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata: {
        name: metadata.name,
        ...defined({ namespace: metadata.namespace }),
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        creationTimestamp: metadata.creationTimestamp,
      },
    }),
    indexes: { uid: ({ metadata }) => [metadata.uid] },
  });
