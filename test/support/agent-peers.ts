// The agent and node-problem-detector as processes on this machine, each for its own Node in one
// embedded world, so that both observe the same faults at the same time.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createKubeClient,
  type KubeClient,
  loadKubeconfig,
} from '../../src/adapters/kube/index.ts';
import { type KubeObject, type Node, resourceTypes } from '../../src/api/kube.ts';
import { ServedWorld } from './demo-world.ts';
import { sh } from './node-faults.ts';
import { dataPath, peerProgram } from './peers.ts';
import { freePorts } from './processes.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'bin', 'drover.mjs');
/** Clock ticks per second in /proc/PID/stat, on every Linux that Node.js supports. */
const ticksPerSecond = 100;

type Event = KubeObject & {
  readonly reason: string;
  readonly message: string;
  /** Count of a recurring Event. */
  readonly count?: number;
  readonly involvedObject: { readonly name: string };
};

export interface Watcher {
  readonly name: string;
  readonly node: string;
  readonly pid: number;
}

/** Paths of node-problem-detector; undefined: no comparison. */
export interface DetectorPaths {
  readonly program: string;
  /** Its directory `config`. */
  readonly config: string;
}

export const detectorPaths = (env: NodeJS.ProcessEnv): DetectorPaths | undefined => {
  const name = 'node-problem-detector';
  const path = peerProgram(name);
  const config = env.NODE_PROBLEM_DETECTOR_CONFIG ?? dataPath(name);
  return existsSync(path) && existsSync(config) ? { program: path, config } : undefined;
};

export const cpuSeconds = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

export class AgentPeers {
  readonly world: ServedWorld;
  readonly kube: KubeClient;
  readonly watchers: readonly Watcher[];
  readonly #children: readonly ChildProcess[];
  readonly #directory: string;

  static async begin(
    detector: DetectorPaths | undefined,
    options: { readonly isPacked?: boolean } = {},
  ): Promise<AgentPeers> {
    const world = await ServedWorld.start({ args: ['--no-controller', '--port', '0'] });
    const access = await loadKubeconfig({ env: world.env });
    const kube = createKubeClient({ ...access, userAgent: 'drover-peers' });
    const directory = mkdtempSync(join(tmpdir(), 'drover-peers-'));
    const nodes = ['ours', ...(detector === undefined ? [] : ['npd'])];
    for (const name of nodes) await kube.create(resourceTypes.nodes, { metadata: { name } });
    const kubeconfig = String(world.env.KUBECONFIG);
    const path = options.isPacked === true ? packedProgram(directory) : program;
    const ours = startAgent(path, directory, kubeconfig);
    const theirs =
      detector === undefined
        ? undefined
        : await startDetector(detector, access.cluster.server, kubeconfig);
    const watchers = [
      { name: 'drover agent', node: 'ours', pid: ours.pid ?? 0 },
      ...(theirs === undefined
        ? []
        : [{ name: 'node-problem-detector', node: 'npd', pid: theirs.pid ?? 0 }]),
    ];
    const children = theirs === undefined ? [ours] : [ours, theirs];
    return new AgentPeers(world, kube, { watchers, children, directory });
  }

  private constructor(
    world: ServedWorld,
    kube: KubeClient,
    more: {
      readonly watchers: readonly Watcher[];
      readonly children: readonly ChildProcess[];
      readonly directory: string;
    },
  ) {
    this.world = world;
    this.kube = kube;
    this.watchers = more.watchers;
    this.#children = more.children;
    this.#directory = more.directory;
  }

  /**
   * `reason: message xCOUNT` of its Events, and `type=status reason: message` of its conditions.
   */
  async says(node: string): Promise<readonly string[]> {
    const { items } = await this.kube.list<Event>(resourceTypes.events);
    const own = items.filter(({ involvedObject }) => involvedObject.name === node);
    const found = await this.kube.get<Node>(resourceTypes.nodes, { name: node });
    const conditions = found.kind === 'found' ? (found.object.status.conditions ?? []) : [];
    return [
      ...own.map(({ reason, message, count = 1 }) => `${reason}: ${message} x${count}`),
      ...conditions.map(
        ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
      ),
    ];
  }

  async end(): Promise<void> {
    const exits = this.#children.map(
      (child) => new Promise((resolve) => child.once('exit', resolve)),
    );
    for (const child of this.#children) child.kill('SIGTERM');
    await Promise.all(exits);
    await this.kube.close();
    await this.world.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Whether `npm run build` has made the program of a release. */
export const hasRelease = (): boolean => existsSync(join(root, 'lib', 'main', 'drover.js'));

/** Copies the release without sources: bin/drover.mjs would run those of a checkout. */
export const packedProgram = (directory: string): string => {
  const target = join(directory, 'package');
  for (const part of ['bin', 'lib', 'package.json']) {
    cpSync(join(root, part), join(target, part), { recursive: true });
  }
  return join(target, 'bin', 'drover.mjs');
};

const startAgent = (path: string, directory: string, kubeconfig: string): ChildProcess => {
  const record = join(directory, 'record.json');
  // Ignores earlier kernel messages.
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const last = sh('dd if=/dev/kmsg iflag=nonblock bs=8192 2>/dev/null | grep -a ";" | tail -1');
  writeFileSync(record, JSON.stringify({ bootId, sequence: Number(last.split(',')[1]) }));
  const words = ['--node', 'ours', '--record-file', record, '--kubeconfig', kubeconfig];
  return spawn(process.execPath, [path, 'agent', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DROVER_LOG: 'warn' },
  });
};

const startDetector = async (
  { program: path, config }: DetectorPaths,
  server: string,
  kubeconfig: string,
): Promise<ChildProcess> => {
  const monitors = ['kernel-monitor.json', 'readonly-monitor.json'];
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const words = [
    `--apiserver-override=${server}?inClusterConfig=false&auth=${kubeconfig}`,
    '--hostname-override=npd',
    `--config.system-log-monitor=${monitors.map((file) => join(config, file)).join(',')}`,
    '--address=127.0.0.1',
    `--port=${port}`,
    '--prometheus-address=127.0.0.1',
    `--prometheus-port=${metricsPort}`,
  ];
  return spawn(path, words, { stdio: 'ignore' });
};
