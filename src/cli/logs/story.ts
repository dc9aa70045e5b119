// drover logs story: the history of a node, or of the nodes of a group, from an audit log. Works on
// any API server's log at level Metadata or higher; with request bodies (level Request) it shows
// labels, taints and budgets by name.
import type { JsonObject } from '../../api/json.ts';
import { type NodeStory, StoryReader, tellStory } from '../../core/story/index.ts';
import { LineFeed, type LogEvent, noLines } from '../../insights/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import { visible, visibleJson } from '../visible.ts';
import { failOn, readLogs, reportProblems } from './inputs.ts';
import { storyDocument, storyText } from './render-story.ts';
import { storyPage } from './story-page.ts';

export interface StoryFlags {
  readonly node?: string;
  readonly nodegroup?: string;
  readonly output: 'text' | 'json' | 'html';
}

const nodesAndPods = /"resource":\s*"(?:nodes|pods)"/;

export const runStory = async (
  context: CliContext,
  connection: Connection,
  { files, flags }: { readonly files: readonly string[]; readonly flags: StoryFlags },
): Promise<void> => {
  if ((flags.node === undefined) === (flags.nodegroup === undefined)) {
    throw new CommandError(
      exitCodes.usage,
      'name a node or a node group: drover logs story node NAME',
    );
  }
  const reader = new StoryReader();
  const counts = noLines();
  const onEvent = (event: LogEvent): void => {
    // Most events concern other kinds and need not be parsed.
    if (!nodesAndPods.test(event.message)) return;
    if (event.json !== undefined && event.timeMs !== undefined)
      reader.add(event.json, event.timeMs);
  };
  const read = await readLogs(context, {
    files: files.length === 0 ? await context.auditFiles(connection) : files,
    open: ({ name }) =>
      new LineFeed({
        source: { stream: name, log: name },
        needles: { inValues: [], inText: [] },
        counts,
        onEvent,
      }),
    progress: () => `${Math.round(counts.bytes / 1_000_000)} MB read`,
  });
  const stories = wanted(reader, flags);
  for (const line of rendered(stories, flags, reader)) context.out(line);
  reportProblems(context, read);
  const notJson = counts.notJson + counts.broken;
  if (notJson > 0) {
    const least = counts.unparsed > 0 ? 'at least ' : '';
    context.err(`! ${least}${notJson} ${notJson === 1 ? 'line is' : 'lines are'} no JSON object`);
  }
  if (reader.isFull) context.err('! the log has more steps than are kept; the others were omitted');
  const homeless = reader.homeless().length;
  if (homeless > 0)
    context.err(`! the log does not show on which node ${homeless} evicted pods ran`);
  failOn(read);
};

const wanted = (reader: StoryReader, { node, nodegroup }: StoryFlags): readonly NodeStory[] => {
  const all = reader.nodes();
  const found = all.filter(({ name, group }) =>
    node === undefined ? group === nodegroup : name === node,
  );
  if (found.length > 0) {
    return found.map(tellStory).sort((a, b) => (a.steps[0]?.at ?? 0) - (b.steps[0]?.at ?? 0));
  }
  const names =
    node === undefined
      ? [...new Set(all.flatMap(({ group }) => group ?? []))]
      : all.map(({ name }) => name);
  const what = node === undefined ? `group ${nodegroup}` : `node ${node}`;
  const others = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 5).join(', ')}`;
  const message = visible(`the log does not tell of the ${what}: ${others}`);
  throw new CommandError(exitCodes.failed, message);
};

const rendered = (
  stories: readonly NodeStory[],
  { output }: StoryFlags,
  reader: StoryReader,
): readonly string[] => {
  const document: JsonObject = storyDocument(stories, reader.span);
  if (output === 'json') return [visibleJson(JSON.stringify(document, null, 2))];
  return output === 'html' ? storyPage(stories) : stories.flatMap(storyText);
};
