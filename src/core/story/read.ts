// Reads audit events (audit.k8s.io/v1) into the steps of each node's history: joined, labelled,
// cordoned, pods placed, evicted, refused, gone, deleted. Keeps each step with its actor; reports
// no problems.
import { defined } from '../../api/defined.ts';
import { isObject, type Json, type JsonObject, objectOr } from '../../api/json.ts';
import { nodeGroupLabels } from '../../api/nodegroup.ts';

export type StepKind =
  | 'joined'
  | 'ready'
  | 'notReady'
  | 'excluded'
  | 'included'
  | 'cordoned'
  | 'uncordoned'
  | 'labelled'
  | 'tainted'
  | 'placed'
  | 'evicted'
  | 'refused'
  | 'podDeleted'
  | 'deleted';

export interface Step {
  /** When the API server answered, epoch milliseconds. */
  readonly at: number;
  readonly kind: StepKind;
  readonly user: string;
  readonly agent: string;
  /** `namespace/name` */
  readonly pod?: string;
  /** Details of the step: labels, taints, the budget's message. */
  readonly detail?: string;
}

export interface NodeRecord {
  readonly name: string;
  readonly group: string | undefined;
  readonly steps: readonly Step[];
}

/** A limit for logs of millions of events; later steps of nodes and pods are dropped. */
const maxSteps = 500_000;
export const exclusionLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';
/** Labels written with every heartbeat or by every kubelet; they are not steps. */
const dullLabels =
  /^(?:beta\.kubernetes\.io|kubernetes\.io|topology\.|failure-domain\.|node\.kubernetes\.io\/instance-type)/;

interface Entry {
  group: string | undefined;
  ready: string | undefined;
  unschedulable: boolean | undefined;
  excluded: boolean | undefined;
  taints: string;
  readonly steps: Step[];
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export class StoryReader {
  readonly #nodes = new Map<string, Entry>();
  readonly #nodeOfPod = new Map<string, string>();
  readonly #podSteps: (Step & { readonly pod: string })[] = [];
  #count = 0;
  #firstMs: number | undefined;
  #lastMs: number | undefined;

  /** True when the limit is reached: later steps are dropped. */
  get isFull(): boolean {
    return this.#count >= maxSteps;
  }

  /** From the first event to the last, epoch milliseconds; undefined for an empty log. */
  get span(): { readonly from: number; readonly to: number } | undefined {
    if (this.#firstMs === undefined || this.#lastMs === undefined) return undefined;
    return { from: this.#firstMs, to: this.#lastMs };
  }

  /**
   * Adds one event. The events of one log must come in the order of the log; its resources may be
   * mixed.
   */
  add(event: JsonObject, at: number): void {
    this.#firstMs = Math.min(this.#firstMs ?? at, at);
    this.#lastMs = Math.max(this.#lastMs ?? at, at);
    const { verb, stage } = event;
    if (stage !== undefined && stage !== 'ResponseComplete') return;
    if (verb === 'get' || verb === 'list' || verb === 'watch') return;
    if (text(event.requestURI).includes('dryRun=')) return;
    const reference = objectOr(event.objectRef);
    if (this.isFull) return;
    const by = { at, user: text(objectOr(event.user).username), agent: text(event.userAgent) };
    const code = Number(objectOr(event.responseStatus).code ?? 0);
    if (reference.resource === 'nodes') this.#node(event, reference, code, by);
    else if (reference.resource === 'pods') this.#pod(event, reference, code, by);
  }

  #entry(name: string): Entry {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const entry: Entry = {
      group: undefined,
      ready: undefined,
      unschedulable: undefined,
      excluded: undefined,
      taints: '',
      steps: [],
    };
    this.#nodes.set(name, entry);
    return entry;
  }

  #node(event: JsonObject, reference: JsonObject, code: number, by: Omit<Step, 'kind'>): void {
    const name = text(reference.name);
    if (name === '' || code >= 400) return;
    const entry = this.#entry(name);
    const say = (kind: StepKind, detail?: string): void => {
      this.#count++;
      entry.steps.push({ ...by, kind, ...defined({ detail }) });
    };
    const asked = objectOr(event.requestObject);
    this.#learnGroup(entry, asked, objectOr(event.responseObject));
    if (event.verb === 'create') {
      say('joined');
      return;
    }
    if (event.verb === 'delete') {
      say('deleted');
      return;
    }
    if (reference.subresource === 'status') tellReady(entry, asked, say);
    else if (reference.subresource === undefined)
      tellMarks(entry, asked, event.verb === 'update', say);
  }

  #learnGroup(entry: Entry, ...objects: readonly JsonObject[]): void {
    for (const object of objects) {
      const labels = objectOr(objectOr(object.metadata).labels);
      for (const label of nodeGroupLabels) {
        const value = labels[label];
        if (typeof value === 'string') entry.group ??= value;
      }
    }
  }

  #pod(event: JsonObject, reference: JsonObject, code: number, by: Omit<Step, 'kind'>): void {
    const pod = `${text(reference.namespace)}/${text(reference.name)}`;
    const say = (kind: StepKind, detail?: string): void => {
      this.#count++;
      this.#podSteps.push({ ...by, kind, pod, ...defined({ detail }) });
    };
    if (reference.subresource === 'binding') {
      const node = text(objectOr(objectOr(event.requestObject).target).name);
      if (code >= 400 || node === '') return;
      this.#nodeOfPod.set(pod, node);
      say('placed');
    } else if (reference.subresource === 'eviction' && event.verb === 'create') {
      if (code < 300) say('evicted');
      else if (code === 429) say('refused', budgetOf(event));
    } else if (reference.subresource === 'status' && by.user.startsWith('system:node:')) {
      // A kubelet writes the status of its own pods only.
      this.#nodeOfPod.set(pod, by.user.slice('system:node:'.length));
    } else if (reference.subresource === undefined && event.verb === 'delete' && code < 300) {
      if (by.user.startsWith('system:node:')) {
        this.#nodeOfPod.set(pod, by.user.slice('system:node:'.length));
      }
      say('podDeleted');
    }
  }

  /** Each node with its steps in order; omits pods whose node is unknown. */
  nodes(): readonly NodeRecord[] {
    const podSteps = new Map<string, Step[]>();
    for (const step of this.#podSteps) {
      const node = this.#nodeOfPod.get(step.pod);
      if (node === undefined) continue;
      const steps = podSteps.get(node) ?? [];
      podSteps.set(node, steps);
      steps.push(step);
    }
    return [...this.#nodes].map(([name, { group, steps }]) => ({
      name,
      group,
      steps: [...steps, ...(podSteps.get(name) ?? [])].sort((a, b) => a.at - b.at),
    }));
  }

  /** Pods that were evicted or refused without a known node. */
  homeless(): readonly string[] {
    const pods = this.#podSteps
      .filter(({ kind }) => kind === 'evicted' || kind === 'refused')
      .map(({ pod }) => pod);
    return [...new Set(pods)].filter((pod) => !this.#nodeOfPod.has(pod));
  }
}

type Say = (kind: StepKind, detail?: string) => void;

const tellReady = (entry: Entry, asked: JsonObject, say: Say): void => {
  const { conditions } = objectOr(asked.status);
  const ready = (Array.isArray(conditions) ? conditions : []).find(
    (one) => isObject(one) && one.type === 'Ready',
  );
  const status = text(objectOr(ready).status);
  if (status === '' || status === entry.ready) return;
  entry.ready = status;
  const reason = text(objectOr(ready).reason);
  if (status === 'True') say('ready');
  else say('notReady', reason === '' ? status : reason);
};

/** In a complete object (`update`) an absent field is unset; in a patch it is unchanged. */
const tellMarks = (entry: Entry, asked: JsonObject, isWhole: boolean, say: Say): void => {
  const labels = objectOr(objectOr(asked.metadata).labels);
  const spec = objectOr(asked.spec);
  const label = labels[exclusionLabel];
  if (label !== undefined || (isWhole && entry.excluded !== undefined)) {
    const excluded = label !== undefined && label !== null;
    if (excluded !== (entry.excluded ?? false)) say(excluded ? 'excluded' : 'included');
    entry.excluded = excluded;
  }
  if ('unschedulable' in spec || (isWhole && entry.unschedulable !== undefined)) {
    const unschedulable = spec.unschedulable === true;
    if (unschedulable !== (entry.unschedulable ?? false)) {
      say(unschedulable ? 'cordoned' : 'uncordoned');
    }
    entry.unschedulable = unschedulable;
  }
  if (isWhole) return;
  const others = Object.entries(labels).filter(
    ([key]) => key !== exclusionLabel && !dullLabels.test(key),
  );
  if (others.length > 0) {
    say(
      'labelled',
      others
        .map(([key, value]) => (value === null ? `${key}-` : `${key}=${String(value)}`))
        .join(' '),
    );
  }
  const taints = (Array.isArray(spec.taints) ? spec.taints : [])
    .filter(isObject)
    .map(
      (taint) => `${text(taint.key)}:${text(taint.effect)}${taint.$patch === 'delete' ? '-' : ''}`,
    )
    .join(' ');
  if (Array.isArray(spec.taints) && taints !== entry.taints) {
    say('tainted', taints === '' ? 'none left' : taints);
    entry.taints = taints;
  }
};

/** The budget named by the API server: in the causes, else in the message. */
const budgetOf = (event: JsonObject): string => {
  const statuses = [event.responseObject, event.responseStatus].map(objectOr);
  for (const status of statuses) {
    const { causes } = objectOr(status.details);
    const cause = (Array.isArray(causes) ? causes : [])
      .filter(isObject)
      .find(({ reason }) => reason === 'DisruptionBudget');
    if (cause !== undefined) return text(cause.message);
  }
  return statuses.map(({ message }) => text(message)).find((one) => one !== '') ?? 'a budget';
};
