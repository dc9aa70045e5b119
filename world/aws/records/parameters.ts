// Inputs and outputs in CloudTrail's form: lower-case first letters, its own time format, no
// secrets. Returns copies; never changes its input.
import type { Json } from '../../../src/api/json.ts';
import { isoSeconds } from '../scope.ts';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Dec 28, 2024, 2:06:13 PM`, as in article 004. */
export const trailTime = (ms: number): string => {
  const [date = '', time = ''] = isoSeconds(ms).slice(0, 19).split('T');
  const [year, month, day] = date.split('-');
  const [hour, minute, second] = time.split(':');
  const hours = Number(hour);
  const half = hours < 12 ? 'AM' : 'PM';
  const clock = `${hours % 12 === 0 ? 12 : hours % 12}:${minute}:${second} ${half}`;
  return `${months[Number(month) - 1]} ${Number(day)}, ${year}, ${clock}`;
};

const secretMembers = new Set(['UserData', 'SecretAccessKey', 'SessionToken']);
const timeMember = /(?:Time|Timestamp|Date|createdAt|modifiedAt|Expiration)$/;
const hidden = '<sensitiveDataRemoved>';

const smallFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

/** `moments`: the model's time members; if absent, recognized by name. */
export const toParameters = (
  value: unknown,
  side: 'request' | 'response',
  moments?: ReadonlySet<string>,
): Json => {
  if (value === undefined || value === null) return null;
  const isTime = (name: string): boolean => moments?.has(name) ?? timeMember.test(name);
  const copy = copyOf(value, '', isTime);
  const isEmpty = typeof copy === 'object' && copy !== null && Object.keys(copy).length === 0;
  return isEmpty && side === 'response' ? null : copy;
};

const copyOf = (value: unknown, name: string, isTime: (name: string) => boolean): Json => {
  if (secretMembers.has(name)) return hidden;
  if (typeof value === 'number') return isTime(name) ? trailTime(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => copyOf(item, name, isTime));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [smallFirst(key), copyOf(item, key, isTime)]),
  );
};
