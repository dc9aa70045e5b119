// The strategy of each kind, by `group/resource`. A kind without one is plain storage: only
// metadata and schema are checked.
import type { Strategy } from '../definition.ts';
import { csrStrategy } from './certificates.ts';
import { namespaceStrategy, nodeStrategy, priorityClassStrategy } from './cluster.ts';
import { definitionStrategy } from './definitions.ts';
import { autoscalerStrategy, jobStrategy } from './jobs.ts';
import {
  budgetStrategy,
  claimStrategy,
  configMapStrategy,
  leaseStrategy,
  secretStrategy,
  storageClassStrategy,
  volumeStrategy,
} from './plain.ts';
import { podStrategy } from './pods.ts';
import { policyBindingStrategy, policyStrategy } from './policies.ts';
import { serviceStrategy } from './services.ts';
import { webhookStrategy } from './webhooks.ts';
import {
  daemonSetStrategy,
  deploymentStrategy,
  replicaSetStrategy,
  statefulSetStrategy,
} from './workloads.ts';

export const strategies: Readonly<Record<string, Strategy>> = {
  '/nodes': nodeStrategy,
  '/pods': podStrategy,
  '/namespaces': namespaceStrategy,
  '/configmaps': configMapStrategy,
  '/secrets': secretStrategy,
  '/services': serviceStrategy,
  '/persistentvolumes': volumeStrategy,
  '/persistentvolumeclaims': claimStrategy,
  'apps/deployments': deploymentStrategy,
  'apps/replicasets': replicaSetStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'apps/statefulsets': statefulSetStrategy,
  'batch/jobs': jobStrategy,
  'autoscaling/horizontalpodautoscalers': autoscalerStrategy,
  'policy/poddisruptionbudgets': budgetStrategy,
  'coordination.k8s.io/leases': leaseStrategy,
  'scheduling.k8s.io/priorityclasses': priorityClassStrategy,
  'storage.k8s.io/storageclasses': storageClassStrategy,
  'apiextensions.k8s.io/customresourcedefinitions': definitionStrategy,
  'certificates.k8s.io/certificatesigningrequests': csrStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicies': policyStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': policyBindingStrategy,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookStrategy,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookStrategy,
};
