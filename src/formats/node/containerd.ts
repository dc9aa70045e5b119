// containerd's configuration as nodeadm writes it: the image's settings merged with the user's
// document. Keys: amazon-eks-ami, nodeadm/internal/containerd. Never throws.
import type { JsonObject } from '../../api/json.ts';
import { toJson } from '../user-data/located.ts';
import { parseToml, printToml } from '../user-data/toml.ts';
import { has, minorOf, type NodeFacts, nvidiaRuntimeFile, publicPauseImage } from './facts.ts';
import { hasNvidiaGpu } from './instance-types.ts';
import { layered } from './kubelet.ts';
import { runtimeSpecFile } from './runtime-spec.ts';

export interface ContainerdOptions {
  readonly facts: NodeFacts;
  /** The user's documents, already merged. */
  readonly user: JsonObject | undefined;
  readonly usesSoci: boolean;
}

const sandboxOf = (facts: NodeFacts): string =>
  has(facts, 'pause-image') ? 'localhost/kubernetes/pause:latest' : publicPauseImage;
const registry = { config_path: '/etc/containerd/certs.d:/etc/docker/certs.d' };
const cni = { bin_dir: '/opt/cni/bin', conf_dir: '/etc/cni/net.d' };
/** The only runtime and the default; nodeadm uses NVIDIA's if the image has its binary. */
const runtimeOf = (facts: NodeFacts): JsonObject => {
  const isNvidia = facts.hasNvidiaRuntime ?? hasNvidiaGpu(facts.instanceType);
  const name = isNvidia ? 'nvidia' : 'runc';
  return {
    default_runtime_name: name,
    runtimes: {
      [name]: {
        runtime_type: 'io.containerd.runc.v2',
        base_runtime_spec: runtimeSpecFile,
        options: {
          BinaryName: isNvidia ? nvidiaRuntimeFile : '/usr/sbin/runc',
          SystemdCgroup: true,
        },
      },
    },
  };
};
const soci = { snapshotter: 'soci', disable_snapshot_annotations: false };
const common = (version: number): JsonObject => ({
  version,
  root: '/var/lib/containerd',
  state: '/run/containerd',
  grpc: { address: '/run/containerd/containerd.sock' },
});

const version2 = ({ facts, usesSoci }: ContainerdOptions): JsonObject => ({
  ...common(2),
  plugins: {
    'io.containerd.grpc.v1.cri': {
      sandbox_image: sandboxOf(facts),
      enable_cdi: minorOf(facts.kubernetesVersion) >= 32,
      registry,
      cni,
      containerd: {
        ...runtimeOf(facts),
        discard_unpacked_layers: true,
        ...(usesSoci ? soci : {}),
      },
    },
  },
});

const version3 = ({ facts, usesSoci }: ContainerdOptions): JsonObject => ({
  ...common(3),
  plugins: {
    'io.containerd.cri.v1.images': {
      discard_unpacked_layers: true,
      ...(usesSoci ? soci : {}),
      pinned_images: { sandbox: sandboxOf(facts) },
      registry,
    },
    'io.containerd.cri.v1.runtime': {
      enable_cdi: minorOf(facts.kubernetesVersion) >= 32,
      containerd: runtimeOf(facts),
      cni,
    },
  },
});

const namesVersion3 = (user: JsonObject | undefined): boolean =>
  /io\.containerd\.cri\.v1\.(?:images|runtime)/.test(JSON.stringify(user ?? {}));

/** Images with containerd 2 started with Kubernetes 1.33. */
export const containerdMajorOf = (facts: NodeFacts): 1 | 2 =>
  facts.containerdMajor ?? (minorOf(facts.kubernetesVersion) >= 33 ? 2 : 1);

/** The fault with which nodeadm gives up: containerd 1 with names of version 3. */
export const containerdFault = ({ facts, user }: ContainerdOptions): string | undefined =>
  containerdMajorOf(facts) === 1 && namesVersion3(user)
    ? 'containerd.config names plugins of version 3, which containerd 1 does not have: ' +
      'nodeadm ends with "failed to get config template version"'
    : undefined;

export const containerdConfig = (options: ContainerdOptions): string => {
  const { facts, user } = options;
  const isThree = containerdMajorOf(facts) === 2 && (user === undefined || namesVersion3(user));
  const base = isThree ? version3(options) : version2(options);
  const proxy: JsonObject = options.usesSoci
    ? {
        proxy_plugins: {
          soci: {
            type: 'snapshot',
            address: '/run/soci-snapshotter-grpc/soci-snapshotter-grpc.sock',
            exports: { root: '/var/lib/soci-snapshotter-grpc' },
          },
        },
      }
    : {};
  return printToml(layered({ ...base, ...proxy }, user ?? {}));
};

/** The user's text as a document; undefined when it is not TOML. */
export const tomlDocument = (text: string): JsonObject | undefined => {
  const { value, faults } = parseToml(text);
  return faults.length > 0 ? undefined : (toJson(value) as JsonObject);
};
