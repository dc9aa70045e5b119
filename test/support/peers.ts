// The real programs that stories and benchmarks run beside Drover: at which version, where they
// are, and which stories run them. A program is the one that its variable names, else the
// installed one (`npm run peers:install`), else the one in PATH. Never installs anything.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

interface PeerFacts {
  readonly version: string;
  /** Environment variable with the path of the program; takes precedence over the installed one. */
  readonly variable: string;
  /** Files of test/e2e that run it, without `.e2e.ts`. */
  readonly stories: readonly string[];
}

/** Built by Go from the module that test/peers/NAME/go.mod pins. */
interface GoPeer extends PeerFacts {
  readonly kind: 'go';
  readonly package: string;
  /** A directory of the package's module that the program reads; copied beside the program. */
  readonly data?: string;
}

/** Installed by pip into an environment of its own, from test/peers/NAME/requirements.txt. */
interface PipPeer extends PeerFacts {
  readonly kind: 'pip';
}

/** Built by Go from a checkout, since its tags are not versions of a Go module. */
interface SourcePeer extends PeerFacts {
  readonly kind: 'source';
  readonly repository: string;
  readonly commit: string;
  /** Holds the program and its go.mod. */
  readonly directory: string;
  readonly flags: readonly string[];
  /** Names the checkout. */
  readonly source: string;
}

export type Peer = GoPeer | PipPeer | SourcePeer;

export const peers = {
  'aws-node-termination-handler': {
    kind: 'go',
    version: '1.25.6',
    variable: 'NODE_TERMINATION_HANDLER',
    package: 'github.com/aws/aws-node-termination-handler/cmd',
    stories: ['node-termination-handler'],
  },
  'cluster-autoscaler': {
    kind: 'source',
    version: '1.36.1',
    variable: 'CLUSTER_AUTOSCALER',
    repository: 'kubernetes/autoscaler',
    commit: '35e8a280425c76a4040f57ae0fa232a952c02024',
    directory: 'cluster-autoscaler',
    flags: [
      ...['-tags', 'aws'],
      ...[
        '-ldflags',
        '-X k8s.io/autoscaler/cluster-autoscaler/version.ClusterAutoscalerVersion=1.36.1',
      ],
    ],
    source: 'CLUSTER_AUTOSCALER_SOURCE',
    stories: ['cluster-autoscaler'],
  },
  eksctl: {
    kind: 'go',
    version: '0.230.0',
    variable: 'EKSCTL',
    package: 'github.com/weaveworks/eksctl/cmd/eksctl',
    stories: ['eksctl'],
  },
  helm: {
    kind: 'go',
    version: '3.22.0',
    variable: 'HELM',
    package: 'helm.sh/helm/v3/cmd/helm',
    stories: ['charts', 'real-chart'],
  },
  moto_server: {
    kind: 'pip',
    version: '5.2.5',
    variable: 'MOTO_SERVER',
    stories: ['adoption-moto'],
  },
  'node-problem-detector': {
    kind: 'go',
    version: '1.36.0',
    variable: 'NODE_PROBLEM_DETECTOR',
    package: 'k8s.io/node-problem-detector/cmd/nodeproblemdetector',
    data: 'config',
    // It changes this machine's kernel: `node test/peers/agents.ts` runs it, as root, when asked.
    stories: [],
  },
} as const satisfies Readonly<Record<string, Peer>>;

export type PeerName = keyof typeof peers;

/**
 * Outside the repository, so that a clean checkout finds programs that another checkout installed.
 */
export const peersDirectory = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DROVER_PEERS ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'drover-peers');

export const installedPath = (name: PeerName): string => join(peersDirectory(), 'bin', name);

/** The data directory of an installed peer. */
export const dataPath = (name: PeerName): string => join(peersDirectory(), 'data', name);

/** The program to run, whether or not it exists. */
export const peerProgram = (name: PeerName): string => {
  const given = process.env[peers[name].variable] ?? '';
  if (given !== '') return given;
  const installed = installedPath(name);
  return existsSync(installed) ? installed : name;
};

/** Adds to a reason why a peer does not run how to install it. */
export const howToInstall = (name: PeerName, why: string | undefined): string | undefined =>
  why === undefined ? undefined : `${why}: npm run peers:install ${name}`;
