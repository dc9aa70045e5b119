// Parsers for files of /proc and /sys that the node agent reads. Each returns undefined for other
// formats; none throws.

export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  /** R, S, D, Z, T, ... */
  readonly state: string;
}

/** /proc/PID/stat. The name is in parentheses and may contain spaces and parentheses itself. */
export const parseProcessStat = (text: string): ProcessStat | undefined => {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const pid = Number(text.slice(0, open).trim());
  const state = text.slice(close + 1).trim()[0];
  if (open < 1 || close < open || !Number.isSafeInteger(pid) || state === undefined) {
    return undefined;
  }
  return { pid, name: text.slice(open + 1, close), state };
};

/** Number of existing threads: the second number of the fourth field of /proc/loadavg. */
export const parseThreadCount = (text: string): number | undefined => {
  const match = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text);
  return match === null ? undefined : Number(match[1]);
};

export interface FileHandles {
  readonly allocated: number;
  readonly max: number;
}

/** /proc/sys/fs/file-nr: allocated, free (always 0), maximum. */
export const parseFileHandles = (text: string): FileHandles | undefined => {
  const match = /^(\d+)\s+\d+\s+(\d+)\s*$/.exec(text);
  return match === null ? undefined : { allocated: Number(match[1]), max: Number(match[2]) };
};

export interface Pressure {
  /** Percent of the last 60 s in which all runnable tasks were stalled. */
  readonly fullAverage60: number;
  /** Microseconds since boot in which all runnable tasks were stalled. */
  readonly fullMicros: number;
}

/** /proc/pressure/io or memory. */
export const parsePressure = (text: string): Pressure | undefined => {
  const match = /^full avg10=\S+ avg60=(\d+(?:\.\d+)?) avg300=\S+ total=(\d+)$/m.exec(text);
  return match === null
    ? undefined
    : { fullAverage60: Number(match[1]), fullMicros: Number(match[2]) };
};

export interface Mount {
  readonly point: string;
  /** `8:1` */
  readonly device: string;
  readonly source: string;
  readonly type: string;
  /** Options of this mount: a read-only bind mount has `ro` only here. */
  readonly options: readonly string[];
  /** Options of the underlying file system. */
  readonly superOptions: readonly string[];
}

/** Decodes octal escapes of space, tab, newline and backslash. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/** /proc/self/mountinfo; skips lines of another form. */
export const parseMounts = (text: string): readonly Mount[] =>
  text.split('\n').flatMap((line) => {
    const separator = line.indexOf(' - ');
    if (separator < 0) return [];
    const [, , device, , point, options] = line.slice(0, separator).split(' ');
    const [type, source, superOptions] = line.slice(separator + 3).split(' ');
    if (device === undefined || point === undefined || options === undefined) return [];
    if (type === undefined || source === undefined) return [];
    return [
      {
        point: unescaped(point),
        device,
        source: unescaped(source),
        type,
        options: options.split(','),
        superOptions: (superOptions ?? '').split(','),
      },
    ];
  });

/** `key: value` lines of `ethtool -S`; counters only. */
export const parseInterfaceCounters = (text: string): ReadonlyMap<string, number> => {
  const counters = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^\s+([\w.[\]-]+): (\d{1,15})$/.exec(line);
    if (match?.[1] !== undefined) counters.set(match[1], Number(match[2]));
  }
  return counters;
};
