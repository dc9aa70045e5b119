// Turns the events of a world into lines for a new reader: time, actor, action. It prints the
// controllers' journal, the actions of Auto Scaling and kubelets, and those that the story states
// for its operators.
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { TraceEntry } from '../../src/api/trace.ts';
import type { Journal, JournalEntry } from '../../src/ports/index.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { testStart } from '../builders/runtime.ts';
import type { GroupLife } from '../support/nodegroup-world.ts';
import { type Deed, deedOf, deedOfTrace, type Names, readyDeed, text } from './deeds.ts';

interface Line extends Deed {
  readonly at: number;
}

/** Events of one kind within this time share a line. */
const togetherSeconds = 3;
const columns = 100;
const groupLabel = 'eks.amazonaws.com/nodegroup';
const actorWidth = 13;

const timeText = (seconds: number): string => {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)];
  return `+${String(minutes).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
};

const byNumber = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

const listText = (items: readonly string[]): string => {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
};

const aboutText = ({ about, count, isInOrder }: Line): string => {
  const all = [...new Set(about)];
  const unique = isInOrder === true ? all : all.toSorted(byNumber);
  return count === true
    ? `${unique.length} ${unique.length === 1 ? 'pod' : 'pods'}`
    : listText(unique);
};

/** Continuation lines of a long line are indented below its first words. */
const wrapped = (head: string, words: string): string => {
  const lines = [head];
  for (const word of words.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length < columns) lines[lines.length - 1] = `${last}${word} `;
    else lines.push(`${' '.repeat(head.length)}${word} `);
  }
  return lines.map((line) => line.trimEnd()).join('\n');
};

const keyOf = ({ actor, says, about }: Deed): string => `${actor} ${says} ${about.join()}`;

export class Teller implements Journal {
  readonly #lines: Line[] = [];
  readonly #nodes = new Map<string, string>();
  readonly #pods = new Map<string, string>();
  readonly #told = new Set<string>();
  readonly #hasHooks: boolean;
  #life: GroupLife | undefined;
  #startedAt = 0;
  #desired = 0;

  /** `hasHooks`: the story prints lifecycle hooks of instances. */
  constructor({ hasHooks }: { readonly hasHooks: boolean }) {
    this.#hasHooks = hasHooks;
  }

  /** Starts the story: existing nodes are named n1, n2, ... */
  begin(life: GroupLife): void {
    this.#life = life;
    this.#startedAt = life.seconds;
    for (const node of life.nodes()) {
      this.#node(node);
      const name = text(objectOr(node.metadata).name);
      this.#told.add(keyOf(readyDeed(this.#names.node(name))));
    }
    this.#desired = life.group()?.status?.desired ?? 0;
    const recorder = new TraceRecorder(() => life.world.kernel.now());
    recorder.attach(life.world);
    const push = recorder.entries.push.bind(recorder.entries);
    recorder.entries.push = (...entries: TraceEntry[]): number => {
      for (const entry of entries) this.#trace(entry);
      return push(...entries);
    };
  }

  /** Adds a line for an action of an operator or the cloud. */
  says(actor: string, what: string): void {
    this.#tell({ actor, says: what, about: [] });
  }

  record(entry: Omit<JournalEntry, 'at'>): void {
    if (this.#life === undefined) return;
    const deed = deedOf(entry, this.#names);
    if (deed !== undefined) this.#tell(deed);
  }

  /** The complete story under its title. */
  text(title: string): string {
    return `# ${title}\n${this.#lines.map((line) => this.#text(line)).join('\n')}\n`;
  }

  /** Pods get short names, and times count from the start. */
  #text(line: Line): string {
    const says = line.says
      .replace('{}', aboutText(line))
      .replaceAll(/default\/web-\w+-\w+/g, (pod) => this.#names.pod(pod))
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
        timeText(Math.max(0, Date.parse(time) / 1000 - testStart / 1000 - this.#startedAt)),
      );
    return wrapped(`${timeText(line.at)} ${line.actor.padEnd(actorWidth)}`, says);
  }

  get #names(): Names {
    return {
      instance: (id) => this.#nodes.get(id) ?? this.#nextNode(id),
      node: (name) => this.#nodes.get(name) ?? name,
      pod: (name) => {
        const known = this.#pods.get(name) ?? `p${this.#pods.size + 1}`;
        this.#pods.set(name, known);
        return known;
      },
    };
  }

  #nextNode(instanceId: string): string {
    const name = `n${new Set(this.#nodes.values()).size + 1}`;
    this.#nodes.set(instanceId, name);
    return name;
  }

  #node({ metadata, spec }: JsonObject): void {
    const name = text(objectOr(metadata).name);
    const instanceId = text(objectOr(spec).providerID).split('/').at(-1) ?? '';
    if (instanceId !== '') this.#nodes.set(name, this.#names.instance(instanceId));
  }

  #trace(entry: TraceEntry): void {
    if (entry.kind === 'object' && entry.resource === 'nodes') {
      const labels = objectOr(objectOr(entry.object.metadata).labels);
      if (labels[groupLabel] !== 'ng') return;
      this.#node(entry.object);
    }
    if (entry.kind === 'scaling') {
      // A termination that decrements the size has its own line.
      const isNew = entry.desired !== this.#desired && entry.desired !== this.#desired - 1;
      this.#desired = entry.desired;
      if (!isNew) return;
    }
    for (const deed of deedOfTrace(entry, this.#names)) this.#tell(deed);
  }

  #tell(deed: Deed): void {
    const key = keyOf(deed);
    if (deed.isOfHook === true && !this.#hasHooks) return;
    if (deed.once === true && this.#told.has(key)) return;
    this.#told.add(key);
    const at = (this.#life?.seconds ?? 0) - this.#startedAt;
    const index = this.#lines.findLastIndex(
      ({ actor, says }) => actor === deed.actor && says === deed.says,
    );
    const same = this.#lines[index];
    const isLast = index === this.#lines.length - 1;
    const isApart = at - (same?.at ?? 0) > togetherSeconds || (deed.isInOrder === true && !isLast);
    if (same === undefined || isApart || !deed.says.includes('{}')) {
      this.#lines.push({ ...deed, at });
    } else this.#lines[index] = { ...same, about: [...same.about, ...deed.about] };
  }
}
