// What a command may use: output, time, and the outside world through ports. Built by main; the
// commands themselves never read env, argv, files or clocks.
import type { AgentReport } from '../api/agent-report.ts';
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import type {
  Clock,
  CloudApi,
  HostApi,
  KubeApi,
  LogInput,
  LogQueries,
  MetadataApi,
  ProvisioningApi,
} from '../ports/index.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  timedOut: 4,
  /** ^C: what was asked for goes on without its watcher. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error that a command tells its user: one message, no stack, and the exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export type OutputFormat = 'table' | 'json' | 'yaml';

/** World control of an embedded world (`/drover/v1`), with its errors turned into CommandError. */
export interface WorldControl {
  status(): Promise<JsonObject>;
  advance(seconds: number): Promise<JsonObject>;
  inject(kind: string, target: Readonly<Record<string, string>>): Promise<JsonObject>;
  clear(kind: string | undefined): Promise<JsonObject>;
  /** Makes what is missing of a VPC and subnets named by id. */
  network(network: JsonObject): Promise<JsonObject>;
  /** What a node or an instance was booted from. */
  node(name: string): Promise<JsonObject>;
  faultKinds(): Promise<JsonObject>;
  down(): Promise<JsonObject>;
}

export interface UpOptions {
  readonly demo: boolean;
  readonly controller: boolean;
  readonly dataDir: string;
  readonly port: number | undefined;
  readonly speed: number | 'max';
  readonly seed: number | undefined;
  /** Its controllers may call webhooks of hooks on this machine. */
  readonly allowLoopbackWebhooks: boolean;
}

export interface ControllerOptions {
  readonly queueUrl: string | undefined;
  readonly compat: 'eks' | 'native';
  readonly leaderElect: boolean;
  readonly approveCertificates: boolean;
  readonly allowLoopbackWebhooks: boolean;
  readonly connection: Connection;
}

export interface AgentOptions {
  readonly node?: string;
  /** A file of the node. */
  readonly rules?: string;
  readonly hostRoot: string;
  readonly recordFile: string;
  /** Events as EKS' own agent reports them. */
  readonly compat: boolean;
  readonly connection: Connection;
}

export interface AgentCheckOptions {
  readonly rules?: string;
  readonly hostRoot: string;
}

export interface AgentBundleOptions {
  readonly node?: string;
  readonly hostRoot: string;
  readonly file?: string;
}

export interface AgentBundleResult {
  readonly path: string;
  readonly bytes: number;
  readonly entries: number;
  /** Sources that do not exist on the node. */
  readonly missing: number;
}

/** What is known of a cluster besides its API. */
export interface ClusterFacts {
  /** True for the embedded world of `drover up`. */
  readonly embedded: boolean;
  /** An embedded world may be ahead of the wall clock. */
  readonly now: EpochMs;
}

/** How a command finds its cluster and its world; all optional, the environment fills the gaps. */
export interface Connection {
  readonly dataDir?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** AWS region, where a command takes one. */
  readonly region?: string;
}

/** A terminal, for what is drawn over and over. */
export interface Screen {
  /** As it is now: windows change their size. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Takes the place of what was drawn before; no lines take it away. */
  readonly draw: (lines: readonly string[]) => void;
}

export interface CliContext {
  /** Control characters are shown as escapes, unless it is `bytes` that a program reads. */
  readonly out: (line: string, form?: 'bytes') => void;
  readonly err: (line: string) => void;
  readonly isTerminal: boolean;
  /** Terminal only: replaces the line that shows progress; '' takes it away. */
  readonly progress: (line: string) => void;
  /** Terminal only. */
  readonly screen: Screen;
  readonly clock: Clock;
  /** Aborts on the first ^C. */
  readonly signal: AbortSignal;
  /** Who runs the command, for NodeDisruption's requestedBy. */
  readonly userName: string;
  readonly kube: (connection: Connection) => Promise<KubeApi>;
  readonly cluster: (connection: Connection) => Promise<ClusterFacts>;
  readonly cloud: (connection: Connection) => Promise<CloudApi>;
  readonly provisioning: (connection: Connection) => Promise<ProvisioningApi>;
  /** Text of a file; `-` is standard input. Throws CommandError naming the file. */
  readonly readFile: (path: string) => Promise<string>;
  /** The same as bytes, for what may be no text. */
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  /** Throws CommandError naming the file. */
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /** The machine of this root: `/` is this one, else a tree that will be one's. */
  readonly host: (root: string) => Promise<HostApi>;
  /** The instance's metadata service, or its stand-in on loopback. Throws CommandError. */
  readonly metadata: (endpoint: string | undefined) => Promise<MetadataApi>;
  /** A log file; `-` is standard input. Throws LogError. */
  readonly openLog: (path: string) => Promise<LogInput>;
  /** The files of the world's audit log, oldest first. Throws CommandError when there is none. */
  readonly auditFiles: (connection: Connection) => Promise<readonly string[]>;
  /** Queries that run in CloudWatch Logs, or in what the environment names instead. */
  readonly logQueries: (connection: Connection) => Promise<LogQueries>;
  readonly world: (connection: Connection) => Promise<WorldControl>;
  /** DIR/env of the world, for `drover env`. */
  readonly environment: (connection: Connection) => Readonly<Record<string, string>>;
  /** Runs the embedded world until it is told to stop. */
  readonly up: (options: UpOptions) => Promise<void>;
  /** Watches the node it runs on until it is told to stop. */
  readonly agent: (options: AgentOptions) => Promise<void>;
  readonly agentCheck: (options: AgentCheckOptions) => Promise<AgentReport>;
  readonly agentBundle: (options: AgentBundleOptions) => Promise<AgentBundleResult>;
  /** Runs the control plane until it is told to stop. */
  readonly controller: (options: ControllerOptions) => Promise<void>;
}
