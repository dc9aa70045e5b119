// The history of nodes as one self-contained HTML file: no script, no font, no picture. One line
// per step, with a marker that shows its time; readable as a table without styles.
import type { NodeStory, Step, StepKind } from '../../core/story/index.ts';
import { visible } from '../visible.ts';
import { groupedSteps, shortAgent, shownTime, whatOf } from './render-story.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  visible(text).replace(/[&<>"']/g, (unit) => entities[unit] ?? unit);

/** The style of a step's marker: steps of the node itself, of pods, and failures. */
const toneOf = (kind: StepKind): string => {
  if (kind === 'refused' || kind === 'notReady') return 'bad';
  return ['placed', 'evicted', 'podDeleted'].includes(kind) ? 'pod' : 'node';
};

const style = `
:root { color-scheme: light dark; --node: #2563eb; --pod: #64748b; --bad: #dc2626; }
body {
  font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
}
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td {
  text-align: left; padding: .2rem .6rem .2rem 0; vertical-align: top; overflow-wrap: anywhere;
}
tr + tr td { border-top: 1px solid color-mix(in srgb, currentColor 12%, transparent); }
td:nth-child(1) { white-space: nowrap; font-variant-numeric: tabular-nums; }
td:nth-child(2) { width: 22%; min-width: 8rem; position: relative; }
i {
  position: absolute; top: .35rem; height: .8rem; min-width: 4px; border-radius: 2px;
  background: var(--tone);
}
.node { --tone: var(--node); } .pod { --tone: var(--pod); } .bad { --tone: var(--bad); }
.bad td:nth-child(3), .finding { color: var(--bad); }
section { content-visibility: auto; contain-intrinsic-size: auto 40rem; }
@media (max-width: 40rem) { td:nth-child(2), th:nth-child(2) { display: none; } }
@media print { body { max-width: none; } }
`;

const placeOf = (at: number, steps: readonly Step[]): number => {
  const from = steps[0]?.at ?? at;
  const to = steps.at(-1)?.at ?? at;
  return to === from ? 0 : ((at - from) / (to - from)) * 97;
};

const rowOf = (
  { step, times, until }: ReturnType<typeof groupedSteps>[number],
  steps: readonly Step[],
): string => {
  const left = placeOf(step.at, steps);
  const width = placeOf(until, steps) - left;
  const often = times === 1 ? '' : ` (${times} times until ${shownTime(until).slice(11)})`;
  const long = width > 0 ? `;width:${width.toFixed(2)}%` : '';
  // Thousands of nodes have a million rows: each is as short as possible, and the styles are
  // defined once at the top.
  const cells = [
    `<td>${shownTime(step.at)}</td>`,
    `<td><i style="left:${left.toFixed(2)}%${long}"></i></td>`,
    `<td>${escaped(whatOf(step) + often)}</td>`,
    `<td>${escaped(`${step.user} (${shortAgent(step.agent)})`)}</td>`,
  ];
  return `<tr class="${toneOf(step.kind)}">${cells.join('')}</tr>`;
};

const sectionOf = ({ node, group, steps, passages, findings }: NodeStory): readonly string[] => [
  `<section><h2>${escaped(node)}${group === undefined ? '' : ` of ${escaped(group)}`}</h2>`,
  ...findings.map(
    ({ kind, message }) =>
      `<p class="finding">${kind === 'order' ? 'Wrong order' : 'Gap'}: ${escaped(message)}</p>`,
  ),
  '<table><thead><tr><th>Time (UTC)</th><th></th><th>What</th><th>Who</th></tr></thead><tbody>',
  ...groupedSteps(steps).map((one) => rowOf(one, steps)),
  '</tbody></table>',
  ...(passages.length === 0
    ? []
    : [
        `<p>${passages.map(({ name, seconds }) => `${escaped(name)}: ${seconds.toFixed(3)} s`).join('; ')}</p>`,
      ]),
  '</section>',
];

export const storyPage = (stories: readonly NodeStory[]): readonly string[] => [
  '<!doctype html>',
  '<html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src ' +
    "'unsafe-inline'\">",
  `<title>${escaped(
    stories
      .map(({ node }) => node)
      .join(', ')
      .slice(0, 120),
  )}</title>`,
  `<style>${style}</style></head><body>`,
  `<h1>${stories.length === 1 ? 'The story of a node' : `The story of ${stories.length} nodes`}</h1>`,
  ...stories.flatMap(sectionOf),
  '</body></html>',
];
