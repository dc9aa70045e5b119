// One record of /dev/kmsg: `priority,sequence,microseconds,flags;text` and indented lines of
// fields. Documented in Documentation/ABI/testing/dev-kmsg. Returns undefined for any other text.

/** Longer lines are cut: the kernel writes at most about 1 KiB, only user space writes more. */
export const maxLineLength = 2048;
/** LOG_KERN: written by the kernel itself. Records from user space have another facility. */
export const kernelFacility = 0;

export interface KernelRecord {
  /** 0 is the kernel; records from user space have 1 or more. */
  readonly facility: number;
  /** 0 emergency to 7 debug. */
  readonly level: number;
  readonly sequence: number;
  /** Microseconds since boot. */
  readonly micros: number;
  readonly text: string;
}

const maxRecordLength = 16 * 1024;

const wholeNumber = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  return Number(text);
};

/** The kernel writes bytes that are not printable as `\xNN`. */
const unescaped = (text: string): string =>
  text.includes('\\x')
    ? text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

export const parseKernelRecord = (record: string): KernelRecord | undefined => {
  const given = record.length > maxRecordLength ? record.slice(0, maxRecordLength) : record;
  const semicolon = given.indexOf(';');
  if (semicolon < 0) return undefined;
  const [priorityText, sequenceText, microsText] = given.slice(0, semicolon).split(',');
  const priority = wholeNumber(priorityText);
  const sequence = wholeNumber(sequenceText);
  const micros = wholeNumber(microsText);
  if (priority === undefined || sequence === undefined || micros === undefined) return undefined;
  const end = given.indexOf('\n', semicolon);
  const text = given.slice(semicolon + 1, end < 0 ? undefined : end);
  return {
    facility: Math.floor(priority / 8),
    level: priority % 8,
    sequence,
    micros,
    text: unescaped(text).slice(0, maxLineLength),
  };
};
