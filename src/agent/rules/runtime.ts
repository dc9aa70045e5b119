// Rules of ContainerRuntimeReady: the kubelet, containerd, systemd units, probes.
import type { HealthRule } from './rule.ts';

const condition = 'ContainerRuntimeReady';
const quietSeconds = 900;

const probeFailures = (kind: 'Readiness' | 'Liveness', word: string): HealthRule => ({
  reason: `${kind}ProbeFailures`,
  condition,
  severity: 'Event',
  lines: [
    {
      source: 'kubelet',
      pattern: `${kind} probe for "(?<container>[^"]*)" failed|"Probe failed" probeType="${kind}"`,
    },
  ],
  threshold: { count: 6, withinSeconds: 5 },
  message: `Exceeded a safe rate of ${word} probe failures`,
  key: kind,
  clearAfterSeconds: quietSeconds,
  text: {
    meaning: `Six ${word} probes failed within five seconds.`,
    remedy: 'Check the pods of the node: overload, or a missing dependency.',
    origin: 'EKS',
    proof: 'written',
    found: Array.from(
      { length: 6 },
      (_, n) => `${kind} probe for "web-${n}_default(uid):web" failed (failure): timeout`,
    ),
    ignored: [`${kind} probe for "web-1_default(uid):web" failed (failure): timeout`],
  },
});

export const runtimeRules: readonly HealthRule[] = [
  {
    reason: 'PodStuckTerminating',
    condition,
    severity: 'Condition',
    lines: [
      {
        source: 'kubelet',
        pattern:
          '"Pod still has one or more containers in the non-exited state and will not be ' +
          'removed from desired state" pod="(?<pod>[^"]*)"',
      },
    ],
    // One bad pod must not make the node and all its other pods unhealthy.
    threshold: { count: 3, withinSeconds: 900, of: 'distinct' },
    message:
      'Pod "{pod}" and others are stuck terminating. Restarting kubelet will result in ' +
      'cleaning up stuck pods',
    key: '{pod}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning:
        'Containers of three different pods could not be stopped: the runtime does not answer.',
      remedy: 'Restart containerd and the kubelet; look for processes in state D.',
      origin: 'EKS',
      proof: 'written',
      found: ['a', 'b', 'c'].map(
        (pod) =>
          '"Pod still has one or more containers in the non-exited state and will not be ' +
          `removed from desired state" pod="default/${pod}"`,
      ),
      ignored: ['a', 'a', 'a'].map(
        (pod) =>
          '"Pod still has one or more containers in the non-exited state and will not be ' +
          `removed from desired state" pod="default/${pod}"`,
      ),
    },
  },
  {
    reason: 'KubeletUnhealthy',
    condition,
    severity: 'Condition',
    check: 'kubelet',
    threshold: { count: 3, withinSeconds: 900 },
    message: 'The kubelet’s health endpoint does not answer as it should: {detail}',
    key: 'kubelet',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Three checks in a row of http://127.0.0.1:10248/healthz found no healthy kubelet.',
      remedy: 'Read `journalctl -u kubelet`; restart the kubelet.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ContainerRuntimeUnhealthy',
    condition,
    severity: 'Condition',
    check: 'containerd',
    threshold: { count: 3, withinSeconds: 900 },
    message: 'containerd does not answer: {detail}',
    key: 'containerd',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Three checks in a row got no answer on containerd’s socket.',
      remedy: 'Read `journalctl -u containerd`; restart containerd.',
      origin: 'node-problem-detector',
      proof: 'fault',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'KubeletFailed',
    condition,
    severity: 'Event',
    lines: [
      {
        source: 'systemd',
        pattern: '^(?:Unit )?kubelet\\.service(?: entered failed state|: Failed with result)',
      },
    ],
    check: 'units',
    message: 'Kubelet has entered a failed state',
    key: 'kubelet',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'systemd stopped restarting the kubelet, or the kubelet ended with an error.',
      remedy: 'Read `journalctl -u kubelet`; a wrong configuration is the usual cause.',
      origin: 'EKS',
      proof: 'written',
      found: [
        'Unit kubelet.service entered failed state.',
        "kubelet.service: Failed with result 'exit-code'.",
      ],
      ignored: ['kubelet.service: Scheduled restart job, restart counter is at 1.'],
    },
  },
  {
    reason: '{unit}RepeatedRestart',
    condition,
    severity: 'Event',
    check: 'units',
    limit: 3,
    message: 'Systemd unit "{unit}" has restarted (NRestarts {before} -> {after})',
    key: '{unit}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'systemd restarted a unit more often than the limit, and again since the last look.',
      remedy: 'Read `journalctl -u UNIT`.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
  {
    reason: 'ServiceFailedToStart',
    condition,
    severity: 'Event',
    lines: [{ source: 'systemd', pattern: '^(?<line>Failed to start (?<unit>.*?)\\.?)$' }],
    message: '{line}',
    key: '{unit}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'systemd could not start a unit.',
      remedy: 'Read `systemctl status UNIT` and `journalctl -u UNIT`.',
      origin: 'EKS',
      proof: 'written',
      found: ['Failed to start containerd.service - containerd container runtime.'],
      ignored: ['Started containerd.service - containerd container runtime.'],
    },
  },
  {
    reason: 'ContainerRuntimeFailed',
    condition,
    severity: 'Event',
    lines: [
      { source: 'kubelet', pattern: 'OCI runtime create failed' },
      { source: 'containerd', pattern: 'OCI runtime create failed' },
    ],
    message: 'OCI runtime create failed',
    key: 'oci',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'The runtime could not create a container.',
      remedy: 'Read the line that follows in `journalctl -u containerd`.',
      origin: 'EKS',
      proof: 'written',
      found: [
        'failed to create containerd task: OCI runtime create failed: runc create failed: ' +
          'unable to start container process',
      ],
      ignored: ['Container runtime initialized'],
    },
  },
  probeFailures('Readiness', 'readiness'),
  probeFailures('Liveness', 'liveness'),
  {
    reason: 'DeprecatedContainerdConfiguration',
    condition,
    severity: 'Event',
    check: 'containerd-deprecations',
    message: '{id}: {detail}',
    key: '{id}',
    clearAfterSeconds: quietSeconds,
    text: {
      meaning: 'Within the last hour, containerd received a request for a deprecated feature.',
      remedy: 'Follow the message: most often an image of an old manifest format.',
      origin: 'EKS',
      proof: 'written',
      found: [],
      ignored: [],
    },
  },
];
