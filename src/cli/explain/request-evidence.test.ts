// Which certificate signing requests are evidence: unanswered ones of kubelets, by the node that
// they name.
import { describe, expect, it } from 'vitest';
import { type KubeApi, KubeError } from '../../ports/index.ts';
import { gatherRequests } from './request-evidence.ts';

/** A request for CN=system:node:n1, as openssl creates it. */
const der =
  'MIHqMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lzdGVtOm5vZGU6bjEw' +
  'WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATNJ9F/c8Ib5A+YiLsfOY6xKmiwQibYFkSIyXGpCn52RNFj' +
  'CPCl4qzS4Ldok0pwBGPBcKvdsMB5VBqyI/uDwtEMoAAwCgYIKoZIzj0EAwIDRwAwRAIgCGBxrMNdVDz1' +
  'TXzWNotEqWVx0Lz8AoqBUeZF7y3QvHUCIEgnWm9q2/KSy71u6X4UYtZ98GJC2wTuch2QvV9qUMNf';
const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`;

const csr = (name: string, more: object = {}, spec: object = {}) => ({
  metadata: { name, creationTimestamp: `2026-01-01T00:00:0${name.length}Z` },
  spec: {
    request: btoa(pem),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    ...spec,
  },
  ...more,
});
const given = (items: readonly object[]): KubeApi =>
  ({ list: async () => ({ items }) }) as unknown as KubeApi;
const condition = (type: string) => ({ status: { conditions: [{ type }] } });

describe('certificate requests', () => {
  const serving = { signerName: 'kubernetes.io/kubelet-serving' };

  it('without an answer are found by the node, the newest of each kind, the oldest first', async () => {
    const found = await gatherRequests(
      given([csr('ccc', condition('Denied')), csr('bb', {}, serving), csr('a')]),
    );
    expect([...(found ?? [])]).toEqual([
      [
        'n1',
        [
          { name: 'bb', kind: 'serving', isDenied: false, since: '2026-01-01T00:00:02Z' },
          { name: 'ccc', kind: 'client', isDenied: true, since: '2026-01-01T00:00:03Z' },
        ],
      ],
    ]);
  });

  it.each([
    ['approved', csr('a', condition('Approved'))],
    ['issued', csr('a', { status: { certificate: 'x' } })],
    ['of another signer', csr('a', {}, { signerName: 'example.com/mine' })],
    ['that are none', csr('a', {}, { request: btoa('not a request') })],
    ['that are no base64', csr('a', {}, { request: '%' })],
  ])('%s are no evidence', async (_what, one) => {
    expect([...((await gatherRequests(given([one]))) ?? [])]).toEqual([]);
  });

  it.each([
    ['denied', condition('Denied')],
    ['pending', {}],
  ])(
    'that were %s are none once a newer one of the same kind has its answer',
    async (_w, state) => {
      const items = [csr('bb', condition('Approved')), csr('a', state), csr('ccc', {}, serving)];
      const found = (await gatherRequests(given(items)))?.get('n1');
      expect(found?.map(({ name }) => name)).toEqual(['ccc']);
    },
  );

  it('that may not be read are not looked at', async () => {
    const refused = {
      list: () => Promise.reject(new KubeError('Forbidden', 'no')),
    } as unknown as KubeApi;
    expect(await gatherRequests(refused)).toBeUndefined();
  });
});
