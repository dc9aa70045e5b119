// Backups of aws-auth in a ConfigMap beside it: its content before each of our writes, numbered and
// bounded. Decides what is kept and what is restored; never reads or writes.
import { type EpochMs, formatTime } from '../../api/brand.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube.ts';
import { parseJson } from '../../api/parse-json.ts';
import { type AwsAuthData, awsAuthEntries } from '../../formats/index.ts';
import { type AwsAuthMap, type AwsAuthPlan, addedRolesOf, authorizes } from './aws-auth.ts';

export const backupsName = { namespace: 'kube-system', name: 'drover-aws-auth-backups' } as const;

export interface BackupsMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Enough to undo an afternoon of mistakes. */
const maxBackups = 10;
/** A ConfigMap holds 1 MiB; ten large maps would not leave room for an eleventh. */
const maxTextLength = 512 * 1024;

export interface Backup {
  readonly number: number;
  /** RFC 3339. */
  readonly at: string;
  /** The operation before which the backup was made. */
  readonly before: string;
  readonly resourceVersion: string;
  readonly data: AwsAuthData;
  readonly added: readonly string[];
}

const keyOf = (number: number): string => String(number).padStart(6, '0');

const textsOf = (value: unknown): AwsAuthData =>
  Object.fromEntries(Object.entries(objectOr(value)).map(([key, one]) => [key, String(one)]));

const backupOf = (key: string, text: string): Backup | undefined => {
  const number = Number(key);
  if (!/^\d{6}$/.test(key)) return undefined;
  let read: JsonObject;
  try {
    read = objectOr(parseJson(text));
  } catch {
    return undefined;
  }
  const { at, before, resourceVersion, data, added } = read;
  if (typeof at !== 'string' || typeof data !== 'object' || data === null) return undefined;
  return {
    number,
    at,
    before: String(before ?? ''),
    resourceVersion: String(resourceVersion ?? ''),
    data: textsOf(data),
    added: Array.isArray(added) ? added.map(String) : [],
  };
};

/** Newest first; keys that Drover did not write are skipped. */
export const backupsIn = (map: BackupsMap | undefined): readonly Backup[] =>
  Object.entries(map?.data ?? {})
    .flatMap(([key, text]) => backupOf(key, text) ?? [])
    .sort((a, b) => b.number - a.number);

const sameData = (a: AwsAuthData, b: AwsAuthData): boolean =>
  Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

/**
 * The write that backs up `map` as it is. Undefined when the newest backup is equal, or when there
 * is nothing to keep. Drops the oldest above the limit.
 */
export const planBackup = (
  backups: BackupsMap | undefined,
  map: AwsAuthMap | undefined,
  reason: { readonly before: string; readonly now: EpochMs },
) => {
  if (map === undefined) return undefined;
  const known = backupsIn(backups);
  const data = map.data ?? {};
  const [newest] = known;
  if (newest !== undefined && sameData(newest.data, data)) return undefined;
  const { resourceVersion } = map.metadata;
  const added = addedRolesOf(map);
  const text = JSON.stringify({
    at: formatTime(reason.now),
    before: reason.before,
    resourceVersion,
    data,
    added,
  });
  const key = keyOf((newest?.number ?? 0) + 1);
  if (backups === undefined) {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...backupsName },
      data: { [key]: text },
    };
    return { verb: 'create', body } as const;
  }
  let left = maxTextLength - text.length;
  const gone = known.filter(({ number }, i) => {
    left -= backups.data?.[keyOf(number)]?.length ?? 0;
    return i >= maxBackups - 1 || left < 0;
  });
  const body = {
    metadata: { resourceVersion: backups.metadata.resourceVersion },
    data: {
      [key]: text,
      ...Object.fromEntries(gone.map(({ number }) => [keyOf(number), null])),
    },
  };
  return { verb: 'patch', body } as const;
};

/** What a restore would change, for display: one line per entry. */
export interface Restored {
  readonly comesBack: readonly string[];
  readonly goes: readonly string[];
  readonly changes: readonly string[];
}

const entriesBy = (data: AwsAuthData): ReadonlyMap<string, string> =>
  new Map((awsAuthEntries(data.mapRoles) ?? []).map((entry) => [entry.arn, JSON.stringify(entry)]));

export const differenceOf = (now: AwsAuthData, then: AwsAuthData): Restored => {
  const [has, had] = [entriesBy(now), entriesBy(then)];
  const arns = [...new Set([...had.keys(), ...has.keys()])];
  const others = Object.keys({ ...now, ...then }).filter(
    (key) => key !== 'mapRoles' && now[key] !== then[key],
  );
  return {
    comesBack: arns.filter((arn) => had.has(arn) && !has.has(arn)),
    goes: arns.filter((arn) => has.has(arn) && !had.has(arn)),
    changes: [
      ...arns.filter((arn) => has.has(arn) && had.has(arn) && has.get(arn) !== had.get(arn)),
      ...others,
    ],
  };
};

/**
 * Restores a backup unchanged. Refused when it would stop authorizing nodes in `used` (role ARN to
 * its user) that are authorized at present; `isForced` overrides that.
 */
export const planRestore = (
  map: AwsAuthMap | undefined,
  backup: Backup,
  facts: { readonly used: ReadonlyMap<string, string>; readonly isForced: boolean },
): AwsAuthPlan => {
  const { data, added } = backup;
  const then = awsAuthEntries(data.mapRoles);
  if (then === undefined && !facts.isForced) {
    return { kind: 'refused', why: `backup ${backup.number} has a mapRoles that cannot be parsed` };
  }
  if (map !== undefined && sameData(map.data ?? {}, data)) {
    return { kind: 'unchanged', warnings: [] };
  }
  const now = map?.data ?? {};
  const kept = [...facts.used].filter(([arn]) => !authorizes(data, arn));
  // A role that is not authorized at present loses nothing; the rest of the backup is still useful.
  const lost = kept.filter(([arn]) => authorizes(now, arn));
  const textOf = ([arn, user]: readonly [string, string]): string =>
    `${arn}, which ${user} uses, would not be let in`;
  if (lost.length > 0 && !facts.isForced) {
    return { kind: 'refused', why: `with backup ${backup.number} ${lost.map(textOf).join('; ')}` };
  }
  return { kind: 'write', data, added, warnings: kept.map(textOf) };
};
