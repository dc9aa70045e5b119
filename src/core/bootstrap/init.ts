// What `drover node init` changes on a machine: which files it writes, in which order, and when it
// refuses. A state file makes an interrupted run repeatable: it lists the files before the first
// one is written and is set to done after the last. Decides only; reads and writes nothing.
import { isObject, type JsonObject } from '../../api/json.ts';
import type { NodeFile } from '../../formats/index.ts';

export const markPath = '/var/lib/drover/node-init.json';
const markVersion = 'node.drover.dev/v1';

interface Mark {
  readonly state: 'writing' | 'done';
  /** Digest of all files. */
  readonly digest: string;
  /** Written files, so that obsolete ones can be removed. */
  readonly paths: readonly string[];
  /**
   * The files are written but services not restarted yet: a running kubelet may use the previous
   * files.
   */
  readonly owesStart?: boolean;
}

export interface PresentFile {
  readonly content: string;
  readonly mode: string;
}

export interface InitFacts {
  readonly wanted: readonly NodeFile[];
  readonly digest: string;
  /** Text of the state file; undefined when it does not exist. */
  readonly mark: string | undefined;
  /** The files to write, and those that the state file lists, as far as they exist. */
  readonly present: ReadonlyMap<string, PresentFile>;
  /** Requested to overwrite the result of other user data. */
  readonly replaces: boolean;
}

export type InitStep =
  | { readonly kind: 'mark'; readonly file: NodeFile }
  | { readonly kind: 'write'; readonly file: NodeFile; readonly isNew: boolean }
  | { readonly kind: 'remove'; readonly path: string };

export type InitPlan =
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'plan';
      readonly steps: readonly InitStep[];
      readonly goesOn: boolean;
      /** Services must be restarted, possibly because an earlier run was interrupted. */
      readonly owesStart: boolean;
      /** The state file after the restart. */
      readonly started: NodeFile;
    };

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Undefined when the text is not a state file of this version. */
const readMark = (text: string): Mark | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value as JsonObject)) return undefined;
    const { apiVersion, state, digest, paths, owesStart } = value as JsonObject;
    if (apiVersion !== markVersion || (state !== 'writing' && state !== 'done')) return undefined;
    if (typeof digest !== 'string' || !isTexts(paths)) return undefined;
    return { state, digest, paths, owesStart: owesStart === true };
  } catch {
    return undefined;
  }
};

/** The files that a state file lists. The caller reads them, too, before it makes a plan. */
export const pathsOfMark = (text: string | undefined): readonly string[] =>
  (text === undefined ? undefined : readMark(text))?.paths ?? [];

const markFile = (mark: Mark): NodeFile => ({
  path: markPath,
  content: `${JSON.stringify({ apiVersion: markVersion, ...mark }, null, 2)}\n`,
  mode: '0644',
});

const refusal = ({ mark, digest, replaces }: InitFacts): string | undefined => {
  if (mark === undefined || replaces) return undefined;
  const known = readMark(mark);
  if (known === undefined) {
    return `${markPath} cannot be read; look at it, or write it again with --replace`;
  }
  if (known.digest === digest) return undefined;
  return known.state === 'writing'
    ? 'a run with other user data was stopped half-way; run it again with that, or write over it ' +
        'with --replace'
    : 'this node was initialised from other user data, which a node reads once: launch another ' +
        'instance, or write over it with --replace';
};

/** Input of `digest`: the same files in the same order give the same text. */
export const digestText = (files: readonly NodeFile[]): string =>
  JSON.stringify(files.map(({ path, content, mode }) => [path, mode, content]));

export const planInit = (facts: InitFacts): InitPlan => {
  const message = refusal(facts);
  if (message !== undefined) return { kind: 'refused', message };
  const { wanted, digest, mark, present } = facts;
  const before = mark === undefined ? undefined : readMark(mark);
  const paths = wanted.map(({ path }) => path);
  const writes = wanted.flatMap((file): readonly InitStep[] => {
    const there = present.get(file.path);
    if (there?.content === file.content && there.mode === file.mode) return [];
    return [{ kind: 'write', file, isNew: there === undefined }];
  });
  const stale = (before?.paths ?? []).filter((path) => !paths.includes(path) && present.has(path));
  const removals = stale.map((path): InitStep => ({ kind: 'remove', path }));
  const isDone = before?.state === 'done' && before.digest === digest;
  const started = markFile({ state: 'done', digest, paths });
  if (isDone && writes.length === 0) {
    const owesStart = before.owesStart === true;
    return { kind: 'plan', steps: [], goesOn: false, owesStart, started };
  }
  const done = markFile({ state: 'done', digest, paths, owesStart: true });
  // Until the run is complete, files of an earlier run still have to be removed.
  const begun = markFile({ state: 'writing', digest, paths: [...new Set([...paths, ...stale])] });
  return {
    kind: 'plan',
    steps: [{ kind: 'mark', file: begun }, ...removals, ...writes, { kind: 'mark', file: done }],
    goesOn: before?.state === 'writing' && before.digest === digest,
    owesStart: true,
    started,
  };
};
