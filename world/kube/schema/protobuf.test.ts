import { describe, expect, it } from 'vitest';
import { decodeProtobuf } from './protobuf.ts';

const bytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));

// Written by Kubernetes 1.32's own protobuf serializer.
const DELETE_OPTIONS = 'azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIVCAUSBQoDdS0xIgpCYWNrZ3JvdW5kGgAiAA==';
const ACCESS_REVIEW =
  'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSPwoQCgASABoAIgAq' +
  'ADIAOABCABIhCh8KB2RlZmF1bHQSBmNyZWF0ZRoAIgAqBHBvZHMyADoAGggIABIAGgAgABoAIgA=';
const EVICTION =
  'azhzAAoVCglwb2xpY3kvdjESCEV2aWN0aW9uEiMKGAoBcBIAGgdkZWZhdWx0IgAqADIAOABCABIHCB4qA0FsbBoAIgA=';
/** The same with the version that cluster-autoscaler 1.36 sends. */
const OLD_EVICTION =
  'azhzAAoaCg5wb2xpY3kvdjFiZXRhMRIIRXZpY3Rpb24SIwoYCgFwEgAaB2RlZmF1bHQiACoAMgA4AEIAEgcIHioDQWxsGgAi' +
  'AA==';
const LEASE =
  'azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRIpChIKAWwSABoAIgAqADIBNzgAQgASEwoBaBAPIgwI' +
  '8POBrwYQoLyd+AIaACIA';
const BINDING =
  'azhzAAoNCgJ2MRIHQmluZGluZxIwChkKAXASABoAIgAqADIAOABCAGIGCgFhEgFiEhMKBE5vZGUSABoBbiIAKgAyADoA' +
  'GgAiAA==';
const POD =
  'azhzAAoJCgJ2MRIDUG9kEqgBChEKAXASABoAIgAqADIAOABCABKAAQoJCgF2EgQSAgoAElcKAWMSAWkqADIKCgAQABhQ' +
  'IgAqAEIPEg0KA2NwdRIGCgQ1MDBtWiAKFBISCgASCggBEAAaBGh0dHAaACIAEAAYACAAKAAwAGoAcgCAAQCIAQCQAQCi' +
  'AQAaADIAQgBKAFIAWABgAGgAggEAigEAmgEAwgEAGhAKABoAIgAqADIASgBaAHIAGgAiAA==';
const OLD_INGRESS =
  'azhzAAokChluZXR3b3JraW5nLms4cy5pby92MWJldGExEgdJbmdyZXNzEhkKEQoBaRIAGgAiACoAMgA4AEIAEgAaAgoA' +
  'GgAiAA==';

// Written by kube-apiserver 1.36.
const DEFINITION =
  'azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEsYFCqsCCgd3cy5l' +
  'LmlvEgAaACIAKiRhODIzNmM2ZC01ZWJiLTQ0YjctYWUxMS1kOWE4MzZlMGIzM2IyADgBQggIvNSS2AYQAIoB5AEKAW0S' +
  'BlVwZGF0ZRoXYXBpZXh0ZW5zaW9ucy5rOHMuaW8vdjEiCAi81JLYBhAAMghGaWVsZHNWMTqnAQqkAXsiZjpzcGVjIjp7' +
  'ImY6Y29udmVyc2lvbiI6eyIuIjp7fSwiZjpzdHJhdGVneSI6e319LCJmOmdyb3VwIjp7fSwiZjpuYW1lcyI6eyJmOmtp' +
  'bmQiOnt9LCJmOmxpc3RLaW5kIjp7fSwiZjpwbHVyYWwiOnt9LCJmOnNpbmd1bGFyIjp7fX0sImY6c2NvcGUiOnt9LCJm' +
  'OnZlcnNpb25zIjp7fX19QgASgwMKBGUuaW8aEQoCd3MSAXciAVcqBVdMaXN0IgdDbHVzdGVyOtQCCgJ2MRABGAEixwIK' +
  'xAIKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQDqAVEKAWESTAoAEgAiACoFYXJyYXkyADoAUABgAHoAkAEAwgEmCiQK' +
  'ABIAIgAqBnN0cmluZzIAOgBQAGAAegCQAQCoAgC4AgDAAgCoAgC4AgDAAgDqAVUKAWISUAoAEgAiACoGb2JqZWN0MgA6' +
  'AFAAYAB6AJABAPIBKQgBEiUKABIAIgAqB2ludGVnZXIyADoAUABgAHoAkAEAqAIAuAIAwAIAqAIAuAIAwAIA6gEuCgFj' +
  'EikKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQDyAQIIAagCALgCAMACAOoBQAoBZBI7CgASACIAKgZzdHJpbmcyADoA' +
  'QgUKAyJ4IlAAYAB6AJABAKIBBQoDIngiogEFCgMieSKoAgC4AgDAAgCoAgC4AgDAAgA4AEoGCgROb25lUAAaEBIICgAS' +
  'ACIAKgAaAnYxIAAaACIA';

describe('protobuf bodies', () => {
  it.each([
    [
      'a definition with lists, maps and open objects in its schema',
      DEFINITION,
      {
        kind: 'CustomResourceDefinition',
        spec: {
          versions: [
            {
              name: 'v1',
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  properties: {
                    a: { type: 'array', items: { type: 'string' } },
                    b: { type: 'object', additionalProperties: { type: 'integer' } },
                    c: { type: 'object', additionalProperties: true },
                    d: { type: 'string', default: 'x', enum: ['x', 'y'] },
                  },
                },
              },
            },
          ],
        },
      },
    ],
    [
      'delete options',
      DELETE_OPTIONS,
      {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 5,
        preconditions: { uid: 'u-1' },
        propagationPolicy: 'Background',
      },
    ],
    [
      'an access review',
      ACCESS_REVIEW,
      {
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { namespace: 'default', verb: 'create', resource: 'pods' } },
      },
    ],
    [
      'an eviction with its options',
      EVICTION,
      {
        apiVersion: 'policy/v1',
        metadata: { name: 'p', namespace: 'default' },
        deleteOptions: { gracePeriodSeconds: 30, dryRun: ['All'] },
      },
    ],
    [
      'an eviction of the version before',
      OLD_EVICTION,
      {
        apiVersion: 'policy/v1beta1',
        metadata: { name: 'p', namespace: 'default' },
        deleteOptions: { gracePeriodSeconds: 30, dryRun: ['All'] },
      },
    ],
    [
      'a lease with its renewal time',
      LEASE,
      {
        metadata: { name: 'l', resourceVersion: '7' },
        spec: {
          holderIdentity: 'h',
          leaseDurationSeconds: 15,
          renewTime: '2024-02-29T12:34:56.789012Z',
        },
      },
    ],
    [
      'a binding with annotations',
      BINDING,
      { metadata: { annotations: { a: 'b' } }, target: { kind: 'Node', name: 'n' } },
    ],
    [
      'a pod: quantities, ports by name, embedded volume sources',
      POD,
      {
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              ports: [{ containerPort: 80 }],
              resources: { requests: { cpu: '500m' } },
              readinessProbe: { httpGet: { port: 'http' } },
            },
          ],
          volumes: [{ name: 'v', emptyDir: {} }],
        },
      },
    ],
  ])('hold %s', (_name, base64, expected) => {
    const body = decodeProtobuf(bytes(base64));
    expect(body.kind === 'ok' && body.object).toMatchObject(expected);
  });

  it.each([
    ['a kind that is not decoded, by name', OLD_INGRESS, 415, 'networking.k8s.io/v1beta1 Ingress'],
    ['JSON', Buffer.from('{}').toString('base64'), 400, 'does not appear to be a protobuf message'],
    ['a body that ends early', LEASE.slice(0, 60), 400, 'unexpected EOF'],
  ])('refuse %s', (_name, base64, code, text) => {
    const body = decodeProtobuf(bytes(base64));
    expect(body.kind === 'error' && body.status.code).toBe(code);
    expect(body.kind === 'error' && body.status.message).toContain(text);
  });
});
