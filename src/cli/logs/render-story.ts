// Renders the history of a node as text and as JSON. core/story finds its problems.
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import type { NodeStory, Step, StepKind } from '../../core/story/index.ts';
import { renderTable } from '../table.ts';
import { visible } from '../visible.ts';

export const stepWords: Readonly<Record<StepKind, string>> = {
  joined: 'joined',
  ready: 'Ready',
  notReady: 'not Ready',
  excluded: 'taken out of load balancers',
  included: 'let into load balancers again',
  cordoned: 'cordoned',
  uncordoned: 'uncordoned',
  labelled: 'labelled',
  tainted: 'taints',
  placed: 'pod placed',
  evicted: 'pod evicted',
  refused: 'eviction refused',
  podDeleted: 'pod gone',
  deleted: 'deleted',
};

/** `2022-09-25 13:58:43.356`, UTC. */
export const shownTime = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

export const whatOf = ({ kind, pod, detail }: Step): string =>
  [stepWords[kind], pod ?? '', detail ?? ''].filter((part) => part !== '').join(' ');

/** The part of a user agent that identifies the program. */
export const shortAgent = (agent: string): string => agent.split(' ')[0] ?? '';

export interface Grouped {
  readonly step: Step;
  /** Number of equal steps in a row: refusals may occur hundreds of times. */
  readonly times: number;
  readonly until: number;
}

/** Combines consecutive refusals of one pod into one line. */
export const groupedSteps = (steps: readonly Step[]): readonly Grouped[] => {
  const found: Grouped[] = [];
  for (const step of steps) {
    const index = found.findLastIndex(({ step: other }) => other.pod === step.pod);
    const before = found[index];
    const isSame =
      step.kind === 'refused' &&
      before?.step.kind === 'refused' &&
      before.step.detail === step.detail &&
      before.step.user === step.user;
    if (isSame) found[index] = { ...before, times: before.times + 1, until: step.at };
    else found.push({ step, times: 1, until: step.at });
  }
  return found;
};

export const storyText = (story: NodeStory): readonly string[] => {
  const { node, group, steps, passages, findings } = story;
  const rows = groupedSteps(steps).map(({ step, times, until }) => {
    const often = times === 1 ? '' : ` (${times} times until ${shownTime(until).slice(11)})`;
    return [
      shownTime(step.at),
      visible(whatOf(step)) + often,
      visible(`${step.user} (${shortAgent(step.agent)})`),
    ];
  });
  return [
    visible(`${node}${group === undefined ? '' : ` of ${group}`}`),
    ...renderTable(['TIME', 'WHAT', 'WHO'], rows).map((line) => `  ${line}`),
    ...passages.map(({ name, seconds }) => `  ${name}: ${seconds.toFixed(3)} s`),
    ...findings.map(({ kind, message }) =>
      visible(`  ! ${kind === 'order' ? 'wrong order' : 'gap'}: ${message}`),
    ),
    '',
  ];
};

export const storyDocument = (
  stories: readonly NodeStory[],
  span: { readonly from: number; readonly to: number } | undefined,
): JsonObject => ({
  apiVersion: 'cli.drover.dev/v1',
  kind: 'NodeStoryList',
  log:
    span === undefined
      ? null
      : { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() },
  items: stories.map(({ node, group, steps, passages, findings }) => ({
    node,
    ...defined({ group }),
    steps: steps.map(
      ({ at, ...step }): JsonObject => ({ at: new Date(at).toISOString(), ...step }),
    ),
    passages: passages.map((passage): JsonObject => ({ ...passage })),
    findings: findings.map((finding): JsonObject => ({ ...finding })),
  })),
});
