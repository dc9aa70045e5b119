// What a command may use: output, time, and the outside world through ports. Built by main; the
// commands never read env, argv, files or clocks themselves.
import type { AgentReport } from '../api/agent-report.ts';
import type { EpochMs } from '../api/brand.ts';
import type { JsonObject } from '../api/json.ts';
import type {
  Clock,
  CloudApi,
  HostApi,
  Http,
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
  /** ^C: the request continues without the command. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error for the user of a command: one message, no stack, and the exit code. */
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
  /** Creates the missing parts of a VPC and subnets referenced by id. */
  network(network: JsonObject): Promise<JsonObject>;
  /** What a node or an instance was booted from. */
  node(name: string): Promise<JsonObject>;
  faultKinds(): Promise<JsonObject>;
  /** The link that opens the page. */
  page(): Promise<JsonObject>;
  down(): Promise<JsonObject>;
}

export interface UpOptions {
  readonly demo: boolean;
  readonly controller: boolean;
  readonly dataDir: string;
  readonly port: number | undefined;
  readonly speed: number | 'max';
  readonly seed: number | undefined;
  /** Operators may send requests to updates from the page. */
  readonly pageActions: boolean;
  /** Its controllers may call webhooks of hooks on this machine. */
  readonly allowLoopbackWebhooks: boolean;
}

export interface NotificationOptions {
  /** The Secret that names the receiver. */
  readonly secret: { readonly namespace: string; readonly name: string };
  readonly allowPrivate: boolean;
}

/** Where /metrics and the probes are served. */
export interface ProbeAddress {
  readonly host: string;
  /** 0 = any free port; undefined = nowhere. */
  readonly port: number | undefined;
}

export interface ControllerOptions {
  readonly queueUrl: string | undefined;
  readonly compat: 'eks' | 'native';
  readonly leaderElect: boolean;
  readonly approveCertificates: boolean;
  readonly surge: boolean;
  readonly allowLoopbackWebhooks: boolean;
  /** Absent: no notifications are sent. */
  readonly notifications: NotificationOptions | undefined;
  /** Where the page is served on loopback; absent: nowhere. */
  readonly page: { readonly port: number; readonly actions: boolean } | undefined;
  readonly probes: ProbeAddress;
  readonly connection: Connection;
}

export interface AgentOptions {
  readonly node?: string;
  /** A file on the node. */
  readonly rules?: string;
  readonly hostRoot: string;
  readonly recordFile: string;
  /** Absent: the repair controller's requests for log bundles are not answered. */
  readonly bundleDirectory?: string;
  /** Events as EKS' own agent reports them. */
  readonly compat: boolean;
  readonly probes: ProbeAddress;
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
  /** Number of sources that do not exist on the node. */
  readonly missing: number;
}

/** Facts about a cluster besides its API. */
export interface ClusterFacts {
  /** True for the embedded world of `drover up`. */
  readonly embedded: boolean;
  /** An embedded world may be ahead of the wall clock. */
  readonly now: EpochMs;
}

/** The cluster that a command is about to change, by its kubeconfig. */
export interface ClusterTarget {
  /** Name of the context, or `in-cluster`. */
  readonly context: string;
  /** URL of the API server. */
  readonly server: string;
}

/** How a command finds its cluster and its world; all optional, completed from the environment. */
export interface Connection {
  readonly dataDir?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Allows a cluster and an AWS endpoint of which only one is an embedded world. */
  readonly allowMixedEndpoints?: boolean;
  /** AWS region, for commands that have one. */
  readonly region?: string;
}

/** A terminal, for output that is redrawn. */
export interface Screen {
  /** The current size: windows are resized. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Replaces what the last call drew; an empty list clears it. */
  readonly draw: (lines: readonly string[]) => void;
  /**
   * Calls `listener` for each key: its character, or a name such as `enter`, `up`, `ctrl-c`. ^C is
   * a key then. Returns a function that ends it.
   */
  readonly keys: (listener: (key: string) => void) => () => void;
}

export interface CliContext {
  /** Control characters are escaped, unless the output is `bytes` for a program. */
  readonly out: (line: string, form?: 'bytes') => void;
  readonly err: (line: string) => void;
  readonly isTerminal: boolean;
  /** Terminal only: replaces the progress line; '' removes it. */
  readonly progress: (line: string) => void;
  /** Terminal only. */
  readonly screen: Screen;
  readonly clock: Clock;
  /** Aborts on the first ^C. */
  readonly signal: AbortSignal;
  /** The user of the command, for NodeDisruption's requestedBy. */
  readonly userName: string;
  readonly kube: (connection: Connection) => Promise<KubeApi>;
  readonly cluster: (connection: Connection) => Promise<ClusterFacts>;
  readonly target: (connection: Connection) => Promise<ClusterTarget>;
  readonly cloud: (connection: Connection) => Promise<CloudApi>;
  readonly provisioning: (connection: Connection) => Promise<ProvisioningApi>;
  /** Calls webhooks; `allowLoopback`: also of this machine. */
  readonly http: (options: { readonly allowLoopback: boolean }) => Promise<Http>;
  /** Text of a file; `-` is standard input. Throws CommandError naming the file. */
  readonly readFile: (path: string) => Promise<string>;
  /** The same as bytes, for content that may not be text. */
  readonly readBytes: (path: string) => Promise<Uint8Array>;
  /** Throws CommandError naming the file. */
  readonly writeFile: (path: string, text: string) => Promise<void>;
  /**
   * The machine whose root directory this is: `/` is the running machine, any other path a tree
   * that becomes a machine's root.
   */
  readonly host: (root: string) => Promise<HostApi>;
  /** The instance's metadata service, or its stand-in on loopback. Throws CommandError. */
  readonly metadata: (endpoint: string | undefined) => Promise<MetadataApi>;
  /** A log file; `-` is standard input. Throws LogError. */
  readonly openLog: (path: string) => Promise<LogInput>;
  /** The files of the world's audit log, oldest first. Throws CommandError when there is none. */
  readonly auditFiles: (connection: Connection) => Promise<readonly string[]>;
  /** Queries that run in CloudWatch Logs, or in a replacement that the environment names. */
  readonly logQueries: (connection: Connection) => Promise<LogQueries>;
  /**
   * Ends every open surge once. False where others changed a Deployment meanwhile: call again.
   * Throws KubeError.
   */
  readonly endSurges: (kube: KubeApi, now: EpochMs) => Promise<boolean>;
  readonly world: (connection: Connection) => Promise<WorldControl>;
  /** DIR/env of the world, for `drover env`. */
  readonly environment: (connection: Connection) => Readonly<Record<string, string>>;
  /** Runs the embedded world until it is stopped. */
  readonly up: (options: UpOptions) => Promise<void>;
  /** Watches the node it runs on until it is stopped. */
  readonly agent: (options: AgentOptions) => Promise<void>;
  readonly agentCheck: (options: AgentCheckOptions) => Promise<AgentReport>;
  readonly agentBundle: (options: AgentBundleOptions) => Promise<AgentBundleResult>;
  /** Runs the control plane until it is stopped. */
  readonly controller: (options: ControllerOptions) => Promise<void>;
}
