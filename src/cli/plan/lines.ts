// A plan as text: verdict and sums, blockers first, the rest folded so that it fits a screen of 80
// by 24; with details everything. Pure.
import { isOwnStrategy } from '../../api/nodegroup-update.ts';
import type { PlanFinding, UpdatePlan } from '../../core/update/plan/index.ts';

const columns = 80;
/** One line less than the terminal, for the prompt. */
const rows = 23;

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const releaseText = ({ releaseVersion, version, imageId }: UpdatePlan['to']): string =>
  releaseVersion ?? version ?? imageId ?? '?';

/** The template is printed only if it changes. */
const fromTo = ({ from, to }: UpdatePlan, arrow: string): string => {
  const [before, after] = [from.launchTemplate?.version, to.launchTemplate?.version];
  const isOther = before !== after && after !== undefined;
  const templates = isOther ? `, template ${before ?? 'none'} ${arrow} ${after}` : '';
  return `${releaseText(from)} ${arrow} ${releaseText(to)}${templates}`;
};

const bySeverity = (plan: UpdatePlan, severity: PlanFinding['severity']): readonly PlanFinding[] =>
  plan.findings.filter((one) => one.severity === severity && one.waived === undefined);

/** Nothing blocks it: it can start at once, or when its holds end. */
const readyText = ({ holds, approvals }: UpdatePlan): string => {
  const until = holds
    .flatMap((one) => one.until ?? [])
    .toSorted()
    .at(-1);
  return [
    'READY',
    ...(approvals.length === 0
      ? []
      : [approvals.length === 1 ? 'wants approval' : `wants ${approvals.length} approvals`]),
    ...(until === undefined ? [] : [`waits until ${until}`]),
  ].join(', ');
};

const verdictText = (plan: UpdatePlan): string => {
  const blockers = bySeverity(plan, 'blocker').length;
  const warnings = bySeverity(plan, 'warning').length;
  const waived = plan.findings.filter((one) => one.waived !== undefined).length;
  const counts = [
    ...(blockers === 0 ? [] : [plural(blockers, 'blocker')]),
    ...(warnings === 0 ? [] : [plural(warnings, 'warning')]),
    ...(waived === 0 ? [] : [`${waived} waived`]),
  ].join(', ');
  const verdict = { ready: readyText(plan), blocked: 'BLOCKED', upToDate: 'UP TO DATE' }[
    plan.verdict
  ];
  return counts === '' ? verdict : `${verdict}: ${counts}`;
};

/** Hooks without a known duration, because no earlier update of the group ran them. */
const guessLines = ({ assumptions }: UpdatePlan): readonly string[] => {
  const guessed = assumptions.filter(
    ({ what, source }) => what.startsWith('hook ') && source === 'default',
  );
  const names = guessed.map(({ what }) => what.slice('hook '.length)).join(', ');
  return names === '' ? [] : [`hook times are a guess: ${names} never ran`];
};

/** Which durations are defaults, because none were observed in this cluster. */
const defaultLines = ({ assumptions }: UpdatePlan): readonly string[] => {
  const times = assumptions.filter(({ what }) => !what.startsWith('hook '));
  const guessed = times.filter(({ source }) => source.startsWith('default')).length;
  if (guessed === 0) return [];
  return [`${guessed} of ${times.length} times are defaults, not measured here (--details)`];
};

/** A refused update never starts; with other blockers it may start and then wait. */
const blockedText = (plan: UpdatePlan): string =>
  bySeverity(plan, 'blocker').every(({ isRefused }) => isRefused === true)
    ? 'these figures are of the update once nothing refuses it'
    : 'these figures are of an update without what blocks it';

const sumLines = (plan: UpdatePlan): readonly string[] => {
  const { launches, surge, evictions, pods, minutes, lowerBound, kStar, maxUnavailable } = plan;
  const more = plan.extraNodeHours;
  const { leftover = 0 } = plan;
  const back =
    leftover === 0
      ? []
      : [`takes back ${plural(leftover, 'node')} more than asked for, left by an earlier update`];
  if (plan.nodes === 0) return back;
  const again = evictions - pods;
  const bound = lowerBound.by === 'nodes' ? 'by nodes' : `by budget ${lowerBound.budget ?? ''}`;
  const most = kStar === undefined || kStar >= plan.nodes ? '' : `; k* ${kStar}`;
  return [
    `${plural(plan.nodes, 'node')}, ${maxUnavailable} at a time, strategy ${plan.strategy}; ` +
      `${plural(pods, 'pod')} to move`,
    ...(plan.managedBy === 'eks' && isOwnStrategy(plan.strategy)
      ? [`EKS has no strategy ${plan.strategy}: this is what Drover would do with its nodes`]
      : []),
    `launches ${launches} (${surge} first), evictions ${evictions}` +
      (again > 0 ? ` (${again} for a second time)` : '') +
      (more > 0 ? `; ${more} node-hours more` : ''),
    `minutes ${minutes.p50} (p50), ${minutes.p90} (p90); at least ${lowerBound.minutes}, ` +
      `${bound}${most}`,
    ...back,
    ...guessLines(plan),
    ...defaultLines(plan),
    ...(plan.lateRunsPercent === 0
      ? []
      : [`in ${plan.lateRunsPercent} of 100 runs a drain takes longer than it may`]),
    ...(plan.verdict === 'blocked' ? [blockedText(plan)] : []),
  ];
};

/** On a screen a node is named by the first part of its name. */
const shortNode = (name: string): string => name.split('.')[0] ?? name;

const whereText = ({ consequence, object }: PlanFinding, isShort: boolean): string => {
  const { node, pod, minute } = consequence;
  const parts = [
    ...(minute === undefined ? [] : [`minute ${minute}`]),
    ...(node === undefined || node === object.name
      ? []
      : [`node ${isShort ? shortNode(node) : node}`]),
    ...(pod === undefined || pod === object.name ? [] : [`pod ${pod}`]),
  ];
  return parts.join(', ');
};

const evidenceText = ({ evidence }: PlanFinding): string =>
  Object.entries(evidence)
    .map(([key, value]) => `${key} ${value}`)
    .join(', ');

const noteText = ({ waived }: PlanFinding): string => {
  if (waived === undefined) return '';
  return waived.reason === undefined ? '  (waived)' : `  (waived: ${waived.reason})`;
};

const command = /^(?:aws|drover|kubectl|npx) /;

/** A command in the form in which it is typed; any other text is a sentence. */
const remedyText = ({ remedy }: PlanFinding): string =>
  command.test(remedy) ? `    $ ${remedy}` : `    ${remedy}`;

/** Wraps a sentence that is longer than the screen is wide, with an indent for each line. */
const wrapped = (text: string, first: string, others: string): readonly string[] => {
  const lines: string[] = [];
  let last = first;
  for (const word of text.split(' ')) {
    const isEmpty = last.trim() === '';
    const longer = isEmpty ? `${last}${word}` : `${last} ${word}`;
    if (longer.length > columns && !isEmpty) {
      lines.push(last);
      last = `${others}${word}`;
    } else last = longer;
  }
  return [...lines, last];
};

const remedyLines = (finding: PlanFinding): readonly string[] => {
  const text = remedyText(finding);
  return text.startsWith('    $ ') ? [text] : wrapped(finding.remedy, '    ', '    ');
};

const titleText = (finding: PlanFinding): string =>
  `  ${finding.check}  ${finding.object.kind} ${finding.object.name}${noteText(finding)}`;

const fullLines = (finding: PlanFinding): readonly string[] => {
  const where = whereText(finding, false);
  return [
    titleText(finding),
    `    ${finding.consequence.text}`,
    ...(where === '' ? [] : [`    ${where}`]),
    `    ${evidenceText(finding)}`,
    remedyText(finding),
  ];
};

const shortLines = (finding: PlanFinding): readonly string[] => {
  const where = whereText(finding, true);
  const title = titleText(finding);
  const isOne = title.length + where.length + 2 <= columns;
  return [
    ...(where === '' || !isOne ? [title] : [`${title}  ${where}`]),
    ...(where === '' || isOne ? [] : [`    ${where}`]),
    ...wrapped(finding.consequence.text, '    ', '    '),
    ...remedyLines(finding),
  ];
};

/** `local-data 2, timing 1`. */
const folded = (findings: readonly PlanFinding[]): string => {
  const counts = new Map<string, number>();
  for (const { check } of findings) counts.set(check, (counts.get(check) ?? 0) + 1);
  return [...counts].map(([check, count]) => `${check} ${count}`).join(', ');
};

const orderText = ({ order }: UpdatePlan): string =>
  order === 'random'
    ? 'in an order of chance, this is one of many'
    : 'the fullest zone first, by chance among equals';

const batchLine = (batch: UpdatePlan['batches'][number]): string => {
  const nodes = batch.nodes.map(({ name, zone }) => `${shortNode(name)} (${zone})`).join(' ');
  return `  ${batch.number}  min ${batch.startMinute} to ${batch.endMinute}  ${nodes}`;
};

/** The first batches, the last one, and the number of batches between them. */
const batchLines = (plan: UpdatePlan, space: number): readonly string[] => {
  const { batches } = plan;
  if (batches.length === 0 || space < 2) return [];
  const title = `BATCHES (${orderText(plan)})`;
  const room = space - 1;
  if (batches.length <= room) return [title, ...batches.map(batchLine)];
  const first = batches.slice(0, Math.max(1, room - 2)).map(batchLine);
  const last = batches.at(-1);
  const between = batches.length - first.length - 1;
  if (room < 3 || last === undefined) return [title, ...first];
  return [title, ...first, `     ... ${between} more`, batchLine(last)];
};

/** Rows that a line takes; commands are never truncated, so that they can be copied. */
const rowsOf = (line: string): number => Math.max(1, Math.ceil(line.length / columns));

const cut = (line: string): string =>
  line.length <= columns || line.startsWith('    $ ') ? line : `${line.slice(0, columns - 3)}...`;

const blockerLines = (blockers: readonly PlanFinding[], space: number): readonly string[] => {
  const lines: string[] = [];
  let used = 1;
  let shown = 0;
  for (const blocker of blockers) {
    const next = shortLines(blocker).map(cut);
    const height = next.reduce((all, line) => all + rowsOf(line), 0);
    // The first one is always printed in full.
    if (shown > 0 && used + height > space) break;
    lines.push(...next);
    used += height;
    shown += 1;
  }
  const more = blockers.length - shown;
  return [
    'BLOCKERS',
    ...lines,
    ...(more === 0 ? [] : [`  and ${more} more: ${folded(blockers.slice(shown))} (--details)`]),
  ].map(cut);
};

/** The order in which instance types are tried in each zone, and the types that are left out. */
const typeLines = ({ instanceTypes }: UpdatePlan): readonly string[] => {
  if (instanceTypes === undefined) return [];
  const { order, skipped } = instanceTypes;
  const left = skipped.map(({ type, message }) => `${type} left out: ${message}`);
  return [
    ...wrapped(`instance types in each zone: ${order.join(', else ')}`, '', '  '),
    ...left.flatMap((text) => wrapped(text, '  ', '    ')),
  ];
};

const holdText = ({ kind, reason }: UpdatePlan['holds'][number]): string =>
  `held by ${kind}: ${reason}`;

/** Further ones are folded. */
const maxToldApprovals = 3;

const approvalText = ({ wave, nodes, minute }: UpdatePlan['approvals'][number]): string =>
  wave === undefined
    ? 'before it begins'
    : `behind wave ${wave.number} of ${wave.of} (${plural(nodes, 'node')}, about minute ` +
      `${Math.round(minute)})`;

/**
 * When an operator has to approve: the median of the model (`-o json` has tenths of minutes). Holds
 * of the start are printed with the holds.
 */
const approvalsText = ({ approvals }: UpdatePlan, most: number): readonly string[] => {
  if (!approvals.some(({ wave }) => wave !== undefined)) return [];
  const more = approvals.length - most;
  const told = [
    ...approvals.slice(0, most).map(approvalText),
    ...(more > 0 ? [`and ${more} more (--details)`] : []),
  ].join(', ');
  const how = '`drover approve update`; minutes leave that time out';
  return [`an operator must approve ${told}: ${how}`];
};

const headLines = (plan: UpdatePlan, most = maxToldApprovals): readonly string[] => {
  const by = plan.managedBy === 'eks' ? ', managed by EKS' : '';
  return [
    verdictText(plan),
    `${plan.group} in ${plan.cluster}${by}: ${fromTo(plan, '->')}`,
    ...sumLines(plan),
    ...typeLines(plan),
    ...approvalsText(plan, most).flatMap((text) => wrapped(text, '', '  ')),
    ...plan.holds.flatMap((hold) => wrapped(holdText(hold), '', '  ')),
  ];
};

/** At most 80 columns (except for commands) and 23 rows, whatever was found. */
export const screenLines = (plan: UpdatePlan): readonly string[] => {
  const head = headLines(plan).map(cut);
  const blockers = bySeverity(plan, 'blocker');
  const warnings = bySeverity(plan, 'warning');
  const unread = bySeverity(plan, 'notChecked');
  const tail = [
    ...(warnings.length === 0 ? [] : [`WARNINGS  ${folded(warnings)}  (--details)`]),
    ...(unread.length === 0 ? [] : [`NOT CHECKED  ${unread.map(({ check }) => check).join(', ')}`]),
  ].map(cut);
  // Reserves lines for the order, and one for what is not shown.
  const forOrder = Math.min(3, plan.batches.length + 1);
  const space = rows - head.length - tail.length - forOrder - 1;
  const found = blockers.length === 0 ? [] : blockerLines(blockers, space);
  const used = [...head, ...found, ...tail].reduce((all, line) => all + rowsOf(line), 0);
  return [...head, ...found, ...tail, ...batchLines(plan, rows - used).map(cut)];
};

const section = (title: string, findings: readonly PlanFinding[]): readonly string[] =>
  findings.length === 0 ? [] : ['', title, ...findings.flatMap(fullLines)];

/** Everything, however long. */
export const detailLines = (plan: UpdatePlan): readonly string[] => [
  ...headLines(plan, plan.approvals.length),
  ...section('BLOCKERS', bySeverity(plan, 'blocker')),
  ...section('WARNINGS', bySeverity(plan, 'warning')),
  ...section(
    'WAIVED',
    plan.findings.filter(({ waived }) => waived !== undefined),
  ),
  ...section('NOT CHECKED', bySeverity(plan, 'notChecked')),
  ...(plan.batches.length === 0 ? [] : ['', `BATCHES (${orderText(plan)})`]),
  ...plan.batches.map(batchLine),
  ...(plan.assumptions.length === 0 ? [] : ['', 'ASSUMED']),
  ...plan.assumptions.map(
    ({ what, p50Seconds, p90Seconds, source }) =>
      `  ${what}: ${p50Seconds} s (p50), ${p90Seconds} s (p90), ${source}`,
  ),
  '',
  `hash ${plan.hash}`,
];

const cell = (text: string): string => text.replaceAll('|', '\\|');

const findingRow = (finding: PlanFinding): string => {
  const { check, severity, object, consequence, remedy, waived } = finding;
  const what = waived === undefined ? severity : `${severity}, waived`;
  const where = whereText(finding, false);
  const cells = [what, check, `${object.kind} ${object.name}`, consequence.text, where];
  const last = command.test(remedy) ? `\`${cell(remedy)}\`` : cell(remedy);
  return `| ${cells.map(cell).join(' | ')} | ${last} |`;
};

/** For a pull request or a ticket. */
export const markdownLines = (plan: UpdatePlan): readonly string[] => [
  `## ${plan.group}: ${fromTo(plan, 'to')}`,
  '',
  `**${verdictText(plan)}**`,
  '',
  ...sumLines(plan).map((line) => `- ${line}`),
  ...[...approvalsText(plan, plan.approvals.length), ...plan.holds.map(holdText)].map(
    (line) => `- ${line}`,
  ),
  ...(plan.findings.length === 0
    ? []
    : ['', '| | check | object | what happens | where | remedy |', '|---|---|---|---|---|---|']),
  ...plan.findings.map(findingRow),
  ...(plan.batches.length === 0
    ? []
    : ['', `Order: ${orderText(plan)}.`, '', '| batch | minutes | nodes |', '|---|---|---|']),
  ...plan.batches.map(
    ({ number, startMinute, endMinute, nodes }) =>
      `| ${number} | ${startMinute} to ${endMinute} | ` +
      `${nodes.map(({ name }) => name).join(', ')} |`,
  ),
  '',
  `Plan ${plan.hash} of ${plan.plannedAt}.`,
];
