// Gives a story its world, and lets the oracles judge what happened in it once it is over. Where a
// story fails, its world's seed is told, with which it can be played again. Never a story itself.
import { after, afterEach, before } from 'node:test';
import { nodegroupService } from '../../world/aws/index.ts';
import { finalFacts } from '../../world/check/index.ts';
import { nodeManagerAgent, worldAccount } from '../../world/index.ts';
import { ServedWorld } from './demo-world.ts';
import { type Exempt, judge, noUpdates, violationsOf } from './judge.ts';
import { type FinalFacts, holdAgainstState, readStory, type StoryTrace } from './story-trace.ts';

/** For `skip`: tells on a line of its own what is not run and why, so that no log hides it. */
export const skipWhen = (stories: string, why: string | undefined): string | false => {
  if (why === undefined) return false;
  process.stdout.write(`not run: ${stories}, ${why}\n`);
  return why;
};

export interface Judged {
  /** The story ends when everything it began has come to its end. */
  readonly settled: boolean;
  /** Oracles that have nothing to look at in this story, besides those of `usual`, and why. */
  readonly exempt?: Exempt;
  /** `native` where a `drover controller` of its own acts; `eks` by default. */
  readonly compat?: 'eks' | 'native';
  /** The controllers are a process of their own. */
  readonly byWallClock?: boolean;
}

export interface StoryOptions {
  readonly args?: readonly string[];
  /** Required wherever controllers run, unless `unjudged` says that no oracle could approve. */
  readonly judged?: Judged;
  readonly unjudged?: boolean;
}

/** What hardly any story has: to each the reason. A story that has it is judged all the same. */
const usual: Exempt = {
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
/** As EKS: one name towards Kubernetes, another towards the account. */
const eksAgents = [
  nodeManagerAgent,
  // As the SDK writes it, which allows no blanks.
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
/** A world whose process was kept waiting lags behind the wall clock until it has caught up. */
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

/** The verdict over a world that has stopped; returns its end state for comparisons. */
const judgeWorld = (world: ServedWorld, judged: Judged): FinalFacts => {
  const story = storyOf(world, judged);
  const { settled, exempt = {} } = judged;
  const apart = world.isCloudAlone ? otherClock : {};
  judge(story.trace, { ...usual, ...apart, ...(settled ? {} : unsettled), ...exempt });
  // Where it is the cloud alone, the world has a cluster of its own in which nothing happened.
  return world.isCloudAlone ? finalFacts(story.trace) : holdAgainstState(story);
};

const tellSeed = ({ seed }: ServedWorld): void => {
  process.stderr.write(
    `the world's seed was ${seed}: DROVER_STORY_SEED=${seed} plays the story again, ` +
      `drover up --demo --seed ${seed} shows its world\n`,
  );
};

/** As `judgeWorld`; where the verdict is bad the seed is told. */
const judgeAloud = (world: ServedWorld, judged: Judged): FinalFacts => {
  try {
    return judgeWorld(world, judged);
  } catch (error) {
    tellSeed(world);
    throw error;
  }
};

/** What went wrong in a story that failed: its seed, and what the oracles have to say besides. */
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

/** Runs one story in a world of its own. Returns the state in which the world was left. */
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

/** The world of the stories of one `describe`, there from its `before` on. */
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
