// The schemas of update-pacing.ts: when a step of an update may begin, and what holds it. The API
// server refuses a malformed crontab expression. Only the controller detects a range from a later
// to an earlier value, and reports it.
import {
  count,
  listOf,
  longText,
  object,
  oneOf,
  positive,
  type Schema,
  text,
  time,
} from './crd-schema.ts';
import {
  approvals,
  holdKinds,
  probeFailurePolicies,
  waveGates,
  windowDefaults,
} from './update-pacing.ts';

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const weekdays = 'sun|mon|tue|wed|thu|fri|sat';
const named = (names: string): string => `${names}|${names.toUpperCase()}`;

const field = (value: string): string => {
  const element = `([*]|(${value})(-(${value}))?)(/[1-9][0-9]?)?`;
  return `${element}(,${element})*`;
};

const cronPattern = `^${[
  field('[0-5]?[0-9]'),
  field('[01]?[0-9]|2[0-3]'),
  field('0?[1-9]|[12][0-9]|3[01]'),
  field(`0?[1-9]|1[0-2]|${named(months)}`),
  field(`0?[0-7]|${named(weekdays)}`),
].join(' +')}$`;

const cronRule =
  'a crontab line has five fields: minute (0-59), hour (0-23), day of month (1-31), month ' +
  '(1-12 or jan-dec), ' +
  'day of week (0-7 or sun-sat); each *, a value, a range, a list of these, a step behind a /';

const minute = 60;
const week = 7 * 24 * 3600;

const window: Schema = object(
  {
    cron: {
      ...text(128),
      // Not a `pattern`: the API server would print the whole regular expression in its message.
      'x-kubernetes-validations': [{ rule: `self.matches('${cronPattern}')`, message: cronRule }],
    },
    durationSeconds: { type: 'integer', format: 'int32', minimum: minute, maximum: week },
    timeZone: {
      ...text(63),
      pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$',
    },
  },
  ['cron', 'durationSeconds'],
);

/**
 * A rule of updateConfig as a whole, because it needs the old value. Windows that a group already
 * has are never refused; otherwise no field of that group could be written. `optionalOldSelf` is on
 * by default from Kubernetes 1.30 (KEP 4008), as docs/cli.md says.
 */
export const timeZoneRule: Schema = {
  rule:
    '!has(self.windows) || oldSelf.?windows.orValue([]) == self.windows || ' +
    'self.windows.all(w, !has(w.timeZone) || ' +
    "timestamp('2026-01-01T00:00:00Z').getFullYear(w.timeZone) > 0)",
  optionalOldSelf: true,
  message: 'timeZone of a window is a name of the IANA database, such as Europe/Berlin',
};

const freeze: Schema = {
  ...object({ from: time, until: time, reason: text(256) }, ['from', 'until']),
  'x-kubernetes-validations': [
    {
      rule: 'self.from < self.until',
      message: 'a freeze ends after it begins: from is earlier than until',
    },
  ],
};

const waves: Schema = {
  ...listOf(
    object(
      {
        percent: {
          ...positive,
          maximum: 100,
        },
        soakSeconds: { ...count, maximum: week },
        gates: listOf(oneOf(waveGates), 2),
      },
      ['percent'],
    ),
    20,
  ),
  'x-kubernetes-validations': [
    {
      rule:
        'self.map(a, a.percent).isSorted() && self.all(a, self.exists_one(b, b.percent == ' +
        'a.percent))',
      message:
        'each wave goes further than the one before it: percent grows from wave to wave, as ' +
        '10, 50, 100',
    },
  ],
};

const probe: Schema = {
  ...object(
    {
      name: { ...text(63), minLength: 1 },
      http: object(
        {
          url: { ...text(2048), pattern: '^https?://.+' },
          expectedStatus: { type: 'integer', format: 'int32', minimum: 100, maximum: 599 },
        },
        ['url'],
      ),
      condition: object(
        {
          apiVersion: text(127),
          kind: text(63),
          namespace: text(63),
          name: text(),
          type: text(316),
          status: oneOf(['True', 'False', 'Unknown']),
        },
        ['apiVersion', 'kind', 'name', 'type'],
      ),
      intervalSeconds: { ...positive, minimum: 5, maximum: 3600 },
      failureThreshold: { ...positive, maximum: 50 },
      onFailure: oneOf(probeFailurePolicies),
    },
    ['name'],
  ),
  'x-kubernetes-validations': [
    {
      rule: 'has(self.http) != has(self.condition)',
      message: 'a probe has either http or condition',
    },
  ],
};

const probes: Schema = {
  ...listOf(probe, 10),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
};

/** Properties of `spec.updateConfig`. */
export const pacingFields: Readonly<Record<string, Schema>> = {
  windows: listOf(window, 20),
  windowDefault: oneOf(windowDefaults),
  freezes: listOf(freeze, 20),
  approval: oneOf(approvals),
  waves,
  probes,
};

const holds: Schema = listOf(
  object({ kind: oneOf(holdKinds), reason: longText, since: time, until: time }, [
    'kind',
    'reason',
    'since',
  ]),
  20,
);

/** Properties of an update's status. */
export const pacingStatus: Readonly<Record<string, Schema>> = {
  holds,
  held: text(253),
  wave: object({ number: count, of: count, upTo: count, doneAt: time }, ['number', 'of', 'upTo']),
  failingProbes: listOf(
    object({ name: text(63), failures: count, message: longText }, ['name', 'failures', 'message']),
    10,
  ),
};
