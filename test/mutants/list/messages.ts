// Mutants about the cloud: other owners' hooks, lost messages, sizes that must not be requested or
// that are ignored.
import type { Mutant } from '../mutant.ts';

const intake = 'src/controllers/intake/controller.ts';
const nodegroup = 'src/core/nodegroup/status.ts';
const desiredTold = 'const { desiredCapacity: desired, minSize, maxSize } = scaling;';
/** The same, followed by a different desired size. */
const otherwise = 'const { minSize, maxSize } = scaling; const desired =';

const foreign: readonly Mutant[] = [
  {
    name: 'every-hook-is-ours',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/notices/causes.ts',
        find: 'owned.has(name) || group',
        replace: 'owned.has(name) || name.length > 0 || group',
      },
    ],
  },
  {
    name: 'the-backstop-answers-hooks-of-others',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'logic',
    edits: [
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'all.filter(({ name }) => this.#ownsHook(name, holder));',
        replace: "all.filter(({ name }) => name !== '' || this.#ownsHook(name, holder));",
      },
    ],
  },
  {
    name: 'a-hook-is-taken-before-its-owner-is-known',
    oracles: ['foreign-hooks-left-alone'],
    kind: 'timing',
    edits: [
      {
        file: intake,
        find: "if (notice.kind !== 'terminate' || !this.#ownsHook(notice.hookName, group)) return facts;",
        replace: "if (notice.kind !== 'terminate') return facts;",
      },
    ],
  },
];

const durable: readonly Mutant[] = [
  {
    name: 'message-deleted-before-the-write',
    oracles: ['messages-are-durable'],
    kind: 'timing',
    edits: [
      {
        file: intake,
        find: 'decisions.push(await this.#carryOut(decision, signal));',
        replace:
          'await this.#delete(message, signal);\n      decisions.push(await this.#carryOut(decision, signal));',
      },
    ],
  },
  {
    name: 'a-failed-write-loses-the-message',
    oracles: ['messages-are-durable'],
    kind: 'logic',
    edits: [
      {
        file: intake,
        find: 'const written = await recordCause(this.#deps, decision, signal);',
        replace:
          'const written = await recordCause(this.#deps, decision, signal).catch(() => undefined);',
      },
    ],
  },
  {
    name: 'spot-warnings-are-nobodys-business',
    oracles: ['messages-are-durable'],
    kind: 'logic',
    edits: [
      {
        file: 'src/core/termination/notices/message.ts',
        find: "if (group === undefined) return drop('foreignGroup', instanceId);",
        replace:
          "if (notice.kind !== 'rebalance' || group === undefined) return drop('foreignGroup', instanceId);",
      },
    ],
  },
  {
    name: 'backstop-asleep',
    oracles: ['messages-are-durable'],
    kind: 'timing',
    edits: [
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'const pollEveryMs = 30_000;',
        replace: 'const pollEveryMs = 3_000_000;',
      },
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'if (mayServe(change)) soon();',
        replace: "if (mayServe(change) && change.object.metadata.name === '') soon();",
      },
    ],
  },
  {
    name: 'maintenance-is-looked-at-once',
    oracles: ['messages-are-durable'],
    kind: 'timing',
    edits: [
      {
        file: 'src/controllers/lifecycle/controller.ts',
        find: 'const scheduledEveryMs = 60_000;',
        replace: 'const scheduledEveryMs = 60_000_000;',
      },
    ],
  },
  {
    name: 'maintenance-that-is-called-off-goes-on',
    oracles: ['messages-are-durable'],
    kind: 'logic',
    story: 'maintenance-is-called-off-unheard',
    edits: [
      {
        file: 'src/core/termination/notices/scheduled.ts',
        find: '.filter((cause) => cause.cancelledAt === undefined && isOf(cause, event))',
        replace: '.filter((cause) => cause.cancelledAt !== undefined && isOf(cause, event))',
      },
      {
        file: 'src/core/termination/confirmation.ts',
        find: "return state === 'running' ? refuted(reason) : undefined;",
        replace: "return state === '' ? refuted(reason) : undefined;",
      },
    ],
  },
];

const confirmation = 'src/core/termination/confirmation.ts';
const onDemand = "if (market === 'on-demand') return notSpot;";

const confirmed: readonly Mutant[] = [
  {
    name: 'what-the-cloud-denies-is-confirmed',
    oracles: ['unconfirmed-notices-move-nothing'],
    kind: 'logic',
    edits: [
      {
        file: confirmation,
        find: "=> ({ state: 'Refuted', reason });",
        replace: "=> ({ state: 'Confirmed', reason });",
      },
    ],
  },
  {
    name: 'unconfirmed-causes-count',
    oracles: ['unconfirmed-notices-move-nothing'],
    kind: 'logic',
    edits: [
      {
        file: 'src/api/confirmation.ts',
        find: 'cause.cancelledAt === undefined && isConfirmed(cause);',
        replace: 'cause.cancelledAt === undefined;',
      },
    ],
  },
  {
    name: 'spot-notices-of-on-demand-instances-count',
    oracles: ['unconfirmed-notices-move-nothing'],
    kind: 'logic',
    edits: [
      {
        file: confirmation,
        find: onDemand,
        replace: "if (market === 'on-demand') return confirmed('EC2: an instance');",
      },
    ],
  },
  {
    name: 'a-denied-notice-counts-in-its-last-minute',
    oracles: ['unconfirmed-notices-move-nothing'],
    kind: 'timing',
    edits: [
      {
        file: confirmation,
        find: onDemand,
        replace:
          "if (market === 'on-demand') return now + 60_000 < endsAt ? pending('its end') : confirmed('its end');",
      },
    ],
  },
];

const sized: readonly Mutant[] = [
  {
    name: 'desired-told-one-too-high',
    oracles: ['sizes-of-others-are-followed', 'desired-within-bounds'],
    kind: 'logic',
    edits: [
      {
        file: nodegroup,
        find: desiredTold,
        replace: `${otherwise} 1 + scaling.desiredCapacity;`,
      },
    ],
  },
  {
    name: 'maximum-told-as-minimum',
    oracles: ['desired-within-bounds'],
    kind: 'logic',
    edits: [
      {
        file: nodegroup,
        find: desiredTold,
        replace: 'const { desiredCapacity: desired, minSize, minSize: maxSize } = scaling;',
      },
    ],
  },
  {
    name: 'the-maximum-is-told-once-and-never-again',
    oracles: ['desired-within-bounds'],
    kind: 'timing',
    story: 'a-group-outgrows-its-maximum',
    edits: [
      {
        file: nodegroup,
        find: desiredTold,
        replace:
          'const { desiredCapacity: desired, minSize } = scaling;\n' +
          '    const maxSize = group.status?.maxSize ?? scaling.maxSize;',
      },
    ],
  },
  {
    name: 'desired-counted-while-instances-still-leave',
    oracles: ['desired-within-bounds', 'sizes-of-others-are-followed'],
    kind: 'timing',
    edits: [
      {
        file: nodegroup,
        find: desiredTold,
        replace: `${otherwise} Math.max(scaling.desiredCapacity, countsOf(facts).instances.length);`,
      },
    ],
  },
  {
    name: 'the-groups-size-is-told-once-and-never-again',
    oracles: ['sizes-of-others-are-followed'],
    kind: 'timing',
    story: 'a-group-is-made-smaller',
    edits: [
      {
        file: nodegroup,
        find: desiredTold,
        replace: `${otherwise} group.status?.desired ?? scaling.desiredCapacity;`,
      },
    ],
  },
];

export const messageMutants: readonly Mutant[] = [...foreign, ...durable, ...confirmed, ...sized];
