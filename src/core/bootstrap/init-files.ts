// Which files node init writes of what user data makes, and what of user data it does not do, so that
// nothing is passed over in silence. Decides only.
import {
  type Evaluation,
  find,
  type Located,
  type NodeFile,
  type Problem,
  specInForce,
} from '../../formats/index.ts';

/** Fields of the NodeConfig that nodeadm acts on and node init does not. */
const notDone = [
  ['instance', 'localStorage'],
  ['instance', 'network'],
  ['containerd', 'baseRuntimeSpec'],
  ['cluster', 'enableOutpost'],
] as const;

/** Options of bootstrap.sh that do more than the kubelet's and containerd's configuration. */
const optionsNotDone: ReadonlySet<string> = new Set([
  'local-disks',
  'containerd-config-file',
  'enable-local-outpost',
  'cluster-id',
  'docker-config-json',
  'enable-docker-bridge',
  'mount-bpf-fs',
]);

const families: Readonly<Record<string, string>> = {
  bottlerocket: 'Bottlerocket reads its settings itself, and keeps its files to itself',
  windows: 'Windows nodes are set up by EKS’ Start-EKSBootstrap.ps1',
  'cloud-init': 'kubeadm takes the kubelet’s configuration from the cluster: run `kubeadm join`',
};

const isSet = (value: Located | undefined): boolean =>
  value !== undefined &&
  !(value.kind === 'scalar' && (value.value === null || value.value === false)) &&
  !(value.kind === 'map' && value.members.size === 0);

const unsupported = ({ bootstrap, data }: Evaluation): readonly Problem[] => {
  const say = (at: Problem['at'], message: string): Problem => ({ rule: 'node init', at, message });
  if (data.family === 'al2023') {
    const spec = specInForce(bootstrap);
    return notDone.flatMap((path) => {
      const value = find(spec, ...path);
      return value !== undefined && isSet(value)
        ? [say(value.at, `spec.${path.join('.')} is not done here`)]
        : [];
    });
  }
  return bootstrap.calls.flatMap((call) => [
    ...[...call.options]
      .filter(([name]) => optionsNotDone.has(name))
      .map(([name, value]) => say(value.at(0), `--${name} is not done here`)),
    ...[...call.options, ...(call.clusterName ? [['cluster name', call.clusterName] as const] : [])]
      .filter(([, value]) => value.isOpaque)
      .map(([name, value]) =>
        say(value.at(0), `the value of ${name} is known only to the script, which is not run here`),
      ),
  ]);
};

/** Why nothing is written; empty: all of the user data is done. */
export const initProblems = (evaluation: Evaluation): readonly Problem[] => {
  const { node, data } = evaluation;
  const refusal = families[data.family];
  if (refusal !== undefined) {
    return [{ rule: 'node init', at: { line: 1, column: 1 }, message: refusal }];
  }
  const missing = [
    ['the cluster’s endpoint', node.cluster.endpoint],
    ['the cluster’s certificate authority', node.cluster.certificateAuthority],
  ]
    .filter(([, value]) => value === undefined || value === '')
    .map(([what]) => ({
      rule: 'node init',
      at: { line: 1, column: 1 },
      message: `${what} is not in the user data, and nobody is asked for it`,
    }));
  return node.obstacles.length > 0 ? node.obstacles : [...unsupported(evaluation), ...missing];
};

export const vendorDropIns = '/usr/lib/systemd/system/kubelet.service.d';
const dropIns = '/etc/systemd/system/kubelet.service.d';

/**
 * The files of the node and, for each drop-in that the kubelet's package brings, one of the same name that
 * takes its place: kubeadm's would start another kubelet than this.
 */
export const initFiles = ({ node }: Evaluation, vendor: readonly string[]): readonly NodeFile[] => {
  const own = new Set(node.files.map(({ path }) => path));
  return [
    ...node.files.map((file) => (/kubeconfig$/.test(file.path) ? { ...file, mode: '0600' } : file)),
    ...vendor
      .filter((name) => name.endsWith('.conf') && !own.has(`${dropIns}/${name}`))
      .map((name) => ({
        path: `${dropIns}/${name}`,
        content: `# In place of the package's ${name}: this kubelet is started by the unit alone.\n`,
        mode: '0644',
      })),
  ];
};
