// Branded identifiers and times, so that a node name cannot be used as an instance id. Only the
// parsers here create them; nothing here reads a clock.

declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type InstanceId = Brand<string, 'InstanceId'>;
/** Milliseconds since the Unix epoch. */
export type EpochMs = Brand<number, 'EpochMs'>;
/** A length of time in milliseconds. */
export type DurationMs = Brand<number, 'DurationMs'>;

export const epochMs = (value: number): EpochMs => value as EpochMs;
export const durationMs = (value: number): DurationMs => value as DurationMs;

const instanceIdPattern = /^i-[0-9a-f]{8}(?:[0-9a-f]{9})?$/;

/** An EC2 instance id (`i-` and 8 or 17 hex digits), or undefined when `value` is not one. */
export const parseInstanceId = (value: string): InstanceId | undefined =>
  instanceIdPattern.test(value) ? (value as InstanceId) : undefined;

/** The instance id in a node's `spec.providerID` (`aws:///eu-west-1a/i-0abc...`), or undefined. */
export const instanceIdOfProviderId = (providerId: string | undefined): InstanceId | undefined => {
  if (providerId === undefined || !providerId.startsWith('aws://')) return undefined;
  return parseInstanceId(providerId.slice(providerId.lastIndexOf('/') + 1));
};

/**
 * A cache: the same few times are parsed and formatted repeatedly, such as deadlines on each pass.
 * Bounded, because a process that runs for months meets many times.
 */
const maxRemembered = 10_000;
const remembering = <K, V>(compute: (key: K) => V): ((key: K) => V) => {
  const known = new Map<K, V>();
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last?.key === key) return last.value;
    const before = known.get(key);
    const value = before ?? compute(key);
    if (before === undefined) {
      if (known.size >= maxRemembered) known.clear();
      known.set(key, value);
    }
    last = { key, value };
    return value;
  };
};

const parseRfc3339 = remembering((value: string): EpochMs | undefined => {
  if (!/^\d{4}-\d\d-\d\dT/.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : epochMs(ms);
});
const toRfc3339 = remembering((at: EpochMs): string => new Date(at).toISOString());

/** Parses an RFC 3339 time to milliseconds since the epoch; undefined when it is not one. */
export const parseTime = (value: string | undefined): EpochMs | undefined =>
  value === undefined ? undefined : parseRfc3339(value);

/** RFC 3339 in UTC with milliseconds, as in our own objects. */
export const formatTime = (at: EpochMs): string => toRfc3339(at);

/** RFC 3339 in UTC without a fraction, the form Kubernetes' metav1.Time uses. */
export const formatKubeTime = (at: EpochMs): string => `${toRfc3339(at).slice(0, 19)}Z`;
