// A row on its way through the commands: the event it came from, as long as there is one, and what
// commands have added under names. Names are places in an array, found when the query is compiled.

import type { Json } from '../../api/json.ts';
import type { FieldRef } from '../language/ast.ts';
import { type LogEvent, pathReader } from './event.ts';
import { Instant, type Value } from './values.ts';

export class Row {
  readonly event: LogEvent | undefined;
  readonly slots: Value[];
  /** Order of arrival: what is equal in a sort stays in it. */
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
  // What is read from a file was taken in when it happened, as far as anybody can tell.
  '@ingestionTime': ({ timeMs }) => (timeMs === undefined ? undefined : new Instant(timeMs)),
  '@message': (event) => event.message,
  '@logStream': (event) => event.source.stream,
  '@log': (event) => event.source.log,
  '@ptr': (event) => event.pointer,
};

/** Which names mean what at one place of the query. */
export class Names {
  readonly #slots: ReadonlyMap<string, number>;
  readonly #counter: { count: number };
  /** False after `stats`: what was not named there is gone. */
  readonly isOpen: boolean;

  constructor(
    slots: ReadonlyMap<string, number> = new Map(),
    counter: { count: number } = { count: 0 },
    isOpen = true,
  ) {
    this.#slots = slots;
    this.#counter = counter;
    this.isOpen = isOpen;
  }

  /** A new place; whoever was called so before keeps theirs. */
  with(name: string): { readonly names: Names; readonly slot: number } {
    const slot = this.#counter.count++;
    const slots = new Map(this.#slots).set(name, slot);
    return { names: new Names(slots, this.#counter, this.isOpen), slot };
  }

  /** What there is after `stats`. */
  closed(names: readonly string[]): { readonly names: Names; readonly slots: readonly number[] } {
    const places = names.map((name, index) => [name, index] as const);
    return {
      names: new Names(new Map(places), { count: names.length }, false),
      slots: places.map(([, slot]) => slot),
    };
  }

  get listed(): readonly string[] {
    return [...this.#slots.keys()];
  }

  has(name: string): boolean {
    return this.isOpen || this.#owner(name.split('.')) !== undefined;
  }

  /** True when the field is one of the event itself, not one that a command made. */
  isOfEvent(field: FieldRef): boolean {
    return (
      this.isOpen && !field.name.startsWith('@') && this.#owner(field.name.split('.')) === undefined
    );
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
    // A member of the JSON that itself begins with @ is shown with two.
    const [first = '', ...rest] = path;
    const own = pathReader(first.startsWith('@@') ? [first.slice(1), ...rest] : path);
    return ({ event }) => own(event?.named);
  }
}

const structureOf = (value: Value): Json | undefined =>
  typeof value === 'object' && !(value instanceof Instant) ? (value as Json) : undefined;
