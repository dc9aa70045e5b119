// How long a pod takes to start, become ready and stop: set by its annotations, otherwise random
// within the bounds below. Pure apart from the random source passed in.
import type { Random } from '../../../src/ports/index.ts';
import { type Micros, microsPerMs, microsPerSecond } from '../../kernel/index.ts';
import type { PodView } from '../actors/index.ts';

export const podAnnotations = {
  /** From the kubelet's first sight of the pod to running containers. */
  start: 'world.drover.dev/start-seconds',
  /** From running to Ready. */
  ready: 'world.drover.dev/ready-seconds',
  /** From SIGTERM to exit; at most the grace period. */
  stop: 'world.drover.dev/stop-seconds',
  /** From running to successful completion, for pods that end by themselves. */
  run: 'world.drover.dev/run-seconds',
  /** Exit code at completion: one number, or `1,1,0` by restart. */
  exitCode: 'world.drover.dev/exit-code',
  /** "true": the pod runs but is never Ready. */
  neverReady: 'world.drover.dev/never-ready',
} as const;

/** Retry interval of a sandbox without an address, about that of the kubelet's pod worker. */
export const sandboxRetrySeconds = { min: 10, max: 14 } as const;
/** How often a pod that a fault keeps from stopping is checked again. */
export const stuckCheckMicros = 5 * microsPerSecond;
export const writeRetryMicros = microsPerSecond;
/** How often the kubelet checks attachments; it records an event after two minutes. */
export const volumeCheckMicros = microsPerSecond;
export const mountTimeoutMicros = 123 * microsPerSecond;

/** Bounds in milliseconds. */
const bounds = {
  /** Pause container, network namespace, address. */
  sandbox: { min: 100, max: 300 },
  /** A first pull of a web server's image within a region. */
  pull: { min: 600, max: 1800 },
  /** imagePullPolicy Always with cached layers: one registry check. */
  check: { min: 200, max: 500 },
  run: { min: 50, max: 200 },
  /** Layers of Windows Server are gigabytes: article 003 waited about 90 s for IIS. */
  windowsPull: { min: 80_000, max: 90_000 },
  windowsRun: { min: 4_000, max: 8_000 },
  /** Between the first possible and the first successful probe. */
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

/** Undefined: never ready. */
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
