// Drains nodes before their removal: records one drain each, waits, and throws when a node could
// not be emptied.
import type { EpochMs } from '../../api/brand.ts';
import type { Node } from '../../api/kube.ts';
import type { KubeApi } from '../../ports/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { type Recorded, recordDrain } from './record.ts';
import { exitCodeOf, worstOf } from './state.ts';
import { DrainWait } from './wait.ts';

export interface Removal {
  readonly context: CliContext;
  readonly kube: KubeApi;
  readonly nodes: readonly Node[];
  /** The cluster's time: an embedded world may be ahead of the wall clock. */
  readonly now: EpochMs;
  /** After this the drains fail, or force the remaining pods. */
  readonly timeoutMs: number;
  readonly force?: boolean;
  readonly reason: string;
  readonly tell: (line: string) => void;
  /** The end of the error message: what has not changed. */
  readonly consequence: string;
}

/** Pods of a forced drain still need time to stop. */
const afterDeadlineMs = 120_000;

/** Resolves when every node is empty. Throws CommandError with the exit code of the worst drain. */
export const drainForRemoval = async (removal: Removal): Promise<void> => {
  const { context, kube, nodes, now, timeoutMs, reason, tell, consequence } = removal;
  const recorded: Recorded[] = [];
  for (const node of nodes) {
    tell(`draining node "${node.metadata.name}"`);
    recorded.push(
      await recordDrain(kube, node, {
        now,
        userName: context.userName,
        timeoutSeconds: Math.max(1, Math.round(timeoutMs / 1000)),
        onDeadline: removal.force === true ? 'force' : 'fail',
        reason,
      }),
    );
  }
  if (recorded.length === 0) return;
  const { clock, signal } = context;
  const wait = new DrainWait({ kube, clock, signal, tell, progress: undefined }, recorded);
  const { states } = await wait.run(timeoutMs + afterDeadlineMs);
  const code = worstOf([...states.values()].map(exitCodeOf));
  if (code === exitCodes.done) return;
  const names = recorded.map(({ node }) => node).join(' ');
  throw new CommandError(
    code,
    `${consequence}: not all of its nodes could be drained. \`drover explain ` +
      `${recorded[0]?.node}\` ` +
      `says what holds them, \`drover undrain ${names}\` gives them back`,
  );
};
