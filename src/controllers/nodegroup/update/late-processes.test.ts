// Processes suspended after their update has ended: when that counts as a late call, by term and
// time.
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../../api/brand.ts';
import type { ScalingGroup } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import type { NodeGroupUpdateStatus } from '../../../api/nodegroup-update.ts';
import { lateSuspension } from '../../../core/group-plan/index.ts';
import { type LateMemory, resumeLate } from './late-processes.ts';

const { signal } = new AbortController();
const ended = epochMs(1_700_000_000_000);
const group = { metadata: { name: 'ng', uid: 'g' } } as unknown as NodeGroup;

const anUpdate = (name: string, status: Partial<NodeGroupUpdateStatus>, createdAfterMs = 0) => ({
  metadata: {
    name,
    uid: name,
    creationTimestamp: formatTime(epochMs(ended - 600_000 + createdAfterMs)),
  },
  spec: { nodeGroup: 'ng' },
  status: { status: 'Cancelled', endedAt: formatTime(ended), ...status },
});
const suspending = anUpdate('u1', { suspends: ['AZRebalance'], suspendedIn: 1 });

interface Look {
  readonly afterMs?: number;
  readonly epoch?: number;
  readonly updates?: readonly object[];
  readonly suspended?: readonly string[];
  readonly memory?: LateMemory;
}

/** The processes that one pass resumes, and its events. */
const lookAt = async ({
  afterMs = 60_000,
  epoch = 2,
  updates = [suspending],
  suspended = ['AZRebalance'],
  memory = {},
}: Look) => {
  const resumed: string[] = [];
  const told: string[] = [];
  const deps = {
    clock: { now: () => epochMs(ended + afterMs) },
    cloud: {
      setProcesses: async (call: { readonly processes: readonly string[] }) => {
        resumed.push(...call.processes);
      },
    },
    kube: {
      create: async (_: unknown, event: { readonly reason: string }) => {
        told.push(event.reason);
      },
    },
  } as unknown as Parameters<typeof resumeLate>[0];
  const scaling = { name: 'asg', suspendedProcesses: suspended } as unknown as ScalingGroup;
  const now = epochMs(ended + afterMs);
  const { resumedFor } = memory;
  const facts = { updates, group, scaling, resumedFor, epoch, now } as unknown;
  const steps = lateSuspension(facts as Parameters<typeof lateSuspension>[0]);
  for (const step of steps) {
    if (step.kind !== 'ResumeLate') continue;
    await resumeLate(deps, group, { scaling, memory }, step, signal);
  }
  return { resumed, told, hasActed: steps.length > 0 };
};

const runs = { resumed: ['AZRebalance'], told: ['LateSuspension'], hasActed: true };
const nothing = { resumed: [], told: [], hasActed: false };

describe('a process that is suspended after the update that does so', () => {
  it.each([
    ['runs again where another process leads', {}, runs],
    ['is people’s in the term that suspended it', { epoch: 1 }, nothing],
    ['may be an old look just after the end', { afterMs: 9_999 }, nothing],
    ['is late from 10 s on', { afterMs: 10_000 }, runs],
    ['is late for 5 minutes', { afterMs: 300_000 }, runs],
    ['is people’s after 5 minutes', { afterMs: 300_001 }, nothing],
    ['is people’s where the update suspends another', { suspended: ['Launch'] }, nothing],
  ] as const)('%s', async (_, look, expected) => {
    expect(await lookAt(look)).toEqual(expected);
  });

  it('runs again once', async () => {
    const memory: LateMemory = {};
    expect(await lookAt({ memory })).toEqual(runs);
    expect(await lookAt({ memory, afterMs: 90_000 })).toEqual(nothing);
    const next = anUpdate('u2', { suspends: ['AZRebalance'], suspendedIn: 1 }, 1_000);
    expect(await lookAt({ memory, updates: [suspending, next] })).toEqual(runs);
  });

  it('is late also where an update that suspends nothing has ended since', async () => {
    const settings = anUpdate('u2', { status: 'Successful' }, 1_000);
    expect(await lookAt({ updates: [suspending, settings] })).toEqual(runs);
    expect(await lookAt({ updates: [settings] })).toEqual(nothing);
  });

  it('is late also where one of this term that suspends it has ended since, and rested', async () => {
    const atEnd = (agoMs: number) => formatTime(epochMs(ended + 60_000 - agoMs));
    const ours = (agoMs: number) =>
      anUpdate('u2', { suspends: [], suspendedIn: 2, endedAt: atEnd(agoMs) }, 1_000);
    expect(await lookAt({ updates: [suspending, ours(30_000)] })).toEqual(runs);
    expect(await lookAt({ updates: [suspending, ours(5_000)] })).toEqual(nothing);
  });
});
