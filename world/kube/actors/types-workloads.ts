// Types of StatefulSets, Jobs, CronJobs and ControllerRevisions as the world's controllers read
// them; see types.ts.
import type { JsonObject } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import type { Cond, Meta, PodTemplate, Selector } from './types.ts';

export type ClaimTemplate = {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: JsonObject;
};

export type StatefulSetStatus = {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
};

export type StatefulSetView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Selector;
    readonly template: PodTemplate;
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly ordinals?: { readonly start?: number };
    readonly volumeClaimTemplates?: readonly ClaimTemplate[];
    readonly persistentVolumeClaimRetentionPolicy?: {
      readonly whenDeleted?: string;
      readonly whenScaled?: string;
    };
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
  };
  readonly status?: StatefulSetStatus;
};

export type ControllerRevisionView = KubeObject & {
  readonly metadata: Meta;
  readonly revision: number;
  readonly data?: JsonObject;
};

export type FailureRule = {
  readonly action: string;
  readonly onExitCodes?: {
    readonly containerName?: string;
    readonly operator: string;
    readonly values: readonly number[];
  };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
};

export type JobView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: string;
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly podReplacementPolicy?: string;
    readonly podFailurePolicy?: { readonly rules: readonly FailureRule[] };
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly active?: number;
    readonly ready?: number;
    readonly terminating?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly completedIndexes?: string;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly Cond[];
  };
};

export type CronJobView = KubeObject & {
  readonly metadata: Meta;
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly concurrencyPolicy?: string;
    readonly suspend?: boolean;
    readonly startingDeadlineSeconds?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: JsonObject;
    };
  };
  readonly status?: {
    readonly active?: readonly { readonly name: string; readonly uid: string }[];
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
  };
};

export const asStatefulSet = (object: KubeObject): StatefulSetView => object as StatefulSetView;
export const asControllerRevision = (object: KubeObject): ControllerRevisionView =>
  object as ControllerRevisionView;
export const asJob = (object: KubeObject): JobView => object as JobView;
export const asCronJob = (object: KubeObject): CronJobView => object as CronJobView;
