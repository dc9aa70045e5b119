// The OCI runtime specification that nodeadm gives containerd, merged with the user's document.
// Values: awslabs/amazon-eks-ami, nodeadm/internal/containerd/base-runtime-spec.json. Pure.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { jsonFile, type NodeFile } from './files.ts';
import { layered } from './kubelet.ts';

export const runtimeSpecFile = '/etc/containerd/base-runtime-spec.json';

const capabilities = (
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP ' +
  'SETGID ' +
  'SETPCAP SETUID SYS_CHROOT'
)
  .split(' ')
  .map((name) => `CAP_${name}`);

const mount = (destination: string, type: string, options: string): JsonObject => ({
  destination,
  options: options.split(' '),
  source: type,
  type,
});

const below = (parent: string, names: string): readonly string[] =>
  names.split(' ').map((name) => `${parent}/${name}`);

const base: JsonObject = {
  linux: {
    maskedPaths: [
      ...below(
        '/proc',
        'acpi asound kcore keys latency_stats sched_debug scsi timer_list timer_stats',
      ),
      '/sys/firmware',
    ],
    namespaces: ['ipc', 'mount', 'network', 'pid', 'uts'].map((type) => ({ type })),
    readonlyPaths: [...below('/proc', 'bus fs irq sys sysrq-trigger')],
    resources: { devices: [{ access: 'rwm', allow: false }] },
  },
  mounts: [
    mount('/dev', 'tmpfs', 'nosuid strictatime mode=755 size=65536k'),
    mount('/dev/mqueue', 'mqueue', 'nosuid noexec nodev'),
    mount('/dev/pts', 'devpts', 'nosuid noexec newinstance ptmxmode=0666 mode=0620 gid=5'),
    mount('/proc', 'proc', 'nosuid noexec nodev'),
    mount('/sys', 'sysfs', 'nosuid noexec nodev ro'),
  ],
  ociVersion: '1.1.0',
  process: {
    capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    cwd: '/',
    noNewPrivileges: true,
    rlimits: [{ type: 'RLIMIT_NOFILE', soft: 65_536, hard: 1_048_576 }],
    user: { gid: 0, uid: 0 },
  },
  root: { path: 'rootfs' },
};

/** In the key order of Go's maps. */
const sorted = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, one]) => [key, sorted(one ?? null)]));
};

/**
 * Merges maps by key, replaces lists, keeps null: as for every free-form document of a NodeConfig.
 */
export const runtimeSpec = (user: JsonObject): NodeFile =>
  jsonFile(runtimeSpecFile, sorted(layered(base, user)) as JsonObject);
