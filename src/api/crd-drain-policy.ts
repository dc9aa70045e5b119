// The schema of drain-policy.ts, with the text of `kubectl explain`.
import { count, labelSelector, listOf, object, oneOf, type Schema, text } from './crd-schema.ts';
import type { Words } from './crd-words.ts';
import {
  maxDrainWaitSeconds,
  maxForceIntervalSeconds,
  maxPolicyNames,
  maxTiers,
} from './drain-policy.ts';

const wait: Schema = { ...count, maximum: maxDrainWaitSeconds };

const tiers: Schema = {
  ...listOf(
    object(
      {
        priority: { type: 'integer', format: 'int32' },
        waitSeconds: wait,
      },
      ['priority'],
    ),
    maxTiers,
  ),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['priority'],
};

const names: Schema = {
  ...listOf(text(317), maxPolicyNames),
  'x-kubernetes-list-type': 'set',
};

export const drainPolicy: Schema = object({
  timeoutSeconds: wait,
  onDeadline: oneOf(['force', 'fail']),
  selfMoving: object({
    podSelector: labelSelector,
    requestEverySeconds: { ...count, minimum: 10, maximum: 3600 },
  }),
  doNotEvict: object({ waitSeconds: wait }),
  jobs: object({ waitSeconds: wait }),
  tiers,
  forceIntervalSeconds: { ...count, maximum: maxForceIntervalSeconds },
  loadBalancers: object({ beforeSeconds: wait, afterSeconds: wait }),
  onFailure: oneOf(['terminate', 'retain']),
  lifecycleHooks: names,
  launch: object({ startupTaints: names }),
  lateNodes: object({ withinSeconds: wait }),
  stateChanges: oneOf(['Drain', 'Ignore']),
  zoneShift: object({ zones: names }, ['zones']),
  surge: object({ waitSeconds: wait }),
  volumes: object({ waitSeconds: wait }),
});

const selfMovingWords: Words = {
  podSelector: [
    'Selects further pods of such applications, in every namespace.',
    {
      matchLabels: 'Labels that a pod must have.',
      matchExpressions: [
        'Requirements on the labels of a pod; all must hold.',
        {
          key: 'Key of the label.',
          operator: 'In, NotIn, Exists or DoesNotExist.',
          values: 'Values for In and NotIn.',
        },
      ],
    },
  ],
  requestEverySeconds:
    'Seconds from a refused request to the next one for the same pod; default 60.',
};

const atMostHalf =
  'The wait lasts at most half of the time to the deadline, and ends when a spot interruption or ' +
  'a repair arrives. Default 600; 0 evicts at once.';

export const drainPolicyWords: Words = {
  timeoutSeconds:
    'Seconds from the notice until pods are forced or the drain fails; default 900, as in EKS.',
  onDeadline:
    'What happens at the deadline: force deletes the remaining pods; fail keeps them ' +
    'and reports the failure.',
  selfMoving: [
    'Applications that move their own pods when an eviction is requested, for example operators ' +
      'with a webhook that denies it. Strimzi and KubeVirt are recognized.',
    selfMovingWords,
  ],
  doNotEvict: [
    'Pods with an annotation against eviction: drover.dev/do-not-evict, ' +
      'karpenter.sh/do-not-disrupt, cluster-autoscaler.kubernetes.io/safe-to-evict=false.',
    { waitSeconds: `Seconds that a drain waits for them before it evicts them. ${atMostHalf}` },
  ],
  jobs: [
    'Pods of Jobs, which may complete.',
    { waitSeconds: `Seconds that a drain waits for them before it evicts them. ${atMostHalf}` },
  ],
  tiers: [
    'Evicts pods by priority, lowest tier first. Pods below the first tier belong to it. An empty ' +
      'list evicts all pods together. Default: with --compat eks all together, else system-critical ' +
      'pods last, after at most 300 seconds.',
    {
      priority: 'Lowest priority of the pods in this tier.',
      waitSeconds:
        'The next tier begins when no pod of the tiers before it is left, or when the sum of ' +
        'their waitSeconds or half of the time to the deadline has passed. Absent: half of the ' +
        'time to the deadline, or without a deadline until none is left.',
    },
  ],
  forceIntervalSeconds:
    'Seconds between two forced deletions on a node. Deletions start earlier, so that the last ' +
    'one still meets the deadline, but not before half of the time has passed; then the intervals ' +
    'are shorter. Does not apply to updates with force. Default 0: all at once.',
  loadBalancers: [
    'Waits for the target groups of the cluster in which the instance is a target. Drover does not ' +
      'wait if there are none, or if it may not read them.',
    {
      beforeSeconds:
        'Seconds that the first eviction waits after the cordon, until every target group reports ' +
        'the instance as draining or unused. At most half of the time to the deadline; 5 after a ' +
        'spot notice. Default 15; 0 with --compat eks.',
      afterSeconds:
        'Seconds that the termination waits after the last pod, until every target group has ' +
        'deregistered the instance; ends at the deadline. Default 330, which is more than the ' +
        'default deregistration delay; 0 with --compat eks.',
    },
  ],
  onFailure:
    'What happens to an instance whose drain failed: terminate completes its lifecycle hook with ' +
    'CONTINUE; retain with ABANDON, which keeps the instance where the Auto Scaling group has the ' +
    'retention trigger TerminateHookAbandon=retain. Default terminate.',
  lifecycleHooks:
    'Names of lifecycle hooks of the Auto Scaling group that Drover completes, in addition to ' +
    'Launch-LC-Hook and Terminate-LC-Hook. Drover never completes other hooks.',
  launch: [
    'When the launch hook is completed.',
    {
      startupTaints:
        'Keys of taints that must be removed from the Ready node first. Default: none.',
    },
  ],
  lateNodes: [
    'An instance whose node registers only after the drain of the instance has ended.',
    {
      withinSeconds:
        'A node that registers within this many seconds after that drain is cordoned and drained. ' +
        'Default 1800; 0 ignores such nodes.',
    },
  ],
  stateChanges:
    'Whether an instance that EC2 stops or hibernates is drained: Drain (default) or Ignore.',
  zoneShift: [
    'Keeps nodes out of load balancers and cordons them, and evicts none of their pods.',
    { zones: 'Availability Zones of those nodes. Removing a zone uncordons its nodes.' },
  ],
  surge: [
    'Deployments with the label drover.dev/surge=true are scaled up before their pods are removed; ' +
      'needs drover controller --surge.',
    {
      waitSeconds:
        'Seconds that a drain waits for their replacements before it evicts their pods like ' +
        'others; at most half of the time to the deadline. Default 300; 0 does not scale up.',
    },
  ],
  volumes: [
    'Volumes of pods that have been evicted.',
    {
      waitSeconds:
        'Seconds that a drain waits for VolumeAttachments of the node to be deleted before its ' +
        'lifecycle hook is completed or its instance terminated; ends at the deadline. Default ' +
        '120; 0 does not wait.',
    },
  ],
};
