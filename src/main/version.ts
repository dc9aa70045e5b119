// The version of this program from package.json, read once.
import { readFileSync } from 'node:fs';
import { objectOr } from '../api/json.ts';

const file = new URL('../../package.json', import.meta.url);

export const version = String(objectOr(JSON.parse(readFileSync(file, 'utf8'))).version);
