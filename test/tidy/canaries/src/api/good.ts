// Canary: a clean file must not be reported. Date.now() in a comment is no use of it.
import type { JsonObject } from './json.ts';

export type Clean = JsonObject;
