import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import { type CheckOptions, checkFields } from './check.ts';
import { findSchema } from './facts.ts';

function schemaOf(apiVersion: string, kind: string) {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const schema = findSchema({ group, version, kind });
  if (schema === undefined) throw new Error(`no ${apiVersion} ${kind}`);
  return schema;
}

const GROUPS: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  Lease: 'coordination.k8s.io/v1',
};
const apiVersionOf = (kind: string): string => GROUPS[kind] ?? 'v1';

const check = (kind: string, object: Json, options: CheckOptions = { mode: 'Strict' }) =>
  checkFields(object, schemaOf(apiVersionOf(kind), kind), options);

function message(kind: string, object: Json, options?: CheckOptions): string {
  const result = check(kind, object, options);
  return result.kind === 'error' ? result.status.message : 'accepted';
}

function accepted(kind: string, object: JsonObject): JsonObject {
  const result = check(kind, object, { mode: 'Ignore' });
  if (result.kind === 'error') throw new Error(result.status.message);
  return result.object;
}

// Every message below was printed by Kubernetes 1.32's own decoder for the same input.
describe('wrong request bodies', () => {
  it.each<[string, string, Json]>([
    [
      'strict decoding error: unknown field "spec.foo", ' +
        'unknown field "spec.template.spec.containers[0].imag", unknown field "zzz"',
      'Deployment',
      { spec: { foo: 1, template: { spec: { containers: [{ imag: 'x' }] } } }, zzz: 1 },
    ],
    [
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type ' +
        'int32',
      'Deployment',
      { spec: { replicas: 'x' } },
    ],
    [
      'json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of ' +
        'type int32',
      'Deployment',
      { spec: { replicas: 1.5 } },
    ],
    [
      'json: cannot unmarshal string into Go struct field Deployment.spec of type ' +
        'v1.DeploymentSpec',
      'Deployment',
      { spec: 'x' },
    ],
    [
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type ' +
        '[]v1.Container',
      'Pod',
      { spec: { containers: { a: 1 } } },
    ],
    [
      'json: cannot unmarshal string into Go struct field ' +
        'ContainerPort.spec.containers.ports.containerPort of type int32',
      'Pod',
      { spec: { containers: [{ ports: [{ containerPort: '80' }] }] } },
    ],
    [
      'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type ' +
        'v1.RestartPolicy',
      'Pod',
      { spec: { restartPolicy: 1 } },
    ],
    [
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type ' +
        'string',
      'Pod',
      { metadata: { labels: { a: 1 } } },
    ],
    [
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      'Pod',
      { spec: { containers: [{ resources: { requests: { cpu: 'abc' } } }] } },
    ],
    [
      'parsing time "2020-01-01T01:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": ' +
        'cannot parse "Z" as ".000000"',
      'Lease',
      { spec: { renewTime: '2020-01-01T01:00:00Z' } },
    ],
    [
      'parsing time "2020-13-01T01:00:00Z": month out of range',
      'Pod',
      { metadata: { deletionTimestamp: '2020-13-01T01:00:00Z' } },
    ],
    ['illegal base64 data at input byte 0', 'Secret', { data: { a: '%%%' } }],
    [
      'json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of ' +
        'type int32',
      'Service',
      { spec: { ports: [{ targetPort: true }] } },
    ],
    ['json: cannot unmarshal array into Go value of type v1.Pod', 'Pod', []],
  ])('%s', (problem, kind, object) => {
    expect(message(kind, object)).toBe(
      `${kind} in version "v1" cannot be handled as a ${kind}: ${problem}`,
    );
  });

  it('answers 400 BadRequest', () => {
    const result = check('Pod', { spec: 1 });
    expect(result.kind === 'error' && result.status).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      status: 'Failure',
    });
  });
});

describe('field validation modes', () => {
  const body = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [], nodeNam: 'x' } };

  it('warns about unknown fields and drops them', () => {
    const result = check('Pod', body, { mode: 'Warn' });
    expect(result).toMatchObject({ kind: 'ok', warnings: ['unknown field "spec.nodeNam"'] });
    expect(result.kind === 'ok' && result.object.spec).toEqual({ containers: [] });
  });

  it('drops them silently when told to ignore them', () => {
    expect(check('Pod', body, { mode: 'Ignore' })).toMatchObject({ kind: 'ok', warnings: [] });
  });

  it('refuses wrong types in every mode', () => {
    expect(check('Pod', { spec: { hostNetwork: 'x' } }, { mode: 'Ignore' }).kind).toBe('error');
  });
});

describe('wrong patches', () => {
  it.each<[string, 'strategic' | 'merge', JsonObject, JsonObject, string]>([
    [
      'an unknown field in a strategic patch',
      'strategic',
      { spec: { foo: 'x' } },
      { spec: { foo: 'x', containers: [] } },
      ' "" is invalid: patch: Invalid value: "map[spec:map[foo:x]]": ' +
        'strict decoding error: unknown field "spec.foo"',
    ],
    [
      'a wrong type in a strategic patch, in the words of the converter',
      'strategic',
      { spec: { activeDeadlineSeconds: 'x' } },
      { spec: { activeDeadlineSeconds: 'x' } },
      ' "" is invalid: patch: Invalid value: "map[spec:map[activeDeadlineSeconds:x]]": ' +
        'unrecognized type: int64',
    ],
    [
      'a wrong type in a merge patch, with the patched object',
      'merge',
      { spec: 'x' },
      { spec: 'x' },
      ' "" is invalid: patch: Invalid value: "{\\"spec\\":\\"x\\"}": ' +
        'json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec',
    ],
  ])('%s', (_name, type, body, patched, expected) => {
    const options: CheckOptions = { mode: 'Strict', patch: { type, body } };
    expect(message('Pod', patched, options)).toBe(expected);
    const result = check('Pod', patched, options);
    expect(result.kind === 'error' && [result.status.code, result.status.reason]).toEqual([
      422,
      'Invalid',
    ]);
  });
});

describe('what is stored', () => {
  it('makes quantities and times canonical', () => {
    const requests = { cpu: 0.5, memory: '1024Mi', 'ephemeral-storage': '1.5Gi', pods: '1000m' };
    const pod = accepted('Pod', {
      metadata: { deletionTimestamp: '2020-01-01T01:00:00.5+02:00' },
      spec: { containers: [{ name: 'c', resources: { requests } }] },
    });
    expect(pod).toMatchObject({
      metadata: { deletionTimestamp: '2019-12-31T23:00:00Z' },
      spec: {
        containers: [
          {
            resources: {
              requests: { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '1536Mi', pods: '1' },
            },
          },
        ],
      },
    });
  });

  it('leaves out empty values and shows the structs that Go always writes', () => {
    const node = { metadata: { name: 'n' }, spec: { unschedulable: false, taints: [] } };
    expect(accepted('Node', node)).toEqual({
      metadata: { name: 'n', creationTimestamp: null },
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          machineID: '',
          systemUUID: '',
          bootID: '',
          kernelVersion: '',
          osImage: '',
          containerRuntimeVersion: '',
          kubeletVersion: '',
          kubeProxyVersion: '',
          operatingSystem: '',
          architecture: '',
        },
      },
    });
  });

  it('keeps a zero behind a pointer', () => {
    expect(accepted('Deployment', { spec: { replicas: 0 } })).toMatchObject({
      spec: { replicas: 0 },
    });
  });

  it('gives back the very same object when it is right already', () => {
    const once = accepted('Pod', { metadata: { name: 'p' }, spec: { containers: [] } });
    expect(accepted('Pod', once)).toBe(once);
    const again = accepted('Pod', { ...once, metadata: { name: 'q', creationTimestamp: null } });
    expect(again.spec).toBe(once.spec);
  });
});
