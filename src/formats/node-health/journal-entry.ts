// One line of `journalctl -o json`. A field is text, a list of bytes if it is not UTF-8, or a list
// of both if it occurs several times; journald omits fields that are too large.
import { isObject, type Json } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';
import { maxLineLength } from './kernel-record.ts';

export interface JournalEntry {
  readonly cursor: string;
  /** Microseconds since the epoch. */
  readonly micros: number;
  /** Unit of the process that wrote the entry, `kubelet.service`. */
  readonly unit: string | undefined;
  /** `kubelet`, `systemd`, `kernel`. */
  readonly identifier: string | undefined;
  /** Syslog facility; 0 is the kernel. */
  readonly facility: number | undefined;
  readonly text: string;
}

const bytesText = (value: readonly Json[]): string | undefined => {
  if (!value.every((one): one is number => typeof one === 'number')) return undefined;
  return new TextDecoder().decode(Uint8Array.from(value.slice(0, maxLineLength)));
};

const textOf = (value: Json | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const bytes = bytesText(value);
  if (bytes !== undefined) return bytes;
  const [first] = value;
  return typeof first === 'string' ? first : Array.isArray(first) ? bytesText(first) : undefined;
};

export const parseJournalEntry = (line: string): JournalEntry | undefined => {
  let value: Json;
  try {
    value = parseJson(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const cursor = textOf(value.__CURSOR);
  const micros = Number(textOf(value.__REALTIME_TIMESTAMP));
  const text = textOf(value.MESSAGE);
  if (cursor === undefined || text === undefined || !Number.isSafeInteger(micros)) return undefined;
  return {
    cursor,
    micros,
    unit: textOf(value._SYSTEMD_UNIT),
    identifier: textOf(value.SYSLOG_IDENTIFIER),
    facility:
      value.SYSLOG_FACILITY === undefined ? undefined : Number(textOf(value.SYSLOG_FACILITY)),
    text: text.slice(0, maxLineLength),
  };
};
