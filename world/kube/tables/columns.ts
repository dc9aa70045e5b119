// Building blocks for the columns of all kinds. Names no kind.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { ageOf } from './human.ts';
import { mapAt, numberAt, objectsAt, selectorText, textAt } from './read.ts';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly format?: 'name';
  /** 0 = always, 1 = only wide. */
  readonly priority: 0 | 1;
  readonly cell: (object: JsonObject, nowMs: number) => Json;
}
export type Printer = readonly Column[];

export type Cell = Column['cell'];
export const text = (name: string, cell: Cell): Column => ({
  name,
  type: 'string',
  priority: 0,
  cell,
});
export const wide = (name: string, cell: Cell): Column => ({
  name,
  type: 'string',
  priority: 1,
  cell,
});
export const count = (name: string, ...path: readonly string[]): Column => ({
  name,
  type: 'integer',
  priority: 0,
  cell: (object) => numberAt(object, ...path),
});
export const name: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  cell: (object) => textAt(object, 'metadata', 'name'),
};
export const age = text('Age', (object, now) =>
  ageOf(textAt(object, 'metadata', 'creationTimestamp'), now),
);
export const orNone = (value: string): string => (value === '' ? '<none>' : value);

/** Containers, images and selector of a pod template below `path`. */
export const templateColumns = (...path: readonly string[]): Printer => {
  const containers = (object: JsonObject): readonly JsonObject[] =>
    objectsAt(object, ...path, 'template', 'spec', 'containers');
  const list =
    (field: string): Cell =>
    (object) =>
      containers(object)
        .map((container) => textAt(container, field))
        .join(',');
  return [
    wide('Containers', list('name')),
    wide('Images', list('image')),
    wide('Selector', (object) => selectorText(mapAt(object, ...path, 'selector'))),
  ];
};
