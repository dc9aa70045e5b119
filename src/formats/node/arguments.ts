// A kubelet's command line: arguments with their places, known flags, and the effect of repeated
// flags. Never splits a text that the shell or systemd has already split.

import type { Position } from '../position.ts';
import { labelPieces, labelsOf } from './labels.ts';

/** One word of a command line, as passed to the process. */
export interface Placed {
  readonly text: string;
  readonly at: (offset: number) => Position;
  /** Part of the word is unknown until the node runs. */
  readonly isOpaque: boolean;
}

export interface Argument {
  readonly name: string;
  /** Undefined for a flag without a value. */
  readonly value: string | undefined;
  readonly at: Position;
  readonly valueAt: (offset: number) => Position;
  readonly isOpaque: boolean;
}

export interface Arguments {
  readonly flags: readonly Argument[];
  /** Words without a flag: the kubelet exits with `unknown command`. */
  readonly strays: readonly Placed[];
}

/** Boolean flags; any other flag without = takes the next word. */
const truths: ReadonlySet<string> = new Set(
  `anonymous-auth authentication-token-webhook cgroups-per-qos contention-profiling
  cpu-cfs-quota enable-controller-attach-detach enable-debugging-handlers enable-load-reader
  enable-server log-cadvisor-usage
  exit-on-lock-contention experimental-allocatable-ignore-eviction fail-cgroupv1 fail-swap-on help
  kernel-memcg-notification
  local-storage-capacity-isolation make-iptables-util-chains protect-kernel-defaults
  register-node rotate-certificates rotate-server-certificates runonce seccomp-default
  serialize-image-pulls`.split(/\s+/),
);

/** Flags of supported kubelet versions (kubelet reference), values by name. */
const valued: ReadonlySet<string> = new Set(
  `address allowed-unsafe-sysctls authentication-token-webhook-cache-ttl authorization-mode
  authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
  bootstrap-kubeconfig cert-dir cgroup-driver cgroup-root client-ca-file
  cloud-provider cluster-dns cluster-domain config config-dir container-log-max-files
  container-log-max-size container-runtime-endpoint cpu-cfs-quota-period cpu-manager-policy
  cpu-manager-policy-options cpu-manager-reconcile-period enforce-node-allocatable event-burst
  event-qps eviction-hard eviction-max-pod-grace-period eviction-minimum-reclaim
  eviction-pressure-transition-period eviction-soft eviction-soft-grace-period feature-gates
  file-check-frequency hairpin-mode healthz-bind-address healthz-port hostname-override
  http-check-frequency image-credential-provider-bin-dir image-credential-provider-config
  image-gc-high-threshold image-gc-low-threshold image-service-endpoint kube-api-burst
  kube-api-content-type kube-api-qps kube-reserved
  kube-reserved-cgroup kubeconfig kubelet-cgroups lock-file log-flush-frequency
  log-text-info-buffer-size log-text-split-stream logging-format manifest-url
  manifest-url-header max-open-files max-pods maximum-dead-containers
  maximum-dead-containers-per-container memory-manager-policy minimum-container-ttl-duration
  minimum-image-ttl-duration node-ip node-labels node-status-max-images
  node-status-update-frequency oom-score-adj pod-cidr pod-infra-container-image
  pod-manifest-path pod-max-pids pods-per-core port provider-id qos-reserved read-only-port
  register-with-taints registry-burst registry-qps reserved-cpus reserved-memory resolv-conf
  root-dir runtime-cgroups runtime-request-timeout streaming-connection-idle-timeout
  sync-frequency system-cgroups system-reserved system-reserved-cgroup tls-cert-file
  tls-cipher-suites tls-min-version tls-private-key-file topology-manager-policy
  topology-manager-policy-options topology-manager-scope v version vmodule volume-plugin-dir
  volume-stats-agg-period application-metrics-count-limit boot-id-file container-hints
  containerd containerd-namespace event-storage-age-limit event-storage-event-limit
  global-housekeeping-interval housekeeping-interval machine-id-file
  storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password
  storage-driver-secure storage-driver-table storage-driver-user log-json-info-buffer-size
  log-json-split-stream experimental-mounter-path max-housekeeping-interval`.split(/\s+/),
);

/**
 * Flags that a kubelet of that minor and later rejects. Those from 25 on were taken from the
 * kubelet's options of 1.25 to 1.36; older ones from release notes.
 */
export const removedFlags: Readonly<Record<string, { minor: number; instead: string }>> = {
  'container-runtime': { minor: 27, instead: 'leave it out: containerd is the only runtime' },
  'network-plugin': { minor: 24, instead: 'leave it out: the CNI is containerd’s' },
  'cni-bin-dir': { minor: 24, instead: 'set it in containerd’s configuration' },
  'cni-conf-dir': { minor: 24, instead: 'set it in containerd’s configuration' },
  'docker-endpoint': { minor: 24, instead: 'leave it out' },
  'image-pull-progress-deadline': { minor: 24, instead: 'leave it out' },
  'non-masquerade-cidr': { minor: 24, instead: 'leave it out' },
  'dynamic-config-dir': { minor: 24, instead: 'use a drop-in of --config-dir' },
  'pod-infra-container-image': { minor: 35, instead: 'set the sandbox image of containerd' },
  'master-service-namespace': { minor: 27, instead: 'leave it out' },
  'azure-container-registry-config': { minor: 30, instead: 'use an image credential provider' },
  'seccomp-profile-root': { minor: 23, instead: 'leave it out' },
  logtostderr: { minor: 26, instead: 'leave it out: it is the default' },
  'log-dir': { minor: 26, instead: 'redirect in the unit' },
  'log-file': { minor: 26, instead: 'redirect in the unit' },
  alsologtostderr: { minor: 26, instead: 'leave it out' },
  stderrthreshold: { minor: 26, instead: 'leave it out' },
  'register-schedulable': { minor: 34, instead: 'use --register-with-taints' },
  'keep-terminated-pod-volumes': { minor: 31, instead: 'leave it out' },
  'iptables-drop-bit': { minor: 31, instead: 'leave it out: the kubelet makes no such rules' },
  'iptables-masquerade-bit': { minor: 31, instead: 'leave it out' },
  'cloud-config': { minor: 34, instead: 'leave it out: the cloud provider is external' },
};

export const isKnownFlag = (name: string): boolean => truths.has(name) || valued.has(name);
export const flagNames: readonly string[] = [...truths, ...valued];

export const parseArguments = (words: readonly Placed[]): Arguments => {
  const flags: Argument[] = [];
  const strays: Placed[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === undefined) break;
    const match = /^--?([A-Za-z][\w-]*)(=)?/.exec(word.text);
    if (match === null) {
      strays.push(word);
      continue;
    }
    const [before, name = '', equals] = match;
    const next = words[i + 1];
    if (equals !== undefined) {
      const { length } = before;
      flags.push({
        name,
        value: word.text.slice(length),
        at: word.at(0),
        valueAt: (offset) => word.at(length + offset),
        isOpaque: word.isOpaque,
      });
    } else if (!truths.has(name) && next !== undefined && !next.text.startsWith('-')) {
      const isOpaque = word.isOpaque || next.isOpaque;
      flags.push({ name, value: next.text, at: word.at(0), valueAt: next.at, isOpaque });
      i++;
    } else {
      const { isOpaque } = word;
      flags.push({ name, value: undefined, at: word.at(0), valueAt: word.at, isOpaque });
    }
  }
  return { flags, strays };
};

/** The last one wins; undefined when there is none. */
export const lastOf = (flags: readonly Argument[], name: string): Argument | undefined =>
  flags.findLast((flag) => flag.name === name);

export const allOf = (flags: readonly Argument[], name: string): readonly Argument[] =>
  flags.filter((flag) => flag.name === name);

export interface PlacedLabel {
  readonly key: string;
  readonly value: string;
  readonly at: Position;
}

/** Every label of `--node-labels` in order, except labels with unknown values. */
export const placedLabels = (flags: readonly Argument[]): readonly PlacedLabel[] =>
  allOf(flags, 'node-labels')
    .filter(({ isOpaque }) => !isOpaque)
    .flatMap(({ value = '', valueAt }) =>
      labelPieces(value).map(({ key, value: said = '', offset }) => ({
        key,
        value: said,
        at: valueAt(offset),
      })),
    );

/** `--node-labels` may be repeated: the kubelet merges the labels by key. */
export const nodeLabels = (flags: readonly Argument[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...allOf(flags, 'node-labels').map(({ value = '' }) => labelsOf(value)));
