// Checks file systems and volumes: mounts that refuse writes, free space of XFS, limits of EBS.
import {
  type EbsLimits,
  ebsLogLength,
  ebsLogPage,
  type Mount,
  parseEbsLimits,
  parseMounts,
} from '../../formats/node-health/index.ts';
import { NodeHostError } from '../../ports/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  listIfThere,
  outputText,
  type Results,
  readIfThere,
  runProgram,
  whyNoOutput,
} from './check.ts';

const onDisk: ReadonlySet<string> = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs']);
/** The node stops working when one of these refuses writes. */
const directories = ['/var/lib/kubelet', '/var/lib/containerd', '/var/log'] as const;

/**
 * One mount of each file system on a disk, from the node’s own mounts, not those of the agent's
 * container.
 */
const fileSystems = async ({ host }: CheckContext): Promise<readonly Mount[]> => {
  const maxBytes = 1024 * 1024;
  const read = (path: string) => host.read(path, { maxBytes }).catch(() => undefined);
  const text = (await read('/proc/1/mountinfo')) ?? (await read('/proc/self/mountinfo')) ?? '';
  const byDevice = new Map<string, Mount>();
  for (const mount of parseMounts(text)) {
    if (onDisk.has(mount.type) && !byDevice.has(mount.device)) byDevice.set(mount.device, mount);
  }
  return [...byDevice.values()];
};

const nameOf = (source: string): string => source.replace(/^\/dev\//, '');

/**
 * Mounted for writing, although the file system is read-only: the kernel disabled writes. `mount -o
 * ro` makes both read-only, a read-only bind mount only the mount. Kernels from 6.16 on report
 * `emergency_ro` and keep `rw`.
 */
const isTurnedReadOnly = ({ options, superOptions }: Mount): boolean =>
  superOptions.includes('emergency_ro') || (options.includes('rw') && superOptions.includes('ro'));

/** A shut down XFS answers every access with an error. */
const isShutDown = async ({ host }: CheckContext, { type, point }: Mount): Promise<boolean> => {
  if (type !== 'xfs') return false;
  try {
    await host.list(point);
    return false;
  } catch (error) {
    if (!(error instanceof NodeHostError)) throw error;
    return error.code === 'failed';
  }
};

export const mounts: Check = {
  name: 'mounts',
  title: 'file systems that accept no writes',
  look: async (context, results) => {
    const found = await fileSystems(context);
    if (found.length === 0) results.lacks(['XfsShutdown'], 'the table of mounts cannot be read');
    const readOnly = new Set<string>();
    for (const mount of found) {
      if (await isShutDown(context, mount)) {
        results.found('XfsShutdown', { device: nameOf(mount.source) });
      } else if (isTurnedReadOnly(mount)) readOnly.add(nameOf(mount.source));
    }
    for (const device of readOnly) results.found('ReadonlyFilesystem', { device });
    results.saw(`${found.length} file systems on disks`);
    for (const directory of directories) {
      const probe = await context.host.tryWrite(directory);
      if (probe === 'not-there') continue;
      results.saw(`${directory} ${probe === 'written' ? 'accepts' : 'does not accept'} writes`);
      if (probe === 'written') continue;
      const detail = `: a file cannot be written in ${directory}`;
      results.found('ReadonlyFilesystem', { device: directory, detail });
    }
  },
};

export const xfs: Check = {
  name: 'xfs',
  title: 'fragmentation of the free space of XFS',
  look: async (context, results) => {
    const reason = 'XFSSmallAverageClusterSize';
    const found = (await fileSystems(context)).filter(
      ({ type, source }) => type === 'xfs' && source.startsWith('/dev/'),
    );
    if (found.length === 0) return results.saw('no XFS');
    for (const { source } of found) {
      const outcome = await runProgram(context, 'xfs_db', ['-r', '-c', 'freesp -s', source]);
      const why = whyNoOutput('xfs_db', outcome);
      if (why !== undefined) {
        results.lacks([reason], why);
        return;
      }
      const size = /average free extent size ([\d.]+)/.exec(outputText(outcome))?.[1];
      if (size === undefined) continue;
      results.saw(`free extents of ${nameOf(source)} have ${size} blocks on average`);
      if (Number(size) < limitOf(context, reason, 16)) {
        results.found(reason, { device: nameOf(source), size });
      }
    }
  },
};

const ebsReasons: Readonly<Record<keyof EbsLimits, string>> = {
  volumeIops: 'EBSVolumeIOPSExceeded',
  volumeThroughput: 'EBSVolumeThroughputExceeded',
  instanceIops: 'EBSInstanceIOPSExceeded',
  instanceThroughput: 'EBSInstanceThroughputExceeded',
};
const ebsFields = Object.keys(ebsReasons) as readonly (keyof EbsLimits)[];

/** Controllers of EBS volumes: `nvme1` and `vol-0abc`. */
const ebsVolumes = async ({
  host,
}: CheckContext): Promise<readonly (readonly [string, string])[]> => {
  const volumes: (readonly [string, string])[] = [];
  for (const name of await listIfThere(host, '/sys/class/nvme')) {
    const model = (await readIfThere(host, `/sys/class/nvme/${name}/model`)) ?? '';
    if (!model.startsWith('Amazon Elastic Block Store')) continue;
    const serial = ((await readIfThere(host, `/sys/class/nvme/${name}/serial`)) ?? '').trim();
    volumes.push([name, serial.replace(/^vol-?/, 'vol-')]);
  }
  return volumes;
};

/** Compares each volume’s counters with those of the previous look. */
export const createEbs = (): Check => {
  const before = new Map<string, EbsLimits>();
  const compare = (context: CheckContext, results: Results, volume: string, now: EbsLimits) => {
    const earlier = before.get(volume);
    before.set(volume, now);
    if (earlier === undefined) return;
    for (const field of ebsFields) {
      const reason = ebsReasons[field];
      const micros = now[field] - earlier[field];
      if (micros <= limitOf(context, reason, 1000) * 1000) continue;
      results.found(reason, { volume, time: `${(micros / 1_000_000).toFixed(1)}s` });
    }
  };
  return {
    name: 'ebs',
    title: 'limits of EBS volumes and of the instance',
    look: async (context, results) => {
      const volumes = await ebsVolumes(context);
      if (volumes.length === 0) return results.saw('no EBS volume');
      for (const [controller, volume] of volumes) {
        const page = `--log-id=${ebsLogPage}`;
        const words = ['get-log', `/dev/${controller}`, page, `--log-len=${ebsLogLength}`];
        const outcome = await runProgram(context, 'nvme', [...words, '--raw-binary']);
        const why = whyNoOutput('nvme', outcome);
        if (why !== undefined) {
          results.lacks(Object.values(ebsReasons), why);
          return;
        }
        const limits = outcome.kind === 'ended' ? parseEbsLimits(outcome.output) : undefined;
        if (limits !== undefined) compare(context, results, volume, limits);
        results.saw(`${volume} ${limits === undefined ? 'counts nothing' : 'read'}`);
      }
    },
  };
};
