// Mutants about when an update may continue: windows, freezes and probes that are not checked, or
// at the wrong time.
import type { Mutant } from '../mutant.ts';

const holds = 'src/core/update/pacing/holds.ts';
const probes = 'src/controllers/nodegroup/update/probes.ts';
const oracles = ['updates-stop-at-gates'] as const;

export const gateMutants: readonly Mutant[] = [
  {
    name: 'an-update-that-began-goes-on-when-its-window-closes',
    oracles,
    kind: 'logic',
    story: 'a-freeze-begins-in-an-update',
    edits: [
      {
        file: holds,
        find: 'return dated(facts, [...pausedHold(update), ...windowHold(facts)]);',
        replace: 'return dated(facts, pausedHold(update));',
      },
    ],
  },
  {
    name: 'an-update-begins-whatever-the-time',
    oracles,
    kind: 'logic',
    story: 'an-update-is-asked-for-in-a-freeze',
    edits: [
      {
        file: holds,
        find: 'return dated(facts, [...pausedHold(update), ...approval, ...windowHold(facts)]);',
        replace: 'return dated(facts, [...pausedHold(update), ...approval]);',
      },
    ],
  },
  {
    name: 'windows-close-three-minutes-late',
    oracles,
    kind: 'timing',
    story: 'a-window-closes-in-an-update',
    edits: [
      {
        file: 'src/core/update/pacing/windows.ts',
        find: 'durationMs: durationSeconds * 1000, known',
        replace: 'durationMs: durationSeconds * 1000 + 180_000, known',
      },
    ],
  },
  {
    name: 'a-probe-that-fails-holds-nothing',
    oracles,
    kind: 'logic',
    story: 'a-probe-fails-in-an-update',
    edits: [
      {
        file: probes,
        find: 'isPassing: message === undefined,',
        replace: 'isPassing: true,',
      },
    ],
  },
];
