// Which files node init writes for user data, and which parts of user data it does not support, so
// that nothing is ignored silently. Decides only.

import { isAddress } from '../../api/addresses.ts';
import {
  type Evaluation,
  find,
  type Located,
  localDisksFile,
  type NodeFile,
  type Problem,
  resolvedFile,
  specInForce,
  textsOf,
} from '../../formats/index.ts';

/** What the image contains besides a kubelet and containerd. */
export interface InitImage {
  /** The units among `servicesLookedFor` that systemd finds and that are not masked. */
  readonly units: ReadonlySet<string>;
}

export const unitDirectories = ['/etc/systemd/system', '/usr/lib/systemd/system'] as const;
const resolvedUnit = 'systemd-resolved.service';
const disksUnit = 'setup-local-disks.service';
/** Units that apply their part of the user data themselves, if the image has them. */
export const servicesLookedFor: readonly string[] = [resolvedUnit, disksUnit];

/** Fields of the NodeConfig that nodeadm supports and node init does not, and why. */
const notDone: readonly {
  readonly path: readonly [string, ...string[]];
  readonly why: string;
  /** With this unit on the image the field is supported. */
  readonly unit?: string;
}[] = [
  {
    path: ['instance', 'localStorage', 'strategy'],
    unit: disksUnit,
    why:
      `instance store volumes are formatted by EKS’ ${disksUnit}, which is not on this image: ` +
      'format and mount them with cloud-init, and leave it out here',
  },
  {
    path: ['instance', 'localStorage', 'mountPath'],
    why: `${disksUnit} takes no other place than its own from here`,
  },
  {
    path: ['instance', 'localStorage', 'disabledMounts'],
    why: `${disksUnit} takes no list of mounts from here`,
  },
  {
    path: ['instance', 'network'],
    unit: resolvedUnit,
    why: `name servers and domains are ${resolvedUnit}’s, which is not on this image: install it`,
  },
  {
    path: ['cluster', 'enableOutpost'],
    why:
      'a local cluster on Outposts needs its addresses in /etc/hosts and a client certificate by ' +
      'aws-iam-authenticator: use EKS’ image there',
  },
];

/** Options of bootstrap.sh beyond the kubelet's and containerd's configuration. */
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
  !(value.kind === 'scalar' && value.value === '') &&
  !(value.kind === 'list' && value.items.length === 0) &&
  !(value.kind === 'map' && value.members.size === 0);

const ofServer = '(?:%[\\w.-]+)?(?:#[\\w.-]+)?$';
const bareServer = new RegExp(`^([^\\s%#[\\]]+)${ofServer}`);
const serverWithPort = new RegExp(`^(?:\\[([^\\]]+)\\]|([\\d.]+)):\\d{1,5}${ofServer}`);

/** As systemd-resolved reads them: an address, optionally with port, interface and server name. */
const isServer = (text: string): boolean => {
  const [, bracketed, plain] = serverWithPort.exec(text) ?? [];
  return isAddress(bracketed ?? plain ?? bareServer.exec(text)?.[1] ?? '');
};

/**
 * The values become words of a line in systemd's INI file: a blank would add a word, a line end
 * another setting.
 */
const networkProblems = (spec: Located): readonly Problem[] =>
  (['nameservers', 'domains'] as const).flatMap((field) =>
    textsOf(find(spec, 'instance', 'network', field)).flatMap(({ text, at }) => {
      const fits = field === 'nameservers' ? isServer(text) : /^~?[A-Za-z0-9._-]+$/.test(text);
      const what = field === 'nameservers' ? 'no address' : 'no domain';
      const message = `spec.instance.network.${field}: ${JSON.stringify(text)} is ${what}`;
      return fits ? [] : [{ rule: 'node init', at, message }];
    }),
  );

const unsupported = ({ bootstrap, data }: Evaluation, { units }: InitImage): readonly Problem[] => {
  const say = (at: Problem['at'], message: string): Problem => ({ rule: 'node init', at, message });
  if (data.family === 'al2023') {
    const spec = specInForce(bootstrap);
    const left = notDone.flatMap(({ path, why, unit }) => {
      const value = find(spec, ...path);
      const isDone = unit !== undefined && units.has(unit);
      return value !== undefined && isSet(value) && !isDone
        ? [say(value.at, `spec.${path.join('.')} is not done here: ${why}`)]
        : [];
    });
    return [...left, ...networkProblems(spec)];
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

/** Why nothing is written; empty when all of the user data is supported. */
export const initProblems = (evaluation: Evaluation, image: InitImage): readonly Problem[] => {
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
      message: `${what} is not in the user data, and is not looked up elsewhere`,
    }));
  return node.obstacles.length > 0
    ? node.obstacles
    : [...unsupported(evaluation, image), ...missing];
};

export const vendorDropIns = '/usr/lib/systemd/system/kubelet.service.d';
const dropIns = '/etc/systemd/system/kubelet.service.d';

/**
 * nodeadm writes this file to /run at every boot. node init runs once, so it writes the file to
 * /etc, which is not cleared at boot.
 */
const lasting = (file: NodeFile): NodeFile =>
  file.path === resolvedFile ? { ...file, path: resolvedFile.replace(/^\/run/, '/etc') } : file;

/** Services besides containerd and the kubelet that must reload their files, in order. */
export const servicesOf = (files: readonly NodeFile[]): readonly string[] => [
  ...(files.some(({ path }) => path === localDisksFile) ? ['setup-local-disks'] : []),
  ...(files.some(({ path }) => path === lasting({ path: resolvedFile, content: '', mode: '' }).path)
    ? ['systemd-resolved']
    : []),
];

/**
 * The node's files and, for each drop-in of the kubelet's package, a file of the same name that
 * replaces it: kubeadm's drop-in would start another kubelet.
 */
export const initFiles = ({ node }: Evaluation, vendor: readonly string[]): readonly NodeFile[] => {
  const own = new Set(node.files.map(({ path }) => path));
  return [
    // nodeadm's kubeconfig is world-readable: it contains a command, not a secret. This one is
    // stricter, because only the kubelet needs it.
    ...node.files
      .map(lasting)
      .map((file) => (/kubeconfig$/.test(file.path) ? { ...file, mode: '0600' } : file)),
    ...vendor
      .filter((name) => name.endsWith('.conf') && !own.has(`${dropIns}/${name}`))
      .map((name) => ({
        path: `${dropIns}/${name}`,
        content: `# In place of the package's ${name}: this kubelet is started by the unit alone.\n`,
        mode: '0644',
      })),
  ];
};
