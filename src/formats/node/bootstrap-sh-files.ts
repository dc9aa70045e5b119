// The files that /etc/eks/bootstrap.sh writes on Amazon Linux 2, with the kubelet's arguments and
// configuration in them. Behaviour: awslabs/amazon-eks-ami, branch al2, templates/al2/runtime.
// Paths, keys and values are the image's; contents of units are Drover's.
import type { JsonObject } from '../../api/json.ts';
import type { BootstrapCall } from '../user-data/bootstrap-script.ts';
import { printToml } from '../user-data/toml.ts';
import { has, minorOf, type NodeFacts, publicPauseImage } from './facts.ts';
import {
  credentialProvider,
  credentialProviderFile,
  file,
  jsonFile,
  kubeconfig,
  kubeletUnit,
  type NodeFile,
} from './files.ts';
import { caFile } from './kubelet.ts';
import { decodedAuthority } from './nodeadm.ts';

const configFile = '/etc/kubernetes/kubelet/kubelet-config.json';
const kubeconfigFile = '/var/lib/kubelet/kubeconfig';
const unitDirectory = '/etc/systemd/system/kubelet.service.d';

/** From this minor on, containerd is the only runtime. */
const containerdMinor = 24;
const externalCloudMinor = 26;

const pauseImage = (facts: NodeFacts): string =>
  has(facts, 'pause-image')
    ? `602401143452.dkr.ecr.${facts.region}.amazonaws.com/eks/pause:3.5`
    : publicPauseImage;

const usesProvider = (facts: NodeFacts): boolean =>
  minorOf(facts.kubernetesVersion) >= containerdMinor && has(facts, 'credential-provider');

export interface OwnWords {
  /** Arguments in the unit of the image. */
  readonly unit: readonly string[];
  /** Arguments in KUBELET_ARGS, which the script writes. */
  readonly computed: readonly string[];
}

export const ownWords = (facts: NodeFacts, nodeName: string): OwnWords => {
  const minor = minorOf(facts.kubernetesVersion);
  return {
    unit: [
      ...(minor < externalCloudMinor ? ['--cloud-provider aws'] : []),
      `--config ${configFile}`,
      `--kubeconfig ${kubeconfigFile}`,
      ...(minor < containerdMinor ? ['--container-runtime docker', '--network-plugin cni'] : []),
      ...(minor >= containerdMinor && minor < 27 ? ['--container-runtime remote'] : []),
      ...(minor >= containerdMinor
        ? ['--container-runtime-endpoint unix:///run/containerd/containerd.sock']
        : []),
      ...(usesProvider(facts)
        ? [
            `--image-credential-provider-config ${credentialProviderFile}`,
            '--image-credential-provider-bin-dir /etc/eks/image-credential-provider',
          ]
        : []),
    ],
    computed: [
      `--node-ip=${facts.ipv6 ?? facts.privateIp}`,
      // Removed from kubelets of 1.35.
      ...(minor < 35 ? [`--pod-infra-container-image=${pauseImage(facts)}`] : []),
      '--v=2',
      ...(minor >= externalCloudMinor
        ? [`--hostname-override=${nodeName}`, '--cloud-provider=external']
        : []),
    ],
  };
};

/** The image's kubelet-config.json: like nodeadm's, without later additions. */
export const scriptConfig = (
  base: JsonObject,
  minor: number,
  emptiesCgroups: boolean,
): JsonObject => {
  const {
    containerRuntimeEndpoint: _a,
    logging: _b,
    shutdownGracePeriod: _c,
    shutdownGracePeriodCriticalPods: _d,
    kubeReservedCgroup,
    systemReservedCgroup,
    ...rest
  } = base;
  const isDocker = minor < containerdMinor;
  return {
    ...rest,
    featureGates: { RotateKubeletServerCertificate: true },
    ...(isDocker ? { cgroupDriver: 'cgroupfs' } : {}),
    // The script sets neither cgroup when processors are reserved.
    ...(isDocker || emptiesCgroups ? {} : { kubeReservedCgroup, systemReservedCgroup }),
    // Newer kubelets have higher defaults.
    ...(minor >= 22 && minor < 27 ? { kubeAPIQPS: 10, kubeAPIBurst: 20 } : {}),
  };
};

const containerd = (facts: NodeFacts): NodeFile =>
  file(
    '/etc/containerd/config.toml',
    printToml({
      version: 2,
      root: '/var/lib/containerd',
      state: '/run/containerd',
      imports: ['/etc/containerd/config.d/*.toml'],
      grpc: { address: '/run/containerd/containerd.sock' },
      plugins: {
        'io.containerd.grpc.v1.cri': {
          sandbox_image: pauseImage(facts),
          registry: { config_path: '/etc/containerd/certs.d:/etc/docker/certs.d' },
          cni: { bin_dir: '/opt/cni/bin', conf_dir: '/etc/cni/net.d' },
          containerd: {
            default_runtime_name: 'runc',
            discard_unpacked_layers: true,
            runtimes: {
              runc: { runtime_type: 'io.containerd.runc.v2', options: { SystemdCgroup: true } },
            },
          },
        },
      },
    }),
  );

export interface FileFacts {
  readonly facts: NodeFacts;
  readonly own: OwnWords;
  readonly extra: string | undefined;
  readonly config: JsonObject;
  readonly call: BootstrapCall | undefined;
  readonly endpoint: string | undefined;
  readonly authority: string | undefined;
}

/** The two drop-ins of article 002: the script's arguments, then the user's. */
export const filesOf = (one: FileFacts): readonly NodeFile[] => {
  const { facts, own, extra, call, endpoint = '', authority = '' } = one;
  const words = [...own.unit, '$KUBELET_ARGS', '$KUBELET_EXTRA_ARGS'].join(' ');
  const usesContainerd = minorOf(facts.kubernetesVersion) >= containerdMinor;
  return [
    jsonFile(configFile, one.config),
    kubeletUnit(words, undefined),
    file(
      `${unitDirectory}/10-kubelet-args.conf`,
      `[Service]\nEnvironment='KUBELET_ARGS=${own.computed.join(' ')}'\n`,
    ),
    ...(extra === undefined || extra === ''
      ? []
      : [
          file(
            `${unitDirectory}/30-kubelet-extra-args.conf`,
            `[Service]\nEnvironment='KUBELET_EXTRA_ARGS=${extra}'\n`,
          ),
        ]),
    file(
      kubeconfigFile,
      kubeconfig({
        clusterName: call?.clusterName?.text ?? '',
        endpoint,
        region: facts.region,
        authenticator: 'aws-iam-authenticator',
      }),
    ),
    file(caFile, decodedAuthority(authority)),
    ...(usesProvider(facts) ? [credentialProvider(facts)] : []),
    ...(usesContainerd ? [containerd(facts)] : []),
  ];
};
