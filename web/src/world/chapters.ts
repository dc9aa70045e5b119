// The guided tour as data: four chapters of steps. A step states what happens, the request to the
// world, where to look, and which rows show that it has happened.
import { link } from '../route.ts';
import { journal, tables } from '../store.ts';

export interface Step {
  readonly text: string;
  /** A request to the world: an action of the tour, or seconds to advance. */
  readonly ask?: { readonly label: string; readonly act: string };
  readonly ahead?: { readonly label: string; readonly seconds: number };
  readonly look?: { readonly label: string; readonly at: () => string };
  /** What must be observed before the tour continues, and whether it was. */
  readonly waits: string;
  readonly isSeen: () => boolean;
}

export interface Chapter {
  readonly title: string;
  readonly steps: readonly Step[];
}

const group = 'demo-ng';
const drains = () => tables.drain.all.value.filter((row) => row.group === group);
const members = () => tables.node.all.value.filter((row) => row.group === group);
const updates = () => tables.update.all.value.filter((row) => row.group === group);
const repairs = () => tables.repair.all.value.filter((row) => row.group === group);
const openDrain = () => drains().find(({ phase }) => phase !== 'Ended');
const sick = () => members().find(({ letter }) => letter === 'X');

const drain: Chapter = {
  title: 'How a terminating node is drained',
  steps: [
    {
      text: 'Auto Scaling wants to terminate an instance of demo-ng. Its lifecycle hook keeps the instance until Drover has moved the pods.',
      ask: { label: 'Terminate the instance', act: 'terminate' },
      waits: 'a drain of demo-ng',
      isSeen: () => drains().length > 0,
    },
    {
      text: 'Before the first eviction the node leaves the load balancers and is cordoned, so that no request and no new pod reaches it. The journal shows that order.',
      look: { label: 'Open the journal', at: () => link('journal') },
      waits: 'the first eviction',
      isSeen: () => journal.value.entries.some(({ type }) => type === 'pod:evicted'),
    },
    {
      text: 'When the last pod has left, Drover completes the hook, and Auto Scaling terminates the instance.',
      look: { label: 'Open the drains', at: () => link('drains') },
      ahead: { label: 'Run 2 minutes ahead', seconds: 120 },
      waits: 'the end of the drain',
      isSeen: () => drains().some(({ phase }) => phase === 'Ended'),
    },
  ],
};

const join: Chapter = {
  title: 'What a managed node group sets up',
  steps: [
    {
      text: 'The group is asked for four nodes. Auto Scaling launches instances; each boots, asks for a certificate and registers itself.',
      ask: { label: 'Ask for 4 nodes', act: 'grow' },
      look: { label: 'Open the group', at: () => link('group', group) },
      waits: 'four nodes of demo-ng',
      isSeen: () => members().length >= 4,
    },
    {
      text: 'A joining node waits for its network. The letter J becomes blank when it is Ready.',
      ahead: { label: 'Run 1 minute ahead', seconds: 60 },
      waits: 'four nodes that are Ready',
      isSeen: () => members().filter(({ letter }) => letter === '').length >= 4,
    },
    {
      text: 'A managed group labels its nodes, sets the kubelet up and enters the node role in aws-auth. The self-managed group has none of that: `kubectl get nodes --show-labels` compares them.',
      look: { label: 'Open the self-managed group', at: () => link('group', 'demo-self-ng') },
      waits: 'both kinds of nodes',
      isSeen: () => members().length >= 4,
    },
  ],
};

const update: Chapter = {
  title: 'How an update replaces nodes, and what stops it',
  steps: [
    {
      text: 'First nginx gets pods in every group, and a budget forbids each of their evictions: the most common cause of a failed update.',
      ask: { label: 'Forbid evictions', act: 'forbid' },
      look: { label: 'Open the budgets', at: () => link('budgets') },
      waits: 'the budget demo/tour-guard',
      isSeen: () => tables.budget.all.value.some(({ key }) => key === 'demo/tour-guard'),
    },
    {
      text: 'The group is asked for the newest release. New nodes start first; then the old ones are drained in batches.',
      ask: { label: 'Begin the update', act: 'update' },
      waits: 'an update of demo-ng',
      isSeen: () => updates().length > 0,
    },
    {
      text: 'The update stands, and says at which pod, for which budget, since when, and when it would fail.',
      look: { label: 'Open the update', at: () => link('update', updates().at(-1)?.key ?? '') },
      ahead: { label: 'Run 4 minutes ahead', seconds: 240 },
      waits: 'a node that waits for the budget',
      isSeen: () => members().some(({ wait }) => wait?.cause.includes('demo/tour-guard') === true),
    },
    {
      text: 'Without the budget the evictions go on at once.',
      ask: { label: 'Allow evictions', act: 'allow' },
      ahead: { label: 'Run 15 minutes ahead', seconds: 900 },
      waits: 'the end of the update',
      isSeen: () => updates().some(({ status }) => status === 'Successful'),
    },
  ],
};

const repair: Chapter = {
  title: 'How a node is repaired',
  steps: [
    {
      text: 'Node repair is switched on, and an iptables rule drops the packets of one node. When its token expires, after 14 minutes, its kubelet falls silent.',
      ask: { label: 'Drop its packets', act: 'silence' },
      ahead: { label: 'Run 15 minutes ahead', seconds: 900 },
      waits: 'a node that is unhealthy',
      isSeen: () => sick() !== undefined || repairs().length > 0,
    },
    {
      text: 'A node is not replaced at the first sign: the repair waits 30 minutes, and says until when.',
      look: { label: 'Open the node', at: () => link('node', sick()?.key ?? '') },
      ahead: { label: 'Run 30 minutes ahead', seconds: 1_800 },
      waits: 'the drain for the repair',
      isSeen: () => drains().some(({ causes }) => causes.includes('Repair')),
    },
    {
      text: 'The node is drained and its instance replaced. The others serve on.',
      look: { label: 'Open drains and repairs', at: () => link('drains') },
      ahead: { label: 'Run 15 minutes ahead', seconds: 900 },
      waits: 'the end of the repair',
      isSeen: () => repairs().some(({ ended }) => ended !== null) && openDrain() === undefined,
    },
  ],
};

export const chapters: readonly Chapter[] = [drain, join, update, repair];
