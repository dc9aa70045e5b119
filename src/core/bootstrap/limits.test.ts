// Parts in gzip, unclosed documents, and inputs of any size: read completely or refused by size, in
// time linear in their length.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  evaluateUserData,
  exampleFacts,
  parseTemplateText,
  readLimitBytes,
} from '../../formats/index.ts';
import { parseMime } from '../../formats/user-data/mime.ts';
import { parseYaml } from '../../formats/user-data/yaml.ts';
import { lint } from './lint.ts';
import { bootstrapCall, config, lines, mime, nodeConfig, part } from './rules/samples.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const rulesOf = (bytes: Uint8Array, options = {}): readonly string[] =>
  lint({ name: 'f', bytes }, options).findings.map(({ rule }) => rule);
const joined = (...all: readonly (string | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(all.flatMap((one) => [...(typeof one === 'string' ? bytesOf(one) : one)]));
const [head = '', tail = ''] = mime(part('TYPE', 'BODY')).split('BODY');

describe('gzip within a MIME part', () => {
  const inNodeConfig = (body: Uint8Array) =>
    joined(head.replace('TYPE', 'application/node.eks.aws'), body, `\n${tail}`);

  it('is read as nodeadm reads it', () => {
    const bytes = inNodeConfig(gzipSync(config('maxPods: 20')));
    const { node } = evaluateUserData(bytes, exampleFacts);
    expect([node.obstacles, node.maxPods]).toEqual([[], 20]);
  });

  it('is of cloud-init where the part says so', () => {
    const body = gzipSync(bootstrapCall("--kubelet-extra-args '--max-pods=20'"));
    const bytes = joined(head.replace('TYPE', 'application/gzip'), body, `\n${tail}`);
    expect(rulesOf(bytes, { family: 'al2' })).toEqual([]);
    expect(evaluateUserData(bytes, exampleFacts, 'al2').node.maxPods).toBe(20);
  });

  it('that is damaged is a fault of its part', () => {
    const whole = gzipSync(nodeConfig());
    expect(rulesOf(inNodeConfig(whole.subarray(0, whole.length - 20)))).toContain('NC006');
  });

  it('that grows beyond the limit is a fault', () => {
    const bomb = gzipSync(Buffer.alloc(readLimitBytes + 1, 0x61));
    const { findings } = lint({ name: 'f', bytes: inNodeConfig(bomb) });
    expect(findings.map(({ message }) => message).join()).toContain('grows beyond 1048576 bytes');
  });

  it('bytes of a script that are no text are named with their part', () => {
    const bytes = joined(head.replace('TYPE', 'text/x-shellscript'), '#!/bin/sh\n', [
      0xff,
    ] as never);
    const all = joined(bytes, Uint8Array.of(0xff, 0xfe), `\n${tail}`);
    const { findings } = lint({ name: 'f', bytes: all }, { family: 'al2', launchedBy: 'managed' });
    expect(findings.map(({ rule, message }) => `${rule} ${message}`)).toEqual([
      'ENC001 part 1 is bytes that are not UTF-8',
    ]);
  });
});

describe('a document that nothing closes', () => {
  const open = (type: string, body: string) =>
    bytesOf(mime(part(type, body)).replace('--B--\n', ''));
  it.each([
    ['al2023', 'application/node.eks.aws', nodeConfig(), 'MIME008', 'error'],
    ['al2', 'text/x-shellscript', bootstrapCall(), 'MIME009', 'warning'],
    ['ubuntu', 'text/x-shellscript', bootstrapCall(), 'MIME009', 'warning'],
  ] as const)('%s', (family, type, body, rule, severity) => {
    const { findings } = lint({ name: 'f', bytes: open(type, body) }, { family });
    expect(findings.map((one) => [one.rule, one.severity])).toEqual([[rule, severity]]);
  });
});

describe('a server without TLS', () => {
  it.each([
    ['al2023', nodeConfig().replace('https:', 'http:')],
    ['al2', bootstrapCall('--apiserver-endpoint http://e')],
  ] as const)('is taken, as the bootstrap of %s takes it', (family, text) => {
    expect(rulesOf(bytesOf(text), { family })).toEqual([]);
  });
});

describe('a file of more than 1 MiB', () => {
  it.each([
    [
      'MIME parts',
      mime(...Array.from({ length: 80_000 }, () => part('text/x-shellscript', 'a\n'))),
    ],
    ['YAML', `kind: NodeConfig\n${'a: &a *a\n'.repeat(600_000)}`],
    ['blanks', ' '.repeat(5_000_000)],
  ])('%s: its size is all that is said of it', (_what, text) => {
    const result = lint({ name: 'f', bytes: bytesOf(text) });
    expect(result.findings.map(({ rule }) => rule)).toEqual(['SIZE001']);
    expect(result.findings[0]?.message).toContain('Drover reads no more than 1048576');
  });
});

const numbered = (length: number): string => {
  const all: string[] = [];
  for (let size = 0; size < length; size += all.at(-1)?.length ?? 0)
    all.push(`k${all.length}: v\n`);
  return all.join('');
};

describe('a text as long as may be is read in the time of a test, which quadratic work exceeds', () => {
  const most = readLimitBytes - 1000;
  it.each([
    [
      'MIME parts',
      () => parseMime(`${head.slice(0, head.indexOf('--B'))}${'--B\n\n'.repeat(most / 5)}`),
    ],
    ['keys with an alias', () => parseYaml('k: &a *a\n'.repeat(most / 36))],
    ['keys', () => parseYaml(numbered(most))],
    ['keys of a template', () => parseTemplateText(numbered(most))],
  ])('%s', (_what, run) => {
    expect(run()).toBeDefined();
  });

  it('and a key that occurs twice is a fault nevertheless', () => {
    const text = lines('a: 1', 'b: {c: 1, c: 2}', 'a: 3');
    expect(parseYaml(text).faults).toEqual([
      { at: { line: 3, column: 1 }, message: 'Map keys must be unique' },
      { at: { line: 2, column: 11 }, message: 'Map keys must be unique' },
    ]);
  });
});
