// Certificate signing requests of kubelets: a table of what is approved and what is left pending,
// and why.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochMs } from '../../api/brand.ts';
import type { CertificateRequest } from '../../formats/index.ts';
import {
  decideCertificate,
  type InstanceRecord,
  type KubeletRequest,
  kubeletSigners,
  plainAddress,
  type RequestFacts,
} from './certificates.ts';

const dns = 'ip-10-0-1-2.eu-west-1.compute.internal';
const now = epochMs(1_000_000_000);

const aContent = (more: Partial<CertificateRequest> = {}): CertificateRequest => ({
  commonName: `system:node:${dns}`,
  organisations: ['system:nodes'],
  dnsNames: [dns],
  ipAddresses: ['10.0.1.2'],
  emailAddresses: [],
  uris: [],
  key: { kind: 'ec', bits: 256 },
  ...more,
});
const noNames = { dnsNames: [], ipAddresses: [] };

const serving = (more: Partial<KubeletRequest> = {}): KubeletRequest => ({
  signer: kubeletSigners.serving,
  username: `system:node:${dns}`,
  groups: ['system:nodes', 'system:authenticated'],
  usages: ['digital signature', 'server auth'],
  expirationSeconds: undefined,
  createdAt: now,
  content: aContent(),
  ...more,
});
const bootstrap = (more: Partial<KubeletRequest> = {}): KubeletRequest =>
  serving({
    signer: kubeletSigners.client,
    username: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:authenticated'],
    usages: ['digital signature', 'client auth'],
    content: aContent(noNames),
    ...more,
  });

const instance: InstanceRecord = {
  instanceId: 'i-0a',
  state: 'running',
  names: [dns, 'ec2-1-2-3-4.compute.amazonaws.com'],
  addresses: ['10.0.1.2', '1.2.3.4', '2001:db8::5'],
  launchedAt: epochMs(now - 60_000),
};
const facts = (more: Partial<RequestFacts> = {}): RequestFacts => ({
  instance,
  node: { instanceId: 'i-0a' },
  pending: 0,
  approvedLately: 0,
  pendingInAll: 1,
  nodes: 3,
  ...more,
});
const fresh = (more: Partial<RequestFacts> = {}): RequestFacts =>
  facts({ node: undefined, ...more });

describe('a serving certificate', () => {
  it.each([
    ['with its own name and address', {}],
    [
      'with the short name, in another case, with the last dot',
      { dnsNames: ['IP-10-0-1-2', `${dns}.`] },
    ],
    [
      'with its public name and address',
      {
        dnsNames: ['ec2-1-2-3-4.compute.amazonaws.com'],
        ipAddresses: ['1.2.3.4'],
      },
    ],
    ['with its IPv6 address in another form', { ipAddresses: ['2001:db8:0:0:0:0:0:5'] }],
    ['with its instance id for a name', { dnsNames: ['i-0a'] }],
    ['with an RSA key', { key: { kind: 'rsa', bits: 2048 } }],
    ['with an Ed25519 key', { key: { kind: 'ed25519' } }],
  ] as const)('is approved %s', (_, more) => {
    const decision = decideCertificate(serving({ content: aContent(more) }), facts());
    expect(decision).toMatchObject({ kind: 'approve', message: expect.stringContaining('i-0a') });
  });

  it('is approved with key encipherment, and for a year', () => {
    const usages = ['key encipherment', 'digital signature', 'server auth'];
    const request = serving({ usages, expirationSeconds: 365 * 86_400 });
    expect(decideCertificate(request, facts()).kind).toBe('approve');
  });

  it('is approved for a node that has its instance id for a name', () => {
    const content = aContent({ commonName: 'system:node:i-0a', dnsNames: ['i-0a'] });
    const request = serving({ username: 'system:node:i-0a', content });
    expect(decideCertificate(request, facts()).kind).toBe('approve');
  });

  it.each([
    ['Unreadable', { content: undefined }, {}],
    ['WrongSubject', { content: aContent({ commonName: 'admin' }) }, {}],
    ['WrongSubject', { content: aContent({ commonName: 'system:node:' }) }, {}],
    [
      'WrongSubject',
      { content: aContent({ organisations: ['system:nodes', 'system:masters'] }) },
      {},
    ],
    ['WrongSubject', { content: aContent({ organisations: [] }) }, {}],
    ['WrongSubject', { content: aContent(noNames) }, {}],
    ['WrongSubject', { content: aContent({ uris: ['spiffe://x'] }) }, {}],
    ['WrongSubject', { content: aContent({ emailAddresses: ['a@b'] }) }, {}],
    ['WrongRequestor', { username: 'system:node:other' }, {}],
    ['WrongRequestor', { username: 'system:bootstrap:abcdef' }, {}],
    ['WrongRequestor', { groups: ['system:authenticated'] }, {}],
    ['WrongRequestor', { groups: ['system:nodes'] }, {}],
    ['WrongUsages', { usages: ['digital signature', 'server auth', 'client auth'] }, {}],
    ['WrongUsages', { usages: ['server auth'] }, {}],
    ['WrongUsages', { usages: ['digital signature', 'client auth'] }, {}],
    ['WeakKey', { content: aContent({ key: { kind: 'rsa', bits: 1024 } }) }, {}],
    ['WeakKey', { content: aContent({ key: { kind: 'ec', bits: 0 } }) }, {}],
    ['WeakKey', { content: aContent({ key: { kind: 'other', algorithm: '2a' } }) }, {}],
    ['LongLived', { expirationSeconds: 400 * 86_400 }, {}],
    ['NoInstance', {}, { instance: undefined }],
    ['NoInstance', {}, { instance: { ...instance, state: 'terminated' } }],
    ['NoNode', {}, { node: undefined }],
    ['OtherInstance', {}, { node: { instanceId: 'i-0b' } }],
    ['OtherInstance', {}, { node: { instanceId: undefined } }],
    ['ForeignName', { content: aContent({ dnsNames: [dns, 'auth.example.com'] }) }, {}],
    // It begins with the node's name.
    ['ForeignName', { content: aContent({ dnsNames: [`${dns}.example.com`] }) }, {}],
    ['ForeignAddress', { content: aContent({ ipAddresses: ['10.0.1.2', '10.0.1.3'] }) }, {}],
    ['ForeignAddress', { content: aContent({ ipAddresses: ['::ffff:a00:102'] }) }, {}],
    ['TooMany', {}, { pending: 5 }],
    ['TooMany', {}, { approvedLately: 6 }],
    ['TooMany', {}, { pendingInAll: 101 }],
  ] as const)('waits with %s: %j %j', (reason, request, more) => {
    expect(decideCertificate(serving(request), facts(more))).toMatchObject({
      kind: 'wait',
      reason,
    });
  });

  it('asks for no more than a large group of nodes', () => {
    expect(decideCertificate(serving(), facts({ pendingInAll: 150, nodes: 80 })).kind).toBe(
      'approve',
    );
  });
});

describe('a client certificate', () => {
  it('is approved for an instance that has just been started and has no node', () => {
    expect(decideCertificate(bootstrap(), fresh()).kind).toBe('approve');
  });

  it('is approved again for the node itself', () => {
    const own = {
      username: `system:node:${dns}`,
      groups: ['system:nodes', 'system:authenticated'],
    };
    expect(decideCertificate(bootstrap(own), facts()).kind).toBe('approve');
  });

  it.each([
    ['NodeExists', {}, { node: { instanceId: 'i-0a' } }],
    ['TooOld', {}, { instance: { ...instance, launchedAt: epochMs(now - 7_300_000) } }],
    ['TooOld', {}, { instance: { ...instance, launchedAt: epochMs(now + 120_000) } }],
    ['TooOld', {}, { instance: { ...instance, launchedAt: undefined } }],
    ['NoInstance', {}, { instance: undefined }],
    ['WrongRequestor', { groups: ['system:authenticated'] }, {}],
    ['WrongRequestor', { username: 'system:serviceaccount:a:b' }, {}],
    ['WrongSubject', { content: aContent() }, {}],
    ['WrongUsages', { usages: ['digital signature', 'server auth'] }, {}],
    ['TooMany', {}, { approvedLately: 6 }],
  ] as const)('waits with %s: %j %j', (reason, request, more) => {
    expect(decideCertificate(bootstrap(request), fresh(more))).toMatchObject({
      kind: 'wait',
      reason,
    });
  });
});

it('no request with a name or address that is not the instance’s is ever approved', () => {
  const names = [dns, 'ip-10-0-1-2', 'other', `${dns}.evil`, 'i-0a', ''];
  const addresses = ['10.0.1.2', '1.2.3.4', '9.9.9.9', '2001:db8::5', '2001:db8::6'];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...names), { maxLength: 3 }),
      fc.array(fc.constantFrom(...addresses), { maxLength: 3 }),
      (dnsNames, ipAddresses) => {
        const content = aContent({ dnsNames, ipAddresses });
        const own = ['other', `${dns}.evil`, ''].every((name) => !dnsNames.includes(name));
        const mine = ['9.9.9.9', '2001:db8::6'].every((one) => !ipAddresses.includes(one));
        const some = dnsNames.length + ipAddresses.length > 0;
        const { kind } = decideCertificate(serving({ content }), facts());
        expect(kind === 'approve').toBe(own && mine && some);
      },
    ),
  );
});

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::', '0:0:0:0:0:0:0:0'],
  ['::1', '0:0:0:0:0:0:0:1'],
  ['2001:DB8::5', '2001:db8:0:0:0:0:0:5'],
  ['fe80::', 'fe80:0:0:0:0:0:0:0'],
])('%s is %s', (address, plain) => {
  expect(plainAddress(address)).toBe(plain);
});
