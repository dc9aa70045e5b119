// Events are stored once, as core/v1; events.k8s.io/v1 shows the same objects with its own field
// names. Pure renaming in both directions.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { Stored } from './objects.ts';

/** core name to events.k8s.io name. */
const names = {
  involvedObject: 'regarding',
  message: 'note',
  reportingComponent: 'reportingController',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
} as const;

const toNew: ReadonlyMap<string, string> = new Map(Object.entries(names));
const toCore: ReadonlyMap<string, string> = new Map(
  Object.entries(names).map(([old, fresh]) => [fresh, old]),
);

function renamed(
  object: JsonObject,
  map: ReadonlyMap<string, string>,
  apiVersion: string,
): JsonObject {
  const entries: [string, Json | undefined][] = [];
  for (const [key, value] of Object.entries(object)) {
    entries.push([map.get(key) ?? key, value]);
  }
  return { ...Object.fromEntries(entries), apiVersion };
}

export const eventsV1Of = (object: Stored): Stored =>
  renamed(object, toNew, 'events.k8s.io/v1') as Stored;
export const coreEventOf = (object: JsonObject): JsonObject => renamed(object, toCore, 'v1');
