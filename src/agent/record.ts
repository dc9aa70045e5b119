// The agent's own record on the node: where it stopped reading, and the known faults. A corrupt
// record counts as missing: conditions are then adopted from the Node.
import { isObject, type JsonObject } from '../api/json.ts';
import { parseJson } from '../api/parse-json.ts';

export interface AgentRecord {
  readonly bootId: string;
  /** Number of the last kernel record that was read. */
  readonly sequence?: number;
  /** Cursor of the journal. */
  readonly cursor?: string;
  readonly reasons: readonly unknown[];
}

export const parseRecord = (text: string | undefined): AgentRecord | undefined => {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { bootId, sequence, cursor, reasons } = value as JsonObject;
  if (typeof bootId !== 'string') return undefined;
  return {
    bootId,
    reasons: Array.isArray(reasons) ? reasons : [],
    ...(typeof sequence === 'number' ? { sequence } : {}),
    ...(typeof cursor === 'string' ? { cursor } : {}),
  };
};
