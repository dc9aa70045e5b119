// The agent and node-problem-detector beside each other: the same faults of this machine's kernel,
// one after the other, and what each of both says on its Node. Prints a table; asserts nothing.
// Needs root and node-problem-detector; see README.md.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Node, resourceTypes } from '../../src/api/kube.ts';
import { conditionFaults, type LogFault, logFaults } from '../support/agent-faults.ts';
import { AgentPeers, detectorPaths, type Watcher } from '../support/agent-peers.ts';
import { lacking, whyNoFaults } from '../support/node-faults.ts';

const settleMs = 20_000;
const foundWithinMs = 20_000;
const clearedWithinMs = 100_000;
const pollMs = 250;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

interface Row {
  readonly fault: string;
  readonly cells: readonly string[];
}

/** What a finding is, without what differs from one to the next: counts, times, processes. */
const reasonOf = (said: string): string => {
  const [condition, inner = ''] = said.split(': ');
  const isOurs = /^\w+Ready$/.test(condition ?? '');
  return isOurs
    ? `Event ${inner.slice(0, 40)}`
    : `${said.includes('=') ? '' : 'Event '}${condition}`;
};

/** Ready is this script's own; without a kubelet the node controller turns the others Unknown. */
const isHealthy = (said: string): boolean =>
  /^(?:Ready|MemoryPressure|DiskPressure|PIDPressure)=|: Node \S+ status is now/.test(said) ||
  /^\w+Ready=True /.test(said) ||
  /^AgentHealthy/.test(said) ||
  /^(?!\w+Ready)\w+=False /.test(said);

/** Changes on the node since `before`, except conditions that report good health. */
const findings = async (
  peers: AgentPeers,
  node: string,
  before: ReadonlySet<string>,
): Promise<readonly string[]> =>
  (await peers.says(node)).filter((said) => !before.has(said) && !isHealthy(said));

interface Watched {
  readonly watcher: Watcher;
  readonly before: ReadonlySet<string>;
  seconds?: number;
  said?: readonly string[];
  cleared?: number;
}

const run = async (peers: AgentPeers, fault: LogFault, clears: boolean): Promise<Row> => {
  const watched: Watched[] = [];
  for (const watcher of peers.watchers) {
    watched.push({ watcher, before: new Set(await peers.says(watcher.node)) });
  }
  const begun = performance.now();
  const undo = fault.make();
  if (undo === undefined) {
    return {
      fault: fault.reason,
      cells: watched.map(() => 'not made: the kernel has no such file'),
    };
  }
  while (performance.now() - begun < foundWithinMs) {
    for (const one of watched.filter(({ seconds }) => seconds === undefined)) {
      const said = await findings(peers, one.watcher.node, one.before);
      if (said.length === 0) continue;
      one.seconds = (performance.now() - begun) / 1000;
      one.said = said;
    }
    if (watched.every(({ seconds }) => seconds !== undefined)) break;
    await sleep(pollMs);
  }
  await sleep(2_000);
  for (const one of watched) one.said = await findings(peers, one.watcher.node, one.before);
  undo();
  const undone = performance.now();
  while (clears && performance.now() - undone < clearedWithinMs) {
    for (const one of watched.filter(({ cleared }) => cleared === undefined)) {
      const said = await findings(peers, one.watcher.node, one.before);
      const stands = said.some((line) => /^\w+=(?:True|False) /.test(line));
      if (!stands) one.cleared = (performance.now() - undone) / 1000;
    }
    if (watched.every(({ cleared }) => cleared !== undefined)) break;
    await sleep(1_000);
  }
  return { fault: fault.reason, cells: watched.map((one) => cellOf(one, clears)) };
};

const cellOf = ({ seconds, said = [], cleared }: Watched, clears: boolean): string => {
  if (seconds === undefined) return 'not found';
  const reasons = [...new Set(said.map(reasonOf))].join(', ');
  const found = `${seconds.toFixed(1)} s: ${reasons}`;
  const hasCondition = said.some((line) => /^\w+=/.test(line));
  if (!clears || !hasCondition) return found;
  const end = cleared === undefined ? `not cleared in ${clearedWithinMs / 1000} s` : '';
  return `${found}; ${end || `cleared after ${cleared?.toFixed(0)} s`}`;
};

/** Ready is turned over and over while the agents write; an overwritten value is a lost update. */
const lostUpdates = async (peers: AgentPeers, stop: AbortSignal): Promise<Map<string, number>> => {
  const lost = new Map(peers.watchers.map(({ node }) => [node, 0]));
  for (let turn = 0; !stop.aborted; turn++) {
    for (const { node } of peers.watchers) {
      const status = turn % 2 === 0 ? 'True' : 'False';
      const body = { status: { conditions: [{ type: 'Ready', status, reason: `Turn${turn}` }] } };
      const patch = { type: 'strategic', subresource: 'status', body } as const;
      await peers.kube.patch(resourceTypes.nodes, { name: node }, patch);
      await sleep(pollMs);
      const found = await peers.kube.get<Node>(resourceTypes.nodes, { name: node });
      const conditions = found.kind === 'found' ? (found.object.status.conditions ?? []) : [];
      const ready = conditions.find(({ type }) => type === 'Ready');
      // The node controller turns it Unknown as well: only an older turn is what an agent wrote.
      const isOlder = ready?.reason?.startsWith('Turn') === true && ready.reason !== `Turn${turn}`;
      if (isOlder) lost.set(node, (lost.get(node) ?? 0) + 1);
    }
  }
  return lost;
};

const main = async (): Promise<void> => {
  const detector = detectorPaths(process.env);
  const whyNot =
    whyNoFaults() ??
    lacking('mkfs.ext4', 'mkfs.xfs', 'xfs_io', 'fsfreeze') ??
    (detector === undefined
      ? 'node-problem-detector is not installed: npm run peers:install'
      : undefined);
  if (whyNot !== undefined) throw new Error(whyNot);
  const peers = await AgentPeers.begin(detector);
  const stop = new AbortController();
  try {
    await sleep(settleMs);
    // Awaited below; a failure before that is not an unhandled one.
    const losing = lostUpdates(peers, stop.signal);
    losing.catch(() => undefined);
    print(`| fault | ${peers.watchers.map(({ name }) => name).join(' | ')} |`);
    print(`|---|${peers.watchers.map(() => '---|').join('')}`);
    const all: readonly (readonly [LogFault, boolean])[] = [
      ...logFaults.map((fault) => [fault, false] as const),
      // What a line alone tells of is cleared by 15 minutes: too long to wait for here.
      ...conditionFaults.map((fault) => [fault, fault.condition === 'StorageReady'] as const),
    ];
    for (const [fault, clears] of all) {
      const row = await run(peers, fault, clears);
      print(`| ${row.fault} | ${row.cells.join(' | ')} |`);
    }
    stop.abort();
    const lost = await losing;
    const counts = peers.watchers.map(({ node }) => String(lost.get(node)));
    print(`| lost updates of Ready | ${counts.join(' | ')} |`);
  } finally {
    stop.abort();
    await peers.end();
  }
};

await main();
