// JSON indented as by the images' tools, keys in the given order. Pure text.
import type { Json } from '../../api/json.ts';

export const printJson = (value: Json): string => `${JSON.stringify(value, null, 4)}\n`;
