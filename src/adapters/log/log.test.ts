import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { createLog, type LogLevel } from './log.ts';

const captured = (
  level: LogLevel = 'debug',
  pretty = false,
): { lines: string[]; log: ReturnType<typeof createLog> } => {
  const lines: string[] = [];
  const log = createLog({ level, pretty, output: { write: (text) => void lines.push(text) } });
  return { lines, log };
};

const only = (lines: readonly string[]): JsonObject => JSON.parse(lines[0] ?? '');

describe('the log', () => {
  it('writes one JSON line with time, level, message and facts', () => {
    const { lines, log } = captured();
    log.child({ node: 'n1' }).warn('pod stays', { pod: 'p1' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(only(lines)).toMatchObject({
      level: 'warn',
      message: 'pod stays',
      node: 'n1',
      pod: 'p1',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(Object.keys(only(lines))).toHaveLength(5);
  });

  it('does not let a fact stand for the message, the level or the time', () => {
    const { lines, log } = captured();
    log.child({ level: 3 }).info('pod stays', { message: 'told' });
    expect(only(lines)).toMatchObject({
      level: 'info',
      message: 'pod stays',
      'fact.level': 3,
      'fact.message': 'told',
    });
  });

  it('writes nothing below its level', () => {
    const { lines, log } = captured('warn');
    log.debug('a');
    log.info('b');
    log.error('c');
    expect(lines).toHaveLength(1);
  });

  it('writes plain lines on a terminal', () => {
    const { lines, log } = captured('debug', true);
    log.info('drained', { node: 'n1', why: 'scale in', pods: 3 });
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d INFO {2}drained node=n1 why="scale in" pods=3\n$/);
  });

  it.each([
    { token: 's3cret' },
    { lifecycleActionToken: 's3cret' },
    { userData: 's3cret' },
    { request: { UserData: 's3cret', nested: [{ 'client-key-data': 's3cret' }] } },
    { headers: { Authorization: 's3cret' } },
    { AWS_SECRET_ACCESS_KEY: 's3cret' },
    { receiptHandle: 's3cret' },
    { message2: 'sent Authorization: Bearer abcdefs3cret' },
    { error: 'token eyJhbGciOiJS.s3cret.s3cret refused' },
    { text: '-----BEGIN EC PRIVATE KEY-----\ns3cret\n-----END EC PRIVATE KEY-----' },
  ])('redacts %j', (facts) => {
    for (const pretty of [false, true]) {
      const { lines, log } = captured('debug', pretty);
      log.info('facts', facts);
      log.child(facts).info('child');
      expect(lines.join('')).not.toContain('s3cret');
      expect(lines.join('')).toContain('[redacted]');
    }
  });

  it('keeps counts of budget tokens and ordinary words', () => {
    const { lines, log } = captured();
    log.info('allocated', { tokens: 3, budget: 'web', message2: 'the basic case' });
    expect(only(lines)).toMatchObject({ tokens: 3, budget: 'web', message2: 'the basic case' });
  });
});
