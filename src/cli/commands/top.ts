// drover top: groups and nodes, what each waits for and since when, live. On a terminal it redraws
// the screen and reads keys; elsewhere it prints a line for each change. Read-only.
import type { Command } from 'commander';
import { durationMs, type EpochMs, epochMs, formatKubeTime } from '../../api/brand.ts';
import type { CliContext, Connection } from '../context.ts';
import { renderTable } from '../table.ts';
import { startFeed, type TopFeed } from '../top/feed.ts';
import { groupHeader, nodeHeader, type TopModel, topModel } from '../top/model.ts';
import { initialState, pressed, type TopState, topLines } from '../top/view.ts';

interface TopFlags {
  readonly once: boolean;
}

/** A large update causes hundreds of changes, which are drawn together. */
const drawEveryMs = durationMs(500);
/** Ages grow without any change, so the screen is also redrawn at this interval. */
const refreshEveryMs = 5_000;

/** The cluster's time. The clock of an embedded world may be ahead, but runs at real speed. */
const clusterClock = async (
  context: CliContext,
  connection: Connection,
): Promise<() => EpochMs> => {
  const { now } = await context.cluster(connection);
  const aheadMs = now - context.clock.now();
  return () => epochMs(context.clock.now() + aheadMs);
};

const rowsByName = (model: TopModel): ReadonlyMap<string, string> =>
  new Map(
    [
      ...model.groups.map(({ name, cells }) => [`group ${name}`, cells] as const),
      ...model.nodesOf(undefined).map(({ name, cells }) => [`node ${name}`, cells] as const),
    ].map(([name, cells]) => {
      const [, ...rest] = cells;
      // Ignores the age, which changes all the time.
      return [name, rest.filter((cell, i) => cell !== '' && i !== rest.length - 2).join('  ')];
    }),
  );

const printTables = ({ out }: CliContext, model: TopModel): void => {
  const all = [
    [groupHeader, model.groups],
    [nodeHeader, model.nodesOf(undefined)],
  ] as const;
  for (const [header, rows] of all) {
    for (const line of renderTable(
      header,
      rows.map(({ cells }) => cells),
    ))
      out(line);
    out('');
  }
  out(model.summary);
};

interface Running {
  readonly context: CliContext;
  readonly feed: TopFeed;
  readonly now: () => EpochMs;
  /** Set when an object changes. */
  readonly news: { isNew: boolean };
  readonly signal: AbortSignal;
}

const pause = (context: CliContext, signal: AbortSignal): Promise<void> =>
  context.clock.sleep(drawEveryMs, signal).then(
    () => undefined,
    () => undefined,
  );

const followInLines = async ({ context, feed, now, news, signal }: Running): Promise<void> => {
  let before = rowsByName(topModel(feed.objects(), now()));
  let told: string | undefined;
  while (!signal.aborted) {
    await pause(context, signal);
    if (signal.aborted || !news.isNew) continue;
    news.isNew = false;
    const at = formatKubeTime(now());
    const after = rowsByName(topModel(feed.objects(), now()));
    for (const [name, text] of after) {
      if (before.get(name) !== text) context.out(`${at} ${name}: ${text}`);
    }
    for (const name of before.keys()) {
      if (!after.has(name)) context.out(`${at} ${name}: gone`);
    }
    before = after;
    const fault = feed.fault();
    if (fault !== told && fault !== undefined) context.err(`drover: not current: ${fault}`);
    told = fault;
  }
};

const followOnScreen = async (
  { context, feed, now, news, signal }: Running,
  quit: () => void,
): Promise<void> => {
  const { screen } = context;
  let state: TopState = initialState;
  let model = topModel(feed.objects(), now());
  let drawnAt = now();
  const draw = (): void => {
    const size = screen.size();
    screen.draw(topLines(model, state, { size, fault: feed.fault() }));
  };
  const stopKeys = screen.keys((key) => {
    const next = pressed(model, state, { key, size: screen.size() });
    if (next === undefined) return quit();
    state = next;
    draw();
  });
  try {
    draw();
    while (!signal.aborted) {
      await pause(context, signal);
      if (signal.aborted || (!news.isNew && now() - drawnAt < refreshEveryMs)) continue;
      news.isNew = false;
      drawnAt = now();
      model = topModel(feed.objects(), drawnAt);
      draw();
    }
  } finally {
    stopKeys();
  }
};

const top = async (
  context: CliContext,
  connection: Connection,
  { once }: TopFlags,
): Promise<void> => {
  const kube = await context.kube(connection);
  const now = await clusterClock(context, connection);
  const stop = new AbortController();
  const quit = (): void => stop.abort();
  context.signal.addEventListener('abort', quit, { once: true });
  const { signal } = stop;
  const news = { isNew: false };
  const changed = (): void => {
    news.isNew = true;
  };
  const feed = startFeed({ kube, clock: context.clock, signal, changed });
  try {
    await feed.first;
    const fault = feed.fault();
    // Nothing can be shown yet: the first failure is reported as by any other command.
    if (fault !== undefined && feed.objects().nodes.length === 0) throw new Error(fault);
    const running = { context, feed, now, news, signal };
    if (once || !context.isTerminal) printTables(context, topModel(feed.objects(), now()));
    if (once) return;
    if (context.isTerminal) await followOnScreen(running, quit);
    else await followInLines(running);
  } finally {
    quit();
    await feed.ended;
  }
};

export const addTopCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('top')
    .description('show groups and nodes live: what each waits for, and since when')
    .option('--once', 'print both tables once', false)
    .addHelpText(
      'after',
      `
Rows that wait for something come first. Keys as in k9s: j and k move, enter opens a group or a
node, esc goes back, / filters, n shows all nodes, ? helps, q quits. Without a terminal it prints
the tables and then a line for each change.

Examples:
  drover top
  drover top --once
  drover top | grep draining`,
    )
    .action((flags: TopFlags) => top(context, connection(), flags));
};
