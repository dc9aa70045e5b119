// A kubelet's effective configuration: the base that the image's bootstrap writes, the user's
// drop-in, then flags, later ones winning. Constants: amazon-eks-ami, nodeadm's config.go.
import { isObject, type Json, type JsonObject, objectOr } from '../../api/json.ts';
import type { Taint } from '../../api/kube.ts';
import { type Argument, allOf, lastOf, nodeLabels } from './arguments.ts';
import { evictionHard, kubeReserved } from './capacity.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { pieces, taintOf } from './labels.ts';

export const caFile = '/etc/kubernetes/pki/ca.crt';
const containerdSocket = 'unix:///run/containerd/containerd.sock';
const cipherSuites = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
];

export const typeMeta = {
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
} as const;

export interface BaseConfigFacts {
  readonly clusterDns: readonly string[];
  /** The number that the bootstrap computes, and reserves memory for. */
  readonly maxPods: number;
  readonly writesMaxPods: boolean;
  readonly cpus: number;
  readonly facts: NodeFacts;
}

const authentication: JsonObject = {
  x509: { clientCAFile: caFile },
  webhook: { enabled: true, cacheTTL: '2m0s' },
  anonymous: { enabled: false },
};
const authorization: JsonObject = {
  mode: 'Webhook',
  webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' },
};

const versionToggles = (
  minor: number,
): { readonly gates: JsonObject; readonly more: JsonObject } => ({
  gates: {
    ...(minor >= 33 ? { DynamicResourceAllocation: true } : {}),
    ...(minor >= 34 ? { MutableCSINodeAllocatableCount: true } : {}),
    RotateKubeletServerCertificate: true,
  },
  more: minor >= 34 ? { shutdownGracePeriod: '2m30s', shutdownGracePeriodCriticalPods: '30s' } : {},
});

/** nodeadm's config.json; the script of Amazon Linux 2 writes the same values. */
export const baseConfig = (base: BaseConfigFacts): JsonObject => {
  const { facts, maxPods, cpus } = base;
  const minor = minorOf(facts.kubernetesVersion);
  const { gates, more } = versionToggles(minor);
  return {
    ...typeMeta,
    address: '0.0.0.0',
    authentication,
    authorization,
    cgroupDriver: 'systemd',
    cgroupRoot: '/',
    clusterDNS: [...base.clusterDns],
    clusterDomain: 'cluster.local',
    // Older kubelets have a flag for it instead.
    ...(minor >= 27 ? { containerRuntimeEndpoint: containerdSocket } : {}),
    evictionHard: { ...evictionHard },
    featureGates: gates,
    hairpinMode: 'hairpin-veth',
    kubeReserved: { ...kubeReserved(cpus, maxPods) },
    kubeReservedCgroup: '/runtime',
    logging: { verbosity: 2 },
    ...(base.writesMaxPods ? { maxPods } : {}),
    protectKernelDefaults: true,
    providerID: `aws:///${facts.zone}/${facts.instanceId}`,
    readOnlyPort: 0,
    serializeImagePulls: false,
    serverTLSBootstrap: true,
    ...more,
    systemReservedCgroup: '/system',
    tlsCipherSuites: [...cipherSuites],
  };
};

/** Merges maps by key and replaces lists, as a kubelet merges its drop-ins. */
export const layered = (older: JsonObject, newer: JsonObject): JsonObject => {
  const result: Record<string, Json | undefined> = { ...older };
  for (const [key, value] of Object.entries(newer)) {
    const before = Object.hasOwn(older, key) ? older[key] : undefined;
    const merged = isObject(value) && isObject(before) ? layered(before, value) : value;
    Object.defineProperty(result, key, {
      value: merged,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return result;
};

const pairs = (text: string, separator: '=' | '<'): JsonObject =>
  Object.fromEntries(
    pieces(text).map((piece) => {
      const at = piece.text.indexOf(separator);
      return at < 0 ? [piece.text, ''] : [piece.text.slice(0, at), piece.text.slice(at + 1)];
    }),
  );

type FromFlag = (value: string) => Json;
const number: FromFlag = (value) => (/^-?\d+$/.test(value) ? Number(value) : value);
const truth: FromFlag = (value) => value !== 'false' && value !== '0';
const list: FromFlag = (value) => pieces(value).map((piece) => piece.text);
const text: FromFlag = (value) => value;
const gates: FromFlag = (value) =>
  Object.fromEntries(Object.entries(pairs(value, '=')).map(([key, on]) => [key, on === 'true']));

/** Flags that set a field of the configuration, and how to parse their text. */
const fieldOfFlag: Readonly<Record<string, readonly [field: string, read: FromFlag]>> = {
  'max-pods': ['maxPods', number],
  'pods-per-core': ['podsPerCore', number],
  'pod-max-pids': ['podPidsLimit', number],
  'cluster-dns': ['clusterDNS', list],
  'cluster-domain': ['clusterDomain', text],
  'kube-reserved': ['kubeReserved', (value) => pairs(value, '=')],
  'system-reserved': ['systemReserved', (value) => pairs(value, '=')],
  'kube-reserved-cgroup': ['kubeReservedCgroup', text],
  'system-reserved-cgroup': ['systemReservedCgroup', text],
  'reserved-cpus': ['reservedSystemCPUs', text],
  'eviction-hard': ['evictionHard', (value) => pairs(value, '<')],
  'eviction-soft': ['evictionSoft', (value) => pairs(value, '<')],
  'eviction-soft-grace-period': ['evictionSoftGracePeriod', (value) => pairs(value, '=')],
  'eviction-minimum-reclaim': ['evictionMinimumReclaim', (value) => pairs(value, '=')],
  'feature-gates': ['featureGates', gates],
  'cpu-manager-policy': ['cpuManagerPolicy', text],
  'topology-manager-policy': ['topologyManagerPolicy', text],
  'memory-manager-policy': ['memoryManagerPolicy', text],
  'image-gc-high-threshold': ['imageGCHighThresholdPercent', number],
  'image-gc-low-threshold': ['imageGCLowThresholdPercent', number],
  'container-log-max-size': ['containerLogMaxSize', text],
  'container-log-max-files': ['containerLogMaxFiles', number],
  'event-qps': ['eventRecordQPS', number],
  'event-burst': ['eventBurst', number],
  'kube-api-qps': ['kubeAPIQPS', number],
  'kube-api-burst': ['kubeAPIBurst', number],
  'registry-qps': ['registryPullQPS', number],
  'registry-burst': ['registryBurst', number],
  'serialize-image-pulls': ['serializeImagePulls', truth],
  'protect-kernel-defaults': ['protectKernelDefaults', truth],
  'fail-swap-on': ['failSwapOn', truth],
  'read-only-port': ['readOnlyPort', number],
  'resolv-conf': ['resolvConf', text],
  'allowed-unsafe-sysctls': ['allowedUnsafeSysctls', list],
  'provider-id': ['providerID', text],
  'image-service-endpoint': ['imageServiceEndpoint', text],
  'container-runtime-endpoint': ['containerRuntimeEndpoint', text],
};

/** The field that a flag sets; undefined when it sets none. */
export const fieldOf = (flag: string): string | undefined =>
  Object.hasOwn(fieldOfFlag, flag) ? fieldOfFlag[flag]?.[0] : undefined;

/**
 * Flags override the configuration; a map replaces the map, as in the kubelet, except feature
 * gates.
 */
export const withFlags = (config: JsonObject, flags: readonly Argument[]): JsonObject => {
  const result: Record<string, Json | undefined> = { ...config };
  for (const [name, [field, read]] of Object.entries(fieldOfFlag)) {
    for (const flag of allOf(flags, name)) {
      const value = read(flag.value ?? 'true');
      result[field] =
        field === 'featureGates' && isObject(value)
          ? { ...objectOr(result[field]), ...value }
          : value;
    }
  }
  const taints = taintsOf(flags);
  if (taints.length > 0) {
    const before = Array.isArray(result.registerWithTaints) ? result.registerWithTaints : [];
    result.registerWithTaints = [...before, ...taints.map((taint): JsonObject => ({ ...taint }))];
  }
  return result;
};

/** The valid taints of `--register-with-taints`. */
export const taintsOf = (flags: readonly Argument[]): readonly Taint[] =>
  allOf(flags, 'register-with-taints')
    .flatMap(({ value = '' }) => pieces(value))
    .flatMap((piece) => {
      const taint = taintOf(piece.text);
      return typeof taint === 'string' ? [] : [taint];
    });

/** The valid taints of a configuration's registerWithTaints. */
export const taintsOfConfig = (config: JsonObject): readonly Taint[] =>
  (Array.isArray(config.registerWithTaints) ? config.registerWithTaints : []).flatMap(
    (one: Json) => {
      if (!isObject(one) || typeof one.key !== 'string') return [];
      const { key, value } = one;
      const withValue = typeof value === 'string' && value !== '' ? `=${value}` : '';
      const taint = taintOf(`${key}${withValue}:${String(one.effect)}`);
      return typeof taint === 'string' ? [] : [taint];
    },
  );

export interface KubeletView {
  readonly config: JsonObject;
  readonly dropIn: JsonObject | undefined;
  readonly arguments: readonly string[];
  readonly flags: readonly Argument[];
  readonly effective: JsonObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly maxPods: number;
}

export const defaultKubeletMaxPods = 110;

export const kubeletView = (
  config: JsonObject,
  dropIn: JsonObject | undefined,
  words: readonly string[],
  flags: readonly Argument[],
): KubeletView => {
  const effective = withFlags(dropIn === undefined ? config : layered(config, dropIn), flags);
  const { maxPods } = effective;
  return {
    config,
    dropIn,
    arguments: words,
    flags,
    effective,
    labels: nodeLabels(flags),
    taints: taintsOfConfig(effective),
    maxPods: typeof maxPods === 'number' ? maxPods : defaultKubeletMaxPods,
  };
};

/** The node's name: from the flag, else from its bootstrap. */
export const nodeNameOf = (flags: readonly Argument[], otherwise: string): string =>
  lastOf(flags, 'hostname-override')?.value ?? otherwise;
