// Properties for any input: written user data reads back as intended for every family; NodeConfigs
// merge associatively, as upstream's do while a field keeps its kind; long texts of one token
// finish.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../api/json.ts';
import { evaluateUserData, exampleFacts } from '../node/index.ts';
import type { Family } from './families.ts';
import { toJson } from './located.ts';
import { parseMime } from './mime.ts';
import { mergeSpecs, readNodeConfig, specOf } from './node-config.ts';
import { parseToml, printToml } from './toml.ts';
import { type Injection, writeUserData } from './write.ts';

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const name = fc
  .array(fc.constantFrom(...letters, ...'ABC012-_.'), { maxLength: 12 })
  .map((all) => `a${all.join('')}z`);
const label = fc.oneof(
  name,
  fc.tuple(fc.constantFrom('example.com', 'a.b'), name).map((both) => both.join('/')),
);
const value = fc.oneof(fc.constant(''), name);
const effect = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule');
const cluster = fc
  .array(fc.constantFrom(...letters, ...'0123456789-'), { maxLength: 20 })
  .map((all) => `c${all.join('')}`);

const injections = fc.record({
  cluster: cluster.map((one) => ({
    name: one,
    endpoint: 'https://e.example',
    certificateAuthority: 'QQ==',
    serviceCidr: '10.100.0.0/16',
  })),
  labels: fc.dictionary(label, value, { minKeys: 1, maxKeys: 5 }),
  taints: fc.uniqueArray(fc.record({ key: label, value: name, effect }), {
    maxLength: 3,
    selector: ({ key, effect: one }) => `${key}:${one}`,
  }),
  maxPods: fc.integer({ min: 1, max: 500 }),
});

const written = (injection: Injection): string => {
  const result = writeUserData(injection, undefined, { isStrict: true });
  if (result.kind === 'fault') throw new Error(result.message);
  return result.text;
};

describe('render, then parse', () => {
  it.each<Family>(['al2', 'ubuntu', 'al2023', 'bottlerocket', 'windows'])(
    'is the identity for %s',
    (family) => {
      fc.assert(
        fc.property(injections, (given) => {
          const text = written({ family, ...given });
          const { node } = evaluateUserData(text, exampleFacts, family);
          expect(node.cluster.name).toBe(given.cluster.name);
          expect(node.labels).toEqual({ ...given.labels });
          const key = (one: { key: string; effect: string }) => `${one.key}:${one.effect}`;
          expect(node.taints.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))).toEqual(
            given.taints.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
          );
          expect(node.maxPods).toBe(given.maxPods);
          // The written text is a fixed point of the family's reader.
          expect(evaluateUserData(text, exampleFacts).node.labels).toEqual({ ...given.labels });
        }),
        { numRuns: 60 },
      );
    },
  );

  it('is the identity for kubeadm’s join', () => {
    const hex = fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: 64, maxLength: 64 });
    const host = fc.domain().map((one) => `https://${one}:6443`);
    const version = fc.constantFrom('1.21', '1.22', '1.30', '1.31', '1.37');
    fc.assert(
      fc.property(host, hex, injections, version, (endpoint, digits, given, kubernetesVersion) => {
        const caHash = `sha256:${digits.join('')}`;
        const join = { token: 'abcdef.0123456789abcdef', caHash, kubernetesVersion };
        const text = written({
          ...given,
          family: 'cloud-init',
          cluster: { name: 'c', endpoint },
          join,
        });
        const { node } = evaluateUserData(text, { ...exampleFacts, kubernetesVersion });
        expect(node.obstacles).toEqual([]);
        expect(node.cluster.endpoint).toBe(endpoint);
        expect(node.labels).toEqual({ ...given.labels });
        expect(node.taints).toEqual(given.taints);
        expect(node.maxPods).toBe(given.maxPods);
        expect(node.files.some(({ content }) => content.includes(join.token))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('is the identity for TOML documents', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
    const { tree } = fc.letrec<{ tree: Record<string, Json> }>((tie) => ({
      tree: fc.dictionary(
        fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
        fc.oneof({ depthSize: 'small' }, leaf, tie('tree')),
        { maxKeys: 4 },
      ) as fc.Arbitrary<Record<string, Json>>,
    }));
    fc.assert(
      fc.property(tree, (document) => {
        const { value: read, faults } = parseToml(printToml(document));
        expect(faults).toEqual([]);
        expect(toJson(read)).toEqual(document);
      }),
      { numRuns: 200 },
    );
  });
});

/** Each field has one kind in all parts: a change of kind replaces, so that order matters. */
const specs = fc.record(
  {
    cluster: fc.record(
      { name: fc.constantFrom('', 'a', 'b'), id: fc.constantFrom('', 'x') },
      { requiredKeys: [] },
    ),
    kubelet: fc.record(
      {
        config: fc.record(
          {
            maxPods: fc.constantFrom(0, 1, 2),
            clusterDNS: fc.constantFrom([], ['1.1.1.1'], ['2.2.2.2']),
            featureGates: fc.dictionary(fc.constantFrom('A', 'B'), fc.boolean()),
          },
          { requiredKeys: [] },
        ),
        flags: fc.array(fc.constantFrom('--v=2', '--v=3')),
        maxPodsExpression: fc.constantFrom('', 'max_pods'),
      },
      { requiredKeys: [] },
    ),
    instance: fc.record(
      {
        localStorage: fc.record({ strategy: fc.constantFrom('', 'RAID0') }, { requiredKeys: [] }),
        environment: fc.dictionary(
          fc.constantFrom('default', 'kubelet'),
          fc.dictionary(fc.constantFrom('K', 'L'), fc.constantFrom('', 'v')),
        ),
      },
      { requiredKeys: [] },
    ),
    featureGates: fc.dictionary(
      fc.constantFrom('FastImagePull', 'InstanceIdNodeName'),
      fc.boolean(),
    ),
  },
  { requiredKeys: [] },
);

const located = (spec: object) =>
  specOf(
    readNodeConfig(
      JSON.stringify({ apiVersion: 'node.eks.aws/v1alpha1', kind: 'NodeConfig', spec }),
      { line: 1, column: 1 },
    ),
  );

describe('the merge of NodeConfigs', () => {
  it('is the same in any grouping', () => {
    fc.assert(
      fc.property(specs, specs, specs, (a, b, c) => {
        const [x, y, z] = [located(a), located(b), located(c)];
        const left = mergeSpecs([mergeSpecs([x, y]), z]);
        const right = mergeSpecs([x, mergeSpecs([y, z])]);
        expect(toJson(left)).toEqual(toJson(right));
        expect(toJson(mergeSpecs([x, y, z]))).toEqual(toJson(left));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a long text of one token', () => {
  const tokens = [
    '\n',
    '\r\n',
    '"',
    '"""',
    '$(',
    '[',
    '[a]\n',
    '&a *a ',
    '<<EOF\n',
    '--B\n',
    '://a:',
  ];
  const lengths = [60_000, 400_000];
  const cases = tokens.flatMap((token) =>
    // The YAML library is slow on quotes and brackets; the others are read in one pass.
    (/^["[&]/.test(token) ? lengths.slice(0, 1) : lengths).map(
      (length) => [token, length] as const,
    ),
  );
  it.each(cases)('%j, %i characters, is read to its end', (token, length) => {
    const text = token.repeat(Math.ceil(length / token.length));
    for (const family of ['al2', 'al2023', 'windows', 'bottlerocket'] as const) {
      expect(evaluateUserData(text, exampleFacts, family).node.obstacles.length).toBeGreaterThan(0);
    }
    expect(parseMime(text)).toBeUndefined();
  });
});
