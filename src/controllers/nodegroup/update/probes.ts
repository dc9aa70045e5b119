// Runs the health probes of an update, each at its own interval. Results are kept in this process;
// failures are in the update's status. Decides nothing.
import { type EpochMs, formatTime, parseTime } from '../../../api/brand.ts';
import type { NodeGroupUpdate } from '../../../api/nodegroup-update.ts';
import type { Probe, ProbeResult } from '../../../api/update-pacing.ts';
import { type Conditioned, conditionComplaint, probedPlace } from '../../../core/update/index.ts';
import { HttpError, KubeError } from '../../../ports/index.ts';
import type { NodeGroupDeps } from '../deps.ts';
import type { PassMemory } from '../pass-input.ts';

const defaultIntervalSeconds = 30;
/** Longest time that a pass waits for all probes together. */
const timeoutMs = 5_000;
const maxMessage = 300;

type Looked = string | undefined;

const lookHttp = async (
  { http }: NodeGroupDeps,
  { url, expectedStatus }: NonNullable<Probe['http']>,
  signal: AbortSignal,
): Promise<Looked> => {
  if (http === undefined) return 'this controller makes no HTTP calls';
  const { status } = await http.get(url, { timeoutMs, signal });
  const isGood =
    expectedStatus === undefined ? status >= 200 && status < 300 : status === expectedStatus;
  return isGood
    ? undefined
    : `${url} answered ${status}, expected ${expectedStatus ?? '200 to 299'}`;
};

const lookCondition = async (
  { kube }: NodeGroupDeps,
  wanted: NonNullable<Probe['condition']>,
  signal: AbortSignal,
): Promise<Looked> => {
  const { resource, where } = probedPlace(wanted);
  const found = await kube.get<Conditioned>(resource, where, { signal });
  return conditionComplaint(wanted, found.kind === 'gone' ? undefined : found.object);
};

const look = async (deps: NodeGroupDeps, probe: Probe, signal: AbortSignal): Promise<Looked> => {
  try {
    const { http, condition } = probe;
    if (http !== undefined) return await lookHttp(deps, http, signal);
    if (condition !== undefined) return await lookCondition(deps, condition, signal);
    return 'it names neither http nor condition';
  } catch (error) {
    if (error instanceof HttpError || error instanceof KubeError) return error.message;
    throw error;
  }
};

const resultOf = ({ name }: Probe, before: number, message: Looked, now: EpochMs): ProbeResult => ({
  name,
  isPassing: message === undefined,
  failures: message === undefined ? 0 : before + 1,
  message: (message ?? '').slice(0, maxMessage),
  at: formatTime(now),
});

/** The last result of each probe; due probes run in parallel. */
export const runProbes = async (
  deps: NodeGroupDeps,
  memory: PassMemory,
  { update, probes }: { readonly update: NodeGroupUpdate; readonly probes: readonly Probe[] },
  signal: AbortSignal,
): Promise<readonly ProbeResult[]> => {
  if (probes.length === 0) return [];
  const { uid } = update.metadata;
  const known = memory.probed?.uid === uid ? memory.probed.results : [];
  const now = deps.clock.now();
  const results = await Promise.all(
    probes.map(async (probe): Promise<ProbeResult> => {
      const last = known.find(({ name }) => name === probe.name);
      const every = (probe.intervalSeconds ?? defaultIntervalSeconds) * 1000;
      const lastAt = parseTime(last?.at);
      if (last !== undefined && lastAt !== undefined && now < lastAt + every) return last;
      // A new process continues the count of the earlier one.
      const journal = update.status?.failingProbes?.find(({ name }) => name === probe.name);
      const before = last?.failures ?? journal?.failures ?? 0;
      return resultOf(probe, before, await look(deps, probe, signal), deps.clock.now());
    }),
  );
  memory.probed = { uid, results };
  return results;
};
