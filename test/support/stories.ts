// Creates a story's world, and lets the oracles check the story at its end. Prints the world's seed
// of a failed story, for replaying it. Contains no story.
import { after, afterEach, before } from 'node:test';
import { nodegroupService } from '../../world/aws/index.ts';
import { finalFacts } from '../../world/check/index.ts';
import { nodeManagerAgent, worldAccount } from '../../world/index.ts';
import { ServedWorld } from './demo-world.ts';
import { type Exempt, judge, noUpdates, violationsOf } from './judge.ts';
import { type FinalFacts, holdAgainstState, readStory, type StoryTrace } from './story-trace.ts';

/** For `skip`: prints what is skipped and why on its own line, so that every log shows it. */
export const skipWhen = (stories: string, why: string | undefined): string | false => {
  if (why === undefined) return false;
  process.stdout.write(`not run: ${stories}, ${why}\n`);
  return why;
};

export interface Judged {
  /** The story ends only when everything that it started has ended. */
  readonly settled: boolean;
  /** Oracles that have nothing to check in this story, besides those of `usual`, with reasons. */
  readonly exempt?: Exempt;
  /** `native` when a separate `drover controller` acts; `eks` by default. */
  readonly compat?: 'eks' | 'native';
  /** The controllers are a process of their own. */
  readonly byWallClock?: boolean;
}

export interface StoryOptions {
  readonly args?: readonly string[];
  /** Required when controllers run, unless `unjudged` says why no oracle could approve. */
  readonly judged?: Judged;
  readonly unjudged?: boolean;
}

/**
 * Features that few stories have, with reasons. Oracles about them check a story that has one all
 * the same.
 */
const usual: Exempt = {
  'quarantined-instances-end-in-time': 'no repair quarantines an instance',
  'nothing-left-after-delete': 'no node group is deleted',
  'aws-auth-loses-no-entry': 'no node group brings a role of its own',
  'certificates-name-their-instance':
    'no kubelet asks for a certificate, or the platform approves it',
  'messages-are-durable': 'no trail tells of messages, and no hook is open for five minutes',
  'unconfirmed-notices-move-nothing': 'the cloud denies no notice',
  'blockers-are-named': 'no pod is held by its budget for fifteen minutes',
  'held-nodes-keep-their-pods': 'no update holds a node',
  'updates-keep-their-times': 'nothing is forced, nothing fails, no instance is ours to terminate',
  ...noUpdates,
};
/** As in EKS: one user agent for Kubernetes, another for AWS. */
const eksAgents = [
  nodeManagerAgent,
  // The SDK's form, which allows no blanks.
  'vpcLambda/v0.0.0--',
  nodegroupService(worldAccount).userAgent,
];
const noCalls = 'the cloud has another clock than the API server: its calls are not told';
const otherClock: Exempt = {
  'hooks-never-run-out': noCalls,
  'hooks-complete-when-empty': noCalls,
  'foreign-hooks-left-alone': noCalls,
  'updates-keep-their-pace': noCalls,
};
/** A delayed world process lags behind the wall clock until it has caught up. */
const wallClockSkewMicros = 1_000_000;
const unsettled: Exempt = {
  'everything-ends': 'the story leaves its world while something is still open',
};

const argsOf = (options: StoryOptions): readonly string[] => {
  const { args = ['--demo', '--port', '0'], judged, unjudged = false } = options;
  if (judged === undefined && !unjudged && !args.includes('--no-controller')) {
    throw new TypeError('controllers act in this story: say how the oracles are to judge it');
  }
  return args;
};

const storyOf = (world: ServedWorld, judged: Judged): StoryTrace => {
  const { settled, compat = 'eks', byWallClock } = judged;
  return readStory(world.dataDir, {
    agents: compat === 'eks' ? eksAgents : ['drover/'],
    compat,
    settled,
    auditLogPath: world.auditLogPath,
    isCloudAlone: world.isCloudAlone,
    ...(byWallClock === true ? { clockSkew: wallClockSkewMicros } : {}),
    faults: world.faults,
  });
};

/** The verdict over a stopped world; returns its final state for comparisons. */
const judgeWorld = (world: ServedWorld, judged: Judged): FinalFacts => {
  const story = storyOf(world, judged);
  const { settled, exempt = {} } = judged;
  const apart = world.isCloudAlone ? otherClock : {};
  judge(story.trace, { ...usual, ...apart, ...(settled ? {} : unsettled), ...exempt });
  // When it is only the cloud, the world's own cluster has no events to check.
  return world.isCloudAlone ? finalFacts(story.trace) : holdAgainstState(story);
};

const tellSeed = ({ seed }: ServedWorld): void => {
  process.stderr.write(
    `the world's seed was ${seed}: DROVER_STORY_SEED=${seed} plays the story again, ` +
      `drover up --demo --seed ${seed} shows its world\n`,
  );
};

/** Like `judgeWorld`; prints the seed on a bad verdict. */
const judgeAloud = (world: ServedWorld, judged: Judged): FinalFacts => {
  try {
    return judgeWorld(world, judged);
  } catch (error) {
    tellSeed(world);
    throw error;
  }
};

/** Prints a failed story's seed, and the oracles' violations. */
const tellFailure = async (world: ServedWorld, judged: Judged | undefined): Promise<void> => {
  tellSeed(world);
  if (judged === undefined) return;
  await world.halt();
  try {
    const { trace } = storyOf(world, { ...judged, settled: false });
    for (const line of violationsOf(trace)) process.stderr.write(`an oracle: ${line}\n`);
  } catch (error) {
    process.stderr.write(`the oracles cannot judge what was left: ${String(error)}\n`);
  }
};

/** Runs one story in a world of its own. Returns the world's final state. */
export const inWorld = async (
  options: StoryOptions,
  story: (world: ServedWorld) => Promise<void>,
): Promise<FinalFacts | undefined> => {
  const world = await ServedWorld.start({ args: argsOf(options) });
  try {
    await story(world).catch(async (error: unknown) => {
      await tellFailure(world, options.judged);
      throw error;
    });
    await world.halt();
    return options.judged === undefined ? undefined : judgeAloud(world, options.judged);
  } finally {
    await world.stop();
  }
};

/** The world for the stories of one `describe`, available from its `before` on. */
export interface SuiteWorld {
  readonly world: ServedWorld;
}

/** Call inside `describe`, before its own `before`. */
export const suiteWorld = (options: StoryOptions): SuiteWorld => {
  const args = argsOf(options);
  let current: ServedWorld | undefined;
  let [passed, failed] = [0, 0];
  before(async () => {
    current = await ServedWorld.start({ args });
  });
  afterEach((test) => {
    if ('passed' in test && test.passed === true) passed += 1;
    else failed += 1;
  });
  after(async () => {
    if (current === undefined) return;
    const isWhole = passed > 0 && failed === 0;
    try {
      await current.halt();
      if (!isWhole) await tellFailure(current, options.judged);
      else if (options.judged !== undefined) judgeAloud(current, options.judged);
    } finally {
      await current.stop();
    }
  });
  return {
    get world() {
      if (current === undefined) throw new Error('the world has not started');
      return current;
    },
  };
};
