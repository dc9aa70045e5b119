// Runs a real client step by step against a world: a step succeeds and returns its output, or fails
// with the expected exit code and message. Keeps no state.
import assert from 'node:assert/strict';
import type { Ran } from './demo-world.ts';

type Client = (args: readonly string[], input?: string) => Promise<Ran>;

/** The command as typed; `more` are arguments that contain blanks. */
export interface Steps {
  /** Must exit with 0; returns stdout, then stderr. */
  readonly ok: (line: string, ...more: readonly string[]) => Promise<string>;
  /** Must not exit with 0; returns stderr, then stdout. */
  readonly fails: (line: string, ...more: readonly string[]) => Promise<string>;
  readonly okWith: (input: string, line: string, ...more: readonly string[]) => Promise<string>;
  readonly failsWith: (input: string, line: string, ...more: readonly string[]) => Promise<string>;
}

export const stepsOf = (name: string, client: Client): Steps => {
  const run = async (line: string, more: readonly string[], input?: string): Promise<Ran> =>
    client([...line.split(/\s+/).filter((word) => word !== ''), ...more], input);
  const succeed = async (line: string, more: readonly string[], input?: string) => {
    const ran = await run(line, more, input);
    const said = `${ran.stdout}${ran.stderr}`;
    assert.equal(ran.code, 0, `${name} ${line} ${more.join(' ')} exits with ${ran.code}:\n${said}`);
    return said;
  };
  const fail = async (line: string, more: readonly string[], input?: string) => {
    const ran = await run(line, more, input);
    const said = `${ran.stderr}${ran.stdout}`;
    assert.notEqual(ran.code, 0, `${name} ${line} ${more.join(' ')} should fail:\n${said}`);
    return said;
  };
  return {
    ok: (line, ...more) => succeed(line, more),
    fails: (line, ...more) => fail(line, more),
    okWith: (input, line, ...more) => succeed(line, more, input),
    failsWith: (input, line, ...more) => fail(line, more, input),
  };
};

/** The header's columns, split as kubectl pads them. */
export const columnsOf = (table: string): readonly string[] =>
  (table.split('\n', 1)[0] ?? '').trim().split(/ {2,}/);

/** Rows of a table without its header. */
export const rowsOf = (table: string): readonly string[] =>
  table
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
