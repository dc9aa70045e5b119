// JSON as the images' tools indent it, keys in the order given. Pure text.
import type { Json } from '../../api/json.ts';

export const printJson = (value: Json): string => `${JSON.stringify(value, null, 4)}\n`;
