// The text of each entry of the controllers' journal and of a trace. Reasons and blockers are in
// the controllers' own words.
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { TraceEntry } from '../../src/api/trace.ts';
import type { JournalEntry } from '../../src/ports/index.ts';

export interface Deed {
  readonly actor: string;
  /** Template; `{}` stands for the objects in `about`. */
  readonly says: string;
  readonly about: readonly string[];
  /** The line counts pods instead of naming them. */
  readonly count?: true;
  /** A repetition gets no line. */
  readonly once?: true;
  /** The entry is about a lifecycle hook. */
  readonly isOfHook?: true;
  /** The entry may only be merged into the last line. */
  readonly isInOrder?: true;
}

/** Short names: n1 for a node and its instance, p1 for a pod. */
export interface Names {
  instance(id: string): string;
  node(name: string): string;
  pod(name: string): string;
}

const controller = 'controller';
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const by = (says: string, ...about: readonly string[]): Deed => ({
  actor: controller,
  says,
  about,
});

/** The effect of each kind of update step on its node. */
const stepSays: Readonly<Record<string, string>> = {
  Hold: 'marks {} and evicts nothing yet',
  Lift: 'starts to drain {}, which was held',
  Replace: 'starts to replace {}',
  Retire: 'starts to remove {}',
  LetGo: 'lets {} be terminated',
  Empty: 'starts to drain {}, which it keeps as the old side',
  Discourage: 'adds the PreferNoSchedule taint to {}',
  Encourage: 'removes the PreferNoSchedule taint from {}',
  Shield: 'adds the scale-down-disabled annotation to {}',
  Unshield: 'removes the scale-down-disabled annotation from {}',
  Quarantine: 'labels {} as quarantined',
  Withdraw: 'cancels the drain of {}',
};

const stepDeed = (kind: string, facts: JsonObject, names: Names): Deed | undefined => {
  const node = text(facts.nodeName);
  const about = node === '' ? names.instance(text(facts.instanceId)) : names.node(node);
  const says = stepSays[kind];
  if (says !== undefined) {
    const isHard = facts.effect === 'NoSchedule';
    return by(isHard ? says.replace('PreferNoSchedule', 'NoSchedule') : says, about);
  }
  if (kind === 'Lower') return by(`sets the desired size to ${String(facts.desired)}`);
  if (kind === 'RestoreTemplate') return by('restores the launch template of the old release');
  return undefined;
};

const phaseDeed = (
  { subject, facts }: Pick<JournalEntry, 'subject' | 'facts'>,
  names: Names,
): Deed | undefined => {
  const { from, to, outcome, message } = facts;
  const node = names.instance(subject);
  const isAgain = /^empty already/.test(text(message));
  if (to === 'Completing' && !isAgain) {
    return { ...by(`ends the drain of {}: ${text(outcome)}, ${text(message)}`, node), once: true };
  }
  if (to === 'Ended' && outcome === 'Cancelled' && from === 'Undoing') {
    return by('ends the drain of {}: Cancelled', node);
  }
  return undefined;
};

const noticeSays: Readonly<Record<string, string>> = {
  LifecycleHook: 'receives the hook notice of {}',
  SpotInterruption: 'receives a spot interruption notice for {}',
};

const podDeed = (type: string, facts: JsonObject, names: Names): Deed | undefined => {
  const node = names.node(text(facts.node));
  const pod = names.pod(text(facts.pod));
  switch (type) {
    case 'pod:evicted':
      return { actor: controller, says: `evicts {} from ${node}`, about: [pod], count: true };
    case 'pod:deleted':
      return { actor: controller, says: `deletes {} of ${node}`, about: [pod], count: true };
    default: {
      const says = `cannot evict a pod from ${node}: ${text(facts.message)}`;
      return { actor: controller, says, about: [], once: true };
    }
  }
};

/** Undefined: the entry gets no line. */
export const deedOf = (
  { type, subject, facts }: Omit<JournalEntry, 'at'>,
  names: Names,
): Deed | undefined => {
  const step = /^nodegroup:update:(\w+)$/.exec(type)?.[1];
  if (step !== undefined) return stepDeed(step, facts, names);
  if (type.startsWith('pod:')) return podDeed(type, facts, names);
  switch (type) {
    case 'node:patched':
      return by(`patches ${names.node(text(facts.node))}: {}`, text(facts.why));
    case 'disruption:phase':
      return phaseDeed({ subject, facts }, names);
    case 'disruption:taken':
      return by('continues the drain of {} as the new leader', names.instance(subject));
    case 'drain:progress': {
      const [first] = facts.waitingOn as readonly string[];
      if (first === undefined) return undefined;
      const says = `waits on ${names.node(text(facts.node))}: ${first}`;
      return { actor: controller, says, about: [], once: true };
    }
    case 'drain:forcing':
      return by('deletes what is left on {} from now on', names.node(text(facts.node)));
    case 'notice:recorded': {
      const says = noticeSays[text(facts.kind)];
      const node = names.instance(subject);
      if (says === undefined) return undefined;
      const isOfHook = facts.kind === 'LifecycleHook' ? { isOfHook: true as const } : {};
      return { actor: controller, says, about: [node], once: true, ...isOfHook };
    }
    case 'instance:terminated':
    case 'nodegroup:scale-in:terminate': {
      const node = names.instance(text(facts.instanceId));
      const isSmaller = facts.decrementDesired !== false;
      return by(
        `terminates {}; the group ${isSmaller ? 'becomes one smaller' : 'starts another'}`,
        node,
      );
    }
    case 'nodegroup:scale-in:drain':
      return by('starts to drain {}', names.instance(text(facts.instanceId)));
    case 'lifecycle:launch:completed':
    case 'hook:completed':
      return {
        ...by(`completes ${text(facts.hook)} of {}`, names.instance(subject)),
        isOfHook: true,
      };
    case 'nodegroup:state':
      return by(`reports node group ${subject} as ${text(facts.to)}`);
    case 'nodegroup:removed':
      return by(`deletes the Auto Scaling group of ${subject}`);
    default:
      return undefined;
  }
};

const lifecycleSays: Readonly<Record<string, string>> = {
  Pending: 'starts {}',
  'Pending:Wait': 'keeps {} in its launch hook',
  'Terminating:Wait': 'keeps {} in its termination hook',
  Terminated: 'has terminated {}',
};

export const readyDeed = (node: string): Deed => ({
  actor: 'kubelet',
  says: 'reports {} as Ready',
  about: [node],
  once: true,
});

const isReady = (node: JsonObject): boolean =>
  (objectOr(node.status).conditions as readonly JsonObject[] | undefined)?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  ) === true;

const issuesText = (status: JsonObject): string => {
  const [issue] = (status.errors as readonly JsonObject[] | undefined) ?? [];
  const why = text(status.message) || text(issue?.message);
  const code = issue === undefined ? '' : ` (${text(issue.code)})`;
  return why === '' ? code : `${code}: ${why}`;
};

const updateDeeds = ({ spec, status: told }: JsonObject): readonly Deed[] => {
  const status = objectOr(told);
  const what = objectOr(spec).action === 'Rollback' ? 'rollback' : 'update';
  const phase = text(status.phase);
  if (phase === '') return [];
  if (text(status.status) === 'InProgress') {
    const strategy = text(status.strategy);
    const how = phase === 'Preparing' && strategy !== '' ? ` (${strategy})` : '';
    return [{ ...by(`${what} enters {}`, `${phase}${how}`), once: true, isInOrder: true }];
  }
  return [{ ...by(`${what} ends: ${text(status.status)}${issuesText(status)}`), once: true }];
};

/** The entries of a trace that get lines. */
export const deedOfTrace = (entry: TraceEntry, names: Names): readonly Deed[] => {
  const scaling = 'Auto Scaling';
  switch (entry.kind) {
    case 'lifecycle': {
      const says = entry.hookEnded === undefined ? lifecycleSays[entry.state] : undefined;
      if (says === undefined) return [];
      const isOfHook = entry.state !== 'Pending' ? { isOfHook: true as const } : {};
      return [{ actor: scaling, says, about: [names.instance(entry.instanceId)], ...isOfHook }];
    }
    case 'scaling': {
      const says = `has desired size ${entry.desired}, maximum ${entry.maxSize}`;
      return [{ actor: scaling, says, about: [] }];
    }
    case 'object': {
      const { resource, object, type } = entry;
      if (resource === 'nodegroupupdates' && type !== 'DELETED') return updateDeeds(object);
      const node = names.node(text(objectOr(object.metadata).name));
      if (resource !== 'nodes' || type === 'DELETED' || !isReady(object)) return [];
      return [readyDeed(node)];
    }
    default:
      return [];
  }
};
