// Checks that the interpreter supports the committed models, and services.ts against the models.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listCoverage } from './coverage.ts';
import { loadModel, type ServiceModel, type Shape, type ShapeRef, shapeOf } from './model.ts';
import { momentsOf } from './moments.ts';
import { matchRest } from './parse-rest.ts';
import { SERVICES } from './services.ts';
import { compilePattern } from './validate.ts';

const models = new Map(
  await Promise.all(
    SERVICES.map(async (service) => [service.name, await loadModel(service.name)] as const),
  ),
);

function modelOf(name: string) {
  const model = models.get(name);
  if (model === undefined) throw new Error(`no model ${name}`);
  return model;
}

const refsOf = (shape: Shape): readonly ShapeRef[] =>
  [...Object.values(shape.members ?? {}), shape.member, shape.key, shape.value].filter(
    (ref) => ref !== undefined,
  );

describe.each(SERVICES.map((service) => [service.name, service] as const))(
  '%s',
  (name, service) => {
    it('is described by services.ts as by its model', () => {
      const { metadata } = modelOf(name);
      expect({
        apiVersion: service.apiVersion,
        protocol: service.protocol,
        jsonVersion: service.jsonVersion,
        targetPrefix: service.targetPrefix,
        xmlNamespace: service.xmlNamespace,
      }).toEqual({
        apiVersion: metadata.apiVersion,
        protocol: metadata.protocol,
        jsonVersion: service.protocol === 'json' ? metadata.jsonVersion : undefined,
        targetPrefix: metadata.targetPrefix,
        xmlNamespace: metadata.xmlNamespace,
      });
    });

    it('says where it comes from and carries no prose', () => {
      const model = modelOf(name);
      expect(model.source).toMatchObject({ package: 'botocore', license: 'Apache-2.0' });
      expect(model.source.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(JSON.stringify(model)).not.toMatch(/"documentation"|<p>/);
    });

    it('has every shape that it refers to', () => {
      const model = modelOf(name);
      const operations = Object.values(model.operations);
      const named = operations.flatMap(({ input, output, errors = [] }) => [
        input,
        output,
        ...errors,
      ]);
      const referred = Object.values(model.shapes).flatMap(refsOf);
      const names = [
        ...named.filter((each) => each !== undefined),
        ...referred.map((r) => r.shape),
      ];
      expect(names.length).toBeGreaterThan(10);
      expect(names.filter((each) => !Object.hasOwn(model.shapes, each))).toEqual([]);
    });

    it('has only patterns that compile, as Unicode expressions where that matters', () => {
      const patterns = Object.values(modelOf(name).shapes).flatMap((shape) => shape.pattern ?? []);
      const plain = patterns.filter((pattern) => !compilePattern(pattern).unicode);
      expect(plain.filter((pattern) => /\\[pPu]/.test(pattern))).toEqual([]);
    });

    it('asks for nothing of HTTP that the interpreter does not do', () => {
      const model = modelOf(name);
      for (const { http, output } of Object.values(model.operations)) {
        // Greedy labels and query constants would need code in parse-rest.ts.
        expect(http?.requestUri ?? '').not.toMatch(/\+|\?/);
        const members = output === undefined ? {} : (model.shapes[output]?.members ?? {});
        expect(Object.values(members).filter((ref) => ref.location !== undefined)).toEqual([]);
      }
    });
  },
);

it('every path of EKS names one operation', () => {
  const eks = modelOf('eks');
  const operations = Object.entries(eks.operations);
  const made = operations.map(([name, { http }]) => ({
    name,
    method: http?.method ?? '',
    path: (http?.requestUri ?? '').replace(/\{\w+\}/g, 'a%2Fb'),
  }));
  expect(made.map(({ method, path }) => matchRest(eks, method, path)?.operation)).toEqual(
    made.map(({ name }) => name),
  );
  const reversed = { ...eks, operations: Object.fromEntries(operations.toReversed()) };
  expect(made.map(({ method, path }) => matchRest(reversed, method, path)?.operation)).toEqual(
    made.map(({ name }) => name),
  );
});

it('every committed model is a service, and each service has one', () => {
  const files = readdirSync(new URL('./models', import.meta.url)).sort();
  expect(files).toEqual(SERVICES.map((service) => `${service.name}.json`).sort());
});

describe('coverage', () => {
  it('lists what is implemented, modelled, omitted and misspelt', async () => {
    const handlers = { ec2: { DescribeInstances: () => ({}), DescribeInstance: () => ({}) } };
    const ec2 = (await listCoverage(handlers)).find((each) => each.service === 'ec2');
    expect(ec2?.implemented).toEqual(['DescribeInstances']);
    expect(ec2?.misnamed).toEqual(['DescribeInstance']);
    expect(ec2?.modelled).toContain('DescribeSubnets');
    expect(ec2?.modelled).not.toContain('DescribeInstances');
    expect(ec2?.omitted).toContain('AllocateAddress');
  });

  it('refuses handlers of a service that does not exist', async () => {
    await expect(listCoverage({ elasticloadbalancing: {} })).rejects.toThrow(
      'handlers of unknown services: elasticloadbalancing',
    );
  });
});

/** Numeric members that are not times, anywhere in the shape. */
function numbersOf(
  model: ServiceModel,
  name: string | undefined,
  seen = new Set<string>(),
): ReadonlySet<string> {
  if (name === undefined || seen.has(name)) return new Set();
  seen.add(name);
  const { members = {}, member, value } = shapeOf(model, name);
  const own = Object.entries(members)
    .filter(([, ref]) => /^(?:integer|long|float|double)$/.test(shapeOf(model, ref.shape).type))
    .map(([one]) => one);
  const below = [...Object.values(members), member, value].flatMap((ref) =>
    ref === undefined ? [] : [...numbersOf(model, ref.shape, seen)],
  );
  return new Set([...own, ...below]);
}

describe('times of an operation', () => {
  it('are the members of type timestamp, at any depth, whatever numbers are called', () => {
    const eks = modelOf('eks');
    expect(momentsOf(eks, eks.operations.DescribeCluster?.output)).toContain('createdAt');
    const logs = modelOf('logs');
    expect(logs.operations.StartQuery?.input).toBeDefined();
    expect(momentsOf(logs, logs.operations.StartQuery?.input)).toEqual(new Set());
  });

  it('never share their name with a number of the same input or output', () => {
    for (const [name, model] of models) {
      for (const [operation, { input, output }] of Object.entries(model.operations)) {
        for (const shape of [input, output]) {
          const numbers = numbersOf(model, shape);
          const both = [...momentsOf(model, shape)].filter((one) => numbers.has(one));
          expect(both, `${name}:${operation}`).toEqual([]);
        }
      }
    }
  });
});
