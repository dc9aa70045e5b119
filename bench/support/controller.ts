// `drover controller` as its own process against a target, and `drover drain` of its nodes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeDisruption } from '../../src/api/disruption.ts';
import { type KubeObject, resourceTypes } from '../../src/api/kube.ts';
import { memoryOf } from './memory.ts';
import { finish } from './processes.ts';
import type { Target } from './targets.ts';
import { each, until } from './workload.ts';

interface Lease extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string };
}

export interface Controller {
  /** Requests of the controller and of `drover drain`. */
  readonly isAgent: (agent: string) => boolean;
  /** Requests of `drover drain` only. */
  readonly isCommand: (agent: string) => boolean;
  /** Resolves when the command reports the nodes drained. */
  readonly drain: (nodes: readonly string[]) => Promise<void>;
  /** Deletes the journal, so that the same nodes can be drained again as if for the first time. */
  readonly forget: () => Promise<void>;
  readonly rssMiB: () => number | undefined;
  readonly peakMiB: () => number | undefined;
  readonly stop: () => Promise<void>;
}

const drover = join(import.meta.dirname, '..', '..', 'bin', 'drover.mjs');
const lease = { namespace: 'kube-system', name: 'drover-controller' };
const keptOfErrors = 2000;
/** From leadership until every informer has its first list. */
const settleMs = 1500;

const isAgent = (agent: string): boolean => /^(drover|vpcLambda)/.test(agent);

const isCommand = (agent: string): boolean => agent.startsWith('drover-cli/');

/** The part of a target that a controller needs. */
type Place = Pick<Target, 'api' | 'env'>;

const forget = async ({ api }: Place): Promise<void> => {
  const { nodedisruptions } = resourceTypes;
  const { items } = await api.list<NodeDisruption>(nodedisruptions);
  await each(items, ({ metadata }) => api.delete(nodedisruptions, metadata));
  await until('the journal is gone', async () => {
    return (await api.list<NodeDisruption>(nodedisruptions)).items.length === 0;
  });
};

/** Starts it and waits until it leads. Throws with its last output when it ends earlier. */
export const startController = async (
  target: Place,
  compat: 'eks' | 'native',
  more: readonly string[] = [],
  { program = drover }: { readonly program?: string } = {},
): Promise<Controller> => {
  const args = [program, 'controller', '--compat', compat, ...more];
  const child = spawn(process.execPath, args, {
    env: target.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-keptOfErrors);
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  try {
    await until('drover controller leads', async () => {
      if (child.exitCode !== null) {
        throw new Error(`drover controller ended with ${child.exitCode}: ${errors}`);
      }
      const found = await target.api.get<Lease>(resourceTypes.leases, lease);
      return found.kind === 'found' && (found.object.spec?.holderIdentity ?? '') !== '';
    });
    await sleep(settleMs);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    isAgent,
    isCommand,
    drain: (nodes) =>
      finish(process.execPath, [drover, 'drain', ...nodes, '--timeout', '10m'], target.env),
    forget: () => forget(target),
    rssMiB: () => memoryOf(child.pid ?? 0)?.rssMiB,
    peakMiB: () => memoryOf(child.pid ?? 0)?.peakMiB,
    stop,
  };
};
