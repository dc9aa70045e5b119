// How long a pod takes to start, become ready and stop. Annotations of the pod say it outright,
// otherwise chance within the bounds stated here. Pure apart from the chance handed in.
import type { Random } from '../../../src/ports/index.ts';
import { type Micros, microsPerMs, microsPerSecond } from '../../kernel/index.ts';
import type { PodView } from '../actors/index.ts';

export const podAnnotations = {
  /** From the kubelet seeing the pod to its containers running. */
  start: 'world.drover.dev/start-seconds',
  /** From running to Ready. */
  ready: 'world.drover.dev/ready-seconds',
  /** From SIGTERM to exit; never longer than the grace. */
  stop: 'world.drover.dev/stop-seconds',
  /** From running to a successful end, for pods that end by themselves. */
  run: 'world.drover.dev/run-seconds',
  /** With which code it ends then: one number, or `1,1,0` by restart. */
  exitCode: 'world.drover.dev/exit-code',
  /** "true": the pod runs but is never Ready. */
  neverReady: 'world.drover.dev/never-ready',
} as const;

/** Retry of a sandbox that got no address: the kubelet's pod worker comes back about this often. */
export const sandboxRetrySeconds = { min: 10, max: 14 } as const;
/** How often a pod that a fault keeps from stopping is looked at again. */
export const stuckCheckMicros = 5 * microsPerSecond;
export const writeRetryMicros = microsPerSecond;
/** The kubelet looks for attachments this often, and says so when two minutes did not do. */
export const volumeCheckMicros = microsPerSecond;
export const mountTimeoutMicros = 123 * microsPerSecond;

/** Bounds in milliseconds. */
const bounds = {
  /** Pause container, network namespace, address. */
  sandbox: { min: 100, max: 300 },
  /** A first pull of a web server's image within a region. */
  pull: { min: 600, max: 1800 },
  /** imagePullPolicy Always with the layers there: one look at the registry. */
  check: { min: 200, max: 500 },
  run: { min: 50, max: 200 },
  /**
   * Layers of Windows Server are gigabytes: article 003 waited about a minute and a half for IIS.
   */
  windowsPull: { min: 80_000, max: 90_000 },
  windowsRun: { min: 4_000, max: 8_000 },
  /** Between the first chance and the probe that succeeds. */
  probe: { min: 50, max: 900 },
  stop: { min: 500, max: 2000 },
} as const;

const within = (random: Random, { min, max }: { min: number; max: number }): Micros =>
  (min + random.below(max - min + 1)) * microsPerMs;

export const annotatedMicros = (
  pod: PodView,
  annotation: (typeof podAnnotations)[keyof typeof podAnnotations],
): Micros | undefined => {
  const text = pod.metadata.annotations?.[annotation];
  const seconds = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.round(seconds * microsPerSecond)
    : undefined;
};

export const sandboxMicros = (pod: PodView, random: Random): Micros => {
  const chance = within(random, bounds.sandbox);
  const asked = annotatedMicros(pod, podAnnotations.start);
  return asked === undefined ? chance : Math.min(chance, Math.floor(asked / 2));
};

/** From the sandbox to running containers. */
export const startMicros = (
  pod: PodView,
  random: Random,
  facts: {
    readonly pull: 'none' | 'check' | 'full';
    readonly spentMicros: Micros;
    readonly system?: 'linux' | 'windows';
  },
): Micros => {
  const asked = annotatedMicros(pod, podAnnotations.start);
  if (asked !== undefined) return Math.max(0, asked - facts.spentMicros);
  const isWindows = facts.system === 'windows';
  const layers = isWindows ? bounds.windowsPull : bounds.pull;
  const pull =
    facts.pull === 'none' ? 0 : within(random, facts.pull === 'full' ? layers : bounds.check);
  return pull + within(random, isWindows ? bounds.windowsRun : bounds.run);
};

/** Undefined: never. */
export const readyMicros = (pod: PodView, random: Random): Micros | undefined => {
  if (pod.metadata.annotations?.[podAnnotations.neverReady] === 'true') return undefined;
  const asked = annotatedMicros(pod, podAnnotations.ready);
  if (asked !== undefined) return asked;
  const delays = pod.spec.containers.flatMap((container) =>
    container.readinessProbe === undefined
      ? []
      : [container.readinessProbe.initialDelaySeconds ?? 0],
  );
  if (delays.length === 0) return 0;
  return Math.max(...delays) * microsPerSecond + within(random, bounds.probe);
};

export const stopMicros = (pod: PodView, random: Random, behaviour: 'normal' | 'slow'): Micros => {
  const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * microsPerSecond;
  if (behaviour === 'slow') return grace;
  const asked = annotatedMicros(pod, podAnnotations.stop) ?? within(random, bounds.stop);
  return Math.min(asked, grace);
};
