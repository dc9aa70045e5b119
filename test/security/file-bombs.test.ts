// Small inputs that expand: alias bombs, nesting, thousands of errors, gzip. Each reader of a file
// or request reports an error and continues to work.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { lint } from '../../src/core/bootstrap/index.ts';
import { authProblems, parseClusterConfig, parseTemplateText } from '../../src/formats/index.ts';
import { parseRequestYaml } from '../../src/main/request-yaml.ts';

const bomb = (width: number, depth: number): string =>
  [
    'a0: &a0 [x]',
    ...Array.from(
      { length: depth },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(width).fill(`*a${i}`).join(',')}]`,
    ),
  ].join('\n');

const corpus: readonly (readonly [string, string])[] = [
  ['an alias bomb of nines', bomb(9, 9)],
  ['an alias bomb of twos', bomb(2, 60)],
  ['lists in lists', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  ['maps in maps', `${'{a: '.repeat(25_000)}1${'}'.repeat(25_000)}`],
  ['dashes', '- '.repeat(50_000)],
  ['anchors', '&a '.repeat(30_000)],
  ['keys of keys', '? '.repeat(30_000)],
  ['tags', '!a '.repeat(30_000)],
  ['quotes, each of them an error of one long line', '"'.repeat(300_000)],
];

const failed = (run: () => unknown): boolean => {
  try {
    run();
    return false;
  } catch (error) {
    // An error of the engine itself would mean exhausted stack or memory.
    return error instanceof Error && !(error instanceof TypeError);
  }
};
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const hasFindings = (text: string): boolean =>
  lint({ name: 'f.yaml', bytes: bytesOf(text) }, { family: 'al2023' }).findings.length > 0;

/** Returns true if the input is refused. */
const readers: readonly (readonly [string, (text: string) => boolean])[] = [
  ['user data', hasFindings],
  [
    'a NodeConfig',
    (text) => hasFindings(`kind: NodeConfig\nspec:\n${text.replaceAll(/^/gm, ' ')}`),
  ],
  ['a ClusterConfig', (text) => parseClusterConfig(text).kind === 'faults'],
  ['a request', (text) => failed(() => parseRequestYaml(text))],
  [
    'aws-auth',
    (text) => {
      const map = text.replaceAll(/^/gm, '    ');
      const head =
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth}\ndata:\n  mapRoles: |\n';
      return (authProblems(`${head}${map}\n`, [])?.length ?? 1) > 0;
    },
  ],
];

describe.each(readers)('%s', (_name, refuses) => {
  it.each(corpus)('refuses %s', (_what, text) => {
    expect(refuses(text)).toBe(true);
  });
});

describe('a template', () => {
  it.each(corpus)('of %s ends in a value or one error', (_what, text) => {
    let message = '';
    try {
      parseTemplateText(text);
    } catch (error) {
      message = error instanceof Error ? error.message : '';
    }
    expect(message.split('\n')).toHaveLength(1);
    expect(message.length).toBeLessThan(300);
  });
});

describe('gzip', () => {
  it('of gigabytes is a finding', () => {
    const bytes = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(lint({ name: 'f', bytes }).findings.map(({ rule }) => rule)).toContain('ENC001');
  });
});
