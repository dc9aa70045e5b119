// A row in the pipeline: its event, if it still has one, and the values that commands have added.
// Names are array slots that are resolved when the query is compiled.

import type { Json } from '../../api/json.ts';
import { type LogEvent, pathReader } from './event.ts';
import { Instant, type Value } from './values.ts';

export class Row {
  readonly event: LogEvent | undefined;
  readonly slots: Value[];
  /** Order of arrival, which breaks ties in a sort. */
  order: number;

  constructor(event: LogEvent | undefined, slots: Value[], order: number) {
    this.event = event;
    this.slots = slots;
    this.order = order;
  }

  copy(): Row {
    return new Row(this.event, [...this.slots], this.order);
  }
}

export type Read = (row: Row) => Value;

const systemFields: Readonly<Record<string, (event: LogEvent) => Value>> = {
  '@timestamp': ({ timeMs }) => (timeMs === undefined ? undefined : new Instant(timeMs)),
  // For files, the ingestion time is the event's own time.
  '@ingestionTime': ({ timeMs }) => (timeMs === undefined ? undefined : new Instant(timeMs)),
  '@message': (event) => event.message,
  '@logStream': (event) => event.source.stream,
  '@log': (event) => event.source.log,
  '@ptr': (event) => event.pointer,
};

/** The prefix of names after a `join`. */
export interface Side {
  readonly has: (name: string) => boolean;
  readonly listed: readonly string[];
  readonly read: (name: string, path: readonly string[]) => Read;
}

/** The meaning of names at one point of the query. */
export class Names {
  readonly #slots: ReadonlyMap<string, number>;
  readonly #counter: { count: number };
  /** False after `stats`, which removes unnamed fields. */
  readonly isOpen: boolean;
  readonly #sides: ReadonlyMap<string, Side>;

  constructor(
    slots: ReadonlyMap<string, number> = new Map(),
    counter: { count: number } = { count: 0 },
    isOpen = true,
    sides: ReadonlyMap<string, Side> = new Map(),
  ) {
    this.#slots = slots;
    this.#counter = counter;
    this.isOpen = isOpen;
    this.#sides = sides;
  }

  /** Adds a slot; an earlier one of the same name is hidden, not changed. */
  with(name: string): { readonly names: Names; readonly slot: number } {
    const slot = this.#counter.count++;
    const slots = new Map(this.#slots).set(name, slot);
    return { names: new Names(slots, this.#counter, this.isOpen, this.#sides), slot };
  }

  /** The names after `stats`. */
  closed(names: readonly string[]): { readonly names: Names; readonly slots: readonly number[] } {
    const places = names.map((name, index) => [name, index] as const);
    return {
      names: new Names(new Map(places), { count: names.length }, false),
      slots: places.map(([, slot]) => slot),
    };
  }

  /** These names, plus the names of both sides of a `join`. */
  joined(sides: ReadonlyMap<string, Side>): Names {
    return new Names(this.#slots, this.#counter, this.isOpen, sides);
  }

  /** A slot without a name. */
  unnamed(): number {
    return this.#counter.count++;
  }

  get listed(): readonly string[] {
    const ofSides = [...this.#sides].flatMap(([name, { listed }]) =>
      listed.map((one) => `${name}.${one}`),
    );
    return [...this.#slots.keys(), ...ofSides];
  }

  has(name: string): boolean {
    const of = this.#side(name);
    if (of !== undefined) return of.side.has(of.rest);
    return this.isOpen || this.#owner(name.split('.')) !== undefined;
  }

  /** A name that a later command defined takes precedence over the side's. */
  #side(name: string): { readonly side: Side; readonly rest: string } | undefined {
    const dot = name.indexOf('.');
    const side = dot === -1 ? undefined : this.#sides.get(name.slice(0, dot));
    if (side === undefined || this.#slots.has(name)) return undefined;
    return { side, rest: name.slice(dot + 1) };
  }

  #owner(
    path: readonly string[],
  ): { readonly slot: number; readonly rest: readonly string[] } | undefined {
    for (let length = path.length; length > 0; length--) {
      const slot = this.#slots.get(path.slice(0, length).join('.'));
      if (slot !== undefined) return { slot, rest: path.slice(length) };
    }
    return undefined;
  }

  read(name: string, path: readonly string[]): Read {
    const of = this.#side(name);
    if (of !== undefined) {
      const { side, rest } = of;
      return side.read(rest, path.length > 1 ? path.slice(1) : [rest]);
    }
    const owner = this.#owner(name.split('.'));
    if (owner !== undefined) {
      const { slot, rest } = owner;
      if (rest.length === 0) return (row) => row.slots[slot];
      const below = pathReader(rest);
      return (row) => below(structureOf(row.slots[slot]));
    }
    if (!this.isOpen) return () => undefined;
    const system = Object.hasOwn(systemFields, name) ? systemFields[name] : undefined;
    if (system !== undefined)
      return ({ event }) => (event === undefined ? undefined : system(event));
    // A member of the JSON whose name starts with @ is shown with two.
    const [first = '', ...rest] = path;
    const own = pathReader(first.startsWith('@@') ? [first.slice(1), ...rest] : path);
    return ({ event }) => own(event?.named);
  }
}

const structureOf = (value: Value): Json | undefined =>
  typeof value === 'object' && !(value instanceof Instant) ? (value as Json) : undefined;
