// Defaults of apps, batch and autoscaling types, as Kubernetes 1.32 sets them
// (pkg/apis/{apps,batch,autoscaling}/*/defaults.go), feature gates at their defaults.
import type { JsonObject } from '../../../src/api/json.ts';
import {
  type DefaultRule,
  fill,
  forEach,
  isEmptyList,
  isUnset,
  objectAt,
  type RuleEntry,
  within,
} from './default-rule.ts';

const deploymentSpec: DefaultRule = (draft) => {
  fill({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 })(draft);
  within(draft, 'strategy', (strategy) => {
    fill({ type: 'RollingUpdate' })(strategy);
    if (strategy.get('type') !== 'RollingUpdate') return;
    within(strategy, 'rollingUpdate', fill({ maxUnavailable: '25%', maxSurge: '25%' }));
  });
};

const daemonSetSpec: DefaultRule = (draft) => {
  fill({ revisionHistoryLimit: 10 })(draft);
  within(draft, 'updateStrategy', (strategy) => {
    fill({ type: 'RollingUpdate' })(strategy);
    if (strategy.get('type') !== 'RollingUpdate') return;
    within(strategy, 'rollingUpdate', fill({ maxUnavailable: 1, maxSurge: 0 }));
  });
};

const claimTemplate = fill({ apiVersion: 'v1', kind: 'PersistentVolumeClaim' });

const statefulSetSpec: DefaultRule = (draft) => {
  fill({ podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 })(draft);
  within(draft, 'updateStrategy', (strategy) => {
    if (isUnset(strategy.get('type'))) {
      strategy.set('type', 'RollingUpdate');
      fill({ rollingUpdate: {} })(strategy);
    }
    const rolling = strategy.get('type') === 'RollingUpdate';
    if (rolling && !isUnset(strategy.get('rollingUpdate'))) {
      within(strategy, 'rollingUpdate', fill({ partition: 0 }));
    }
  });
  within(
    draft,
    'persistentVolumeClaimRetentionPolicy',
    fill({ whenDeleted: 'Retain', whenScaled: 'Retain' }),
  );
  forEach(draft, 'volumeClaimTemplates', claimTemplate);
};

const MAX_INT32 = 2 ** 31 - 1;

const job: DefaultRule = (draft) => {
  within(draft, 'spec', (spec) => {
    if (isUnset(spec.get('completions')) && isUnset(spec.get('parallelism'))) {
      spec.set('completions', 1);
    }
    const perIndex = !isUnset(spec.get('backoffLimitPerIndex'));
    fill({
      parallelism: 1,
      backoffLimit: perIndex ? MAX_INT32 : 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: isUnset(spec.get('podFailurePolicy'))
        ? 'TerminatingOrFailed'
        : 'Failed',
      manualSelector: false,
    })(spec);
    const metadata = objectAt(spec, 'template').metadata;
    const labels = isUnset(metadata) ? undefined : (metadata as JsonObject).labels;
    const own = objectAt(draft, 'metadata').labels;
    const hasOwn = !isUnset(own) && Object.keys(own as JsonObject).length > 0;
    if (labels === undefined || labels === null || hasOwn) return;
    within(draft, 'metadata', (meta) => meta.set('labels', labels));
  });
};

const ANY_POLICY = { type: 'Percent', value: 100, periodSeconds: 15 };
const UP_RULES = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, ANY_POLICY],
};
const DOWN_RULES = { selectPolicy: 'Max', policies: [ANY_POLICY] };
const CPU_METRIC = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};

const autoscalerSpec: DefaultRule = (draft) => {
  fill({ minReplicas: 1 })(draft);
  if (isEmptyList(draft.get('metrics'))) draft.set('metrics', [CPU_METRIC]);
  if (isUnset(draft.get('behavior'))) return;
  within(draft, 'behavior', (behavior) => {
    within(behavior, 'scaleUp', fill(UP_RULES));
    within(behavior, 'scaleDown', fill(DOWN_RULES));
  });
};

export const workloadRules: readonly RuleEntry[] = [
  ['apps/v1.DeploymentSpec', deploymentSpec],
  ['apps/v1.DaemonSetSpec', daemonSetSpec],
  ['apps/v1.StatefulSetSpec', statefulSetSpec],
  ['apps/v1.ReplicaSetSpec', fill({ replicas: 1 })],
  ['core/v1.ReplicationControllerSpec', fill({ replicas: 1 })],
  ['batch/v1.Job', job],
  [
    'batch/v1.CronJobSpec',
    fill({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  ],
  ['batch/v1.PodFailurePolicyOnPodConditionsPattern', fill({ status: 'True' })],
  ['autoscaling/v2.HorizontalPodAutoscalerSpec', autoscalerSpec],
];
