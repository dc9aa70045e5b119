// One line of text for each reason why an update does not progress. The update's message, the
// group's condition, the CLI and dry runs print these lines. Pure.
import type { UpdateWaitingOn } from '../../api/update-waiting.ts';

type Of<K extends UpdateWaitingOn['kind']> = Extract<UpdateWaitingOn, { kind: K }>;

/** First words of messages that are removed from the status once their reason has passed. */
export const passingWords = {
  surplus: 'The surplus cannot be taken back yet',
  room: 'No room for new nodes beside the old ones',
} as const;

const newNode = ({ node }: Of<'newNode'>): string => {
  const { zone = '', instanceId, code, message, since } = node;
  if (instanceId !== undefined) {
    return `${instanceId}${zone === '' ? '' : ` in ${zone}`}, launched ${since}: ${message}`;
  }
  const what = zone === '' ? 'A launch' : `A launch in ${zone}`;
  return `${what} fails since ${since}: ${code}: ${message}`;
};

const deadlineText: Readonly<Record<Of<'surplus'>['atDeadline'], (deadline: string) => string>> = {
  force: (deadline) => `What is left by ${deadline} is deleted`,
  hookEnds: (deadline) =>
    `Its lifecycle hook ends at ${deadline}, and its instance goes with what is left`,
  fail: (deadline) => `The update fails with PodEvictionFailure at ${deadline} if that lasts`,
};

const resume = ({ update, node, message = '', more }: Of<'resume'>): string => {
  const others = more > 0 ? ` (and ${more} more)` : '';
  const which = node === undefined ? '' : `${node}${others}: ${message}`;
  return (
    `The update paused itself: a drain was not over in time. ${which} ` +
    `\`drover resume update ${update}\` continues it.`
  );
};

const renderers: { readonly [K in UpdateWaitingOn['kind']]: (waiting: Of<K>) => string } = {
  hold: ({ hold }) => hold.reason,
  turn: ({ update, type }) =>
    `waits for update ${update} (${type}) to end: a node group has one at a time`,
  change: ({ revision, update, more }) => {
    const others = more > 0 ? ` and ${more} more` : '';
    return `A change to ${revision} waits for update ${update}${others} to end.`;
  },
  newNode,
  surplus: ({ node, heldBy, deadline, atDeadline }) =>
    `${passingWords.surplus}: node ${node}. ${heldBy}. ${deadlineText[atDeadline](deadline)}.`,
  room: ({ code, message }) =>
    `${passingWords.room}, which are drained first and replaced then. ${code}: ${message}`,
  resume,
  phase: ({ phase }) => `is in phase ${phase}`,
};

/** Looks up the renderer by the value's own kind, which the table's type ties to it. */
export const explainUpdateWaiting = (waiting: UpdateWaitingOn): string => {
  const render: (waiting: never) => string = renderers[waiting.kind];
  return render(waiting as never);
};
