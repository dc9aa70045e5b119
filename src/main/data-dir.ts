// The data directory of an embedded world: its files, whether a directory is one, and DIR/env.
// Reads and writes files; decides nothing about the world.
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../api/json.ts';
import { unsafety } from './private-dir.ts';

export class DataDirError extends Error {
  override readonly name = 'DataDirError';
}

/** Raised when the directory's layout changes; a newer layout is refused. */
const layoutVersion = 1;

export interface Settings {
  readonly layout: number;
  readonly frontPort: number;
  readonly kubePort: number;
  /** Earlier ports of the same API: machines' user data keeps them for their lifetime. */
  readonly formerKubePorts: readonly number[];
  readonly token: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly seed: number;
  readonly demo: boolean;
}

export interface DataDir {
  readonly path: string;
  readonly settingsFile: string;
  readonly envFile: string;
  readonly kubeconfigFile: string;
  /** The user of the world's own controllers. */
  readonly controllerKubeconfigFile: string;
  readonly pkiFile: string;
  readonly databaseFile: string;
  readonly auditFile: string;
  readonly pidFile: string;
}

export const dataDirAt = (directory: string): DataDir => {
  const path = resolve(directory);
  return {
    path,
    settingsFile: join(path, 'settings.json'),
    envFile: join(path, 'env'),
    kubeconfigFile: join(path, 'kubeconfig'),
    controllerKubeconfigFile: join(path, 'controller.kubeconfig'),
    pkiFile: join(path, 'pki.json'),
    databaseFile: join(path, 'world.db'),
    auditFile: join(path, 'audit', 'audit.log'),
    pidFile: join(path, 'drover.pid'),
  };
};

const parseSettings = (file: string): Settings => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new DataDirError(
      `${file} cannot be read as settings of a world: move the directory away, or pass another ` +
        '--data-dir',
      { cause: error },
    );
  }
  if (!isObject(parsed) || typeof parsed.layout !== 'number' || typeof parsed.token !== 'string') {
    throw new DataDirError(`${file} is not written by drover: pass another --data-dir`);
  }
  if (parsed.layout > layoutVersion) {
    throw new DataDirError(
      `${file} was written by a newer drover (layout ${parsed.layout}, this one knows ` +
        `${layoutVersion}): start it with that drover, or pass another --data-dir`,
    );
  }
  return {
    layout: parsed.layout,
    frontPort: Number(parsed.frontPort ?? 0),
    kubePort: Number(parsed.kubePort ?? 0),
    formerKubePorts: Array.isArray(parsed.formerKubePorts)
      ? parsed.formerKubePorts.map(Number).filter(Number.isInteger)
      : [],
    token: parsed.token,
    accessKeyId: String(parsed.accessKeyId ?? ''),
    secretAccessKey: String(parsed.secretAccessKey ?? ''),
    seed: Number(parsed.seed ?? 0),
    demo: parsed.demo === true,
  };
};

const refuseUnsafe = ({ path }: DataDir): void => {
  const unsafe = unsafety(path);
  if (unsafe === undefined) return;
  const { reason, remedy } = unsafe;
  throw new DataDirError(
    `cannot use ${path} as data directory: it ${reason}; it would hold tokens and keys. Remedy: ` +
      `${remedy}, or choose another with --data-dir`,
  );
};

/** True once a world in this directory has been ready: after that its files are consistent. */
export const hasAnswered = (settings: Settings | undefined): boolean =>
  settings !== undefined && settings.frontPort !== 0;

/** A missing or empty file of a world; it is never replaced by a new one. */
export const lostFile = (file: string, how: 'missing' | 'empty'): DataDirError =>
  new DataDirError(
    `${file} is ${how} beside the files of a world: put a copy of it back, move the ` +
      'directory away, ' +
      'or pass another --data-dir',
  );

export const damagedFile = (file: string, error: unknown): DataDirError =>
  new DataDirError(
    `${file} is damaged (${error instanceof Error ? error.message : String(error)}): put a ` +
      'copy of ' +
      'it back, move the directory away, or pass another --data-dir',
    { cause: error },
  );

/** The settings of an existing world, or undefined. Throws DataDirError for another directory. */
export const readSettings = (dir: DataDir): Settings | undefined => {
  refuseUnsafe(dir);
  if (existsSync(dir.settingsFile)) return parseSettings(dir.settingsFile);
  if (!existsSync(dir.path)) return undefined;
  if (!statSync(dir.path).isDirectory()) {
    throw new DataDirError(
      `${dir.path} is not a directory; it is left untouched: pass another --data-dir`,
    );
  }
  if (readdirSync(dir.path).length > 0) {
    throw new DataDirError(
      `${dir.path} is not empty and not a data directory of drover; it is left untouched: pass ` +
        'another --data-dir',
    );
  }
  return undefined;
};

/** Whether the directory is that of a world which this version of Drover reads. */
export const isWorldDirectory = (directory: string): boolean => {
  try {
    return readSettings(dataDirAt(directory)) !== undefined;
  } catch (error) {
    if (error instanceof DataDirError) return false;
    throw error;
  }
};

/** New settings, not yet written. */
export const newSettings = (choice: {
  readonly seed: number;
  readonly demo: boolean;
}): Settings => ({
  layout: layoutVersion,
  frontPort: 0,
  kubePort: 0,
  formerKubePorts: [],
  token: randomBytes(18).toString('base64url'),
  accessKeyId: `AKIA${randomBytes(10).toString('hex').toUpperCase().slice(0, 16)}`,
  secretAccessKey: randomBytes(30).toString('base64url'),
  ...choice,
});

/** Bounds the list: a world that is started with `--port 0` has other ports each time. */
const maxFormerPorts = 1_000;

/** Sets the ports; remembers the previous one. */
export const movedTo = (
  settings: Settings,
  ports: Pick<Settings, 'frontPort' | 'kubePort'>,
): Settings => {
  const before = [...settings.formerKubePorts, settings.kubePort];
  const formerKubePorts = [...new Set(before)]
    .filter((port) => port !== 0 && port !== ports.kubePort)
    .slice(-maxFormerPorts);
  return { ...settings, ...ports, formerKubePorts };
};

/** Why a directory is unusable, naming its nearest existing ancestor if that is the cause. */
const whyNot = (path: string, error: unknown): string => {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    accessSync(existing, constants.W_OK);
  } catch (denied) {
    return denied instanceof Error ? denied.message : String(denied);
  }
  return error instanceof Error ? error.message : String(error);
};

/**
 * Creates the directory if needed; throws DataDirError when it is not writable. The returned
 * function removes everything created, for a world that failed to start.
 */
export const prepareDirectory = (dir: DataDir): (() => void) => {
  try {
    const created = mkdirSync(dir.path, { recursive: true, mode: 0o700 });
    accessSync(dir.path, constants.W_OK);
    return () => {
      const doomed = created === undefined ? readdirSync(dir.path) : [created];
      for (const path of doomed) rmSync(resolve(dir.path, path), { recursive: true, force: true });
    };
  } catch (error) {
    throw new DataDirError(
      `cannot use ${dir.path} as data directory (${whyNot(dir.path, error)}): choose one you may ` +
        'write to with --data-dir',
      { cause: error },
    );
  }
};

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_WRONLY } = constants;

/** Writes a file atomically; readable by the owner only. Throws DataDirError. */
export const writePrivate = (file: string, text: string): void => {
  const draft = `${file}.new`;
  try {
    // A leftover of a crash, or a link created by another user: never written through.
    rmSync(draft, { force: true });
    const descriptor = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      writeFileSync(descriptor, text);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unwritable(file, error);
  }
};

export const unwritable = (file: string, error: unknown): DataDirError => {
  const why = error instanceof Error ? error.message : String(error);
  return new DataDirError(
    `cannot write ${file} (${why}): free some space there, or choose another --data-dir`,
    { cause: error },
  );
};

export const writeSettings = (dir: DataDir, settings: Settings): void =>
  writePrivate(dir.settingsFile, `${JSON.stringify(settings, null, 2)}\n`);

/** DIR/env: settings for clients, one KEY='value' per line. */
export const environmentOf = (
  dir: DataDir,
  settings: Settings,
  region: string,
): Readonly<Record<string, string>> => ({
  KUBECONFIG: dir.kubeconfigFile,
  AWS_ENDPOINT_URL: `http://127.0.0.1:${settings.frontPort}`,
  AWS_ACCESS_KEY_ID: settings.accessKeyId,
  AWS_SECRET_ACCESS_KEY: settings.secretAccessKey,
  AWS_DEFAULT_REGION: region,
  DROVER_URL: `http://drover:${settings.token}@127.0.0.1:${settings.frontPort}`,
});

const quote = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

export const writeEnvironment = (dir: DataDir, values: Readonly<Record<string, string>>): void =>
  writePrivate(
    dir.envFile,
    Object.entries(values)
      .map(([key, value]) => `${key}=${quote(value)}\n`)
      .join(''),
  );

/** Parses DIR/env; undefined when it does not exist. */
export const readEnvironment = (dir: DataDir): Readonly<Record<string, string>> | undefined => {
  if (!existsSync(dir.envFile)) return undefined;
  const values: Record<string, string> = {};
  for (const line of readFileSync(dir.envFile, 'utf8').split('\n')) {
    const match = /^([A-Z_]+)='(.*)'$/.exec(line);
    if (match?.[1] !== undefined) values[match[1]] = (match[2] ?? '').replaceAll(`'\\''`, "'");
  }
  return values;
};
