// A bundle is bounded and free of secrets, and its manifest lists every source.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ended, MemoryHost } from '../../../test/builders/node-host.ts';
import { VirtualClock } from '../../../test/builders/runtime.ts';
import type { BundleOptions } from './collect.ts';
import { collectBundle } from './index.ts';
import { redactText } from './redact.ts';

const collected = async (host: MemoryHost, more: Partial<BundleOptions> = {}) => {
  const entries = new Map<string, string>();
  const { manifest } = await collectBundle({
    host,
    clock: new VirtualClock(),
    node: 'n1',
    signal: new AbortController().signal,
    writer: {
      add: async (name, bytes) => void entries.set(name, new TextDecoder().decode(bytes)),
      end: async () => 1,
    },
    ...more,
  });
  return { manifest, entries };
};

describe('a bundle', () => {
  it('holds what there is, and its manifest says what became of the rest', async () => {
    const host = new MemoryHost();
    host.programs.set('dmesg', ended('one line\n'));
    host.programs.set('nft', ended('', 1, 'Operation not permitted'));
    host.programs.set('ps', { kind: 'late' });
    host.broken.set('/proc/meminfo', 'denied');
    const { manifest, entries } = await collected(host);
    const of = (name: string) => manifest.entries.find((one) => one.name === name);
    expect(of('commands/dmesg.txt')).toMatchObject({
      source: 'dmesg --ctime',
      status: 'collected',
      bytes: 9,
      exitCode: 0,
      redacted: true,
    });
    expect(of('commands/nftables.txt')).toMatchObject({ status: 'failed', exitCode: 1 });
    expect(of('commands/processes.txt')?.status).toBe('late');
    expect(of('commands/images.txt')?.status).toBe('missing');
    expect(of('files/proc/meminfo')?.detail).toContain('lacks the right');
    expect(entries.get('commands/dmesg.txt')).toBe('one line\n');
    expect([...entries.keys()].at(-1)).toBe('manifest.json');
    expect(JSON.parse(entries.get('manifest.json') ?? '')).toMatchObject({
      kind: 'NodeBundle',
      node: 'n1',
    });
  });

  it('ends at its time, and says what was left out', async () => {
    const host = new MemoryHost();
    host.programs.set('dmesg', ended('one line\n'));
    const clock = new VirtualClock();
    const { manifest } = await collected(host, { clock, endsAt: clock.now() });
    expect(manifest.entries.map(({ status }) => status)).not.toContain('collected');
    expect(manifest.entries[0]).toMatchObject({ status: 'skipped', detail: 'the time is over' });
  });

  it('has no more than 50 MiB, and says what was left out', async () => {
    const host = new MemoryHost();
    const full = ended(new Uint8Array(4 * 1024 * 1024).fill(97));
    for (const name of ['dmesg', 'journalctl', 'ip', 'systemctl', 'ps', 'df', 'crictl', 'sysctl']) {
      host.programs.set(name, full);
    }
    const { manifest, entries } = await collected(host);
    const size = [...entries.values()].reduce((total, text) => total + text.length, 0);
    expect(size).toBeLessThanOrEqual(50 * 1024 * 1024 + 100_000);
    const skipped = manifest.entries.filter(({ status }) => status === 'skipped');
    expect(skipped.map(({ detail }) => detail)).toContain('the bundle is full');
  });

  it('of Bottlerocket holds what logdog gathered, as it is', async () => {
    const host = new MemoryHost();
    host.files.set('/etc/os-release', 'NAME=Bottlerocket\nID=bottlerocket\n');
    host.files.set('/var/log/support/bottlerocket-logs.tar.gz', 'packed');
    expect((await collected(host)).manifest.entries[0]?.status).toBe('missing');
    host.programs.set('apiclient exec admin sheltie logdog', ended('logs are at: ...\n'));
    const { manifest, entries } = await collected(host);
    expect(manifest.family).toBe('bottlerocket');
    expect(manifest.entries[0]).toMatchObject({
      name: 'bottlerocket-logs.tar.gz',
      source: 'apiclient exec admin sheltie logdog',
      status: 'collected',
      redacted: false,
    });
    expect(entries.get('bottlerocket-logs.tar.gz')).toBe('packed');
  });
});

const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg';

describe('secrets', () => {
  it.each([
    ['a token', `token is ${jwt} here`, /^token is \[redacted\] here$/],
    ['a header', 'Authorization: Bearer abcdef.ghi', /^Authorization: \[redacted\]$/],
    ['a bearer', 'curl -H "x: Bearer abc123def"', /Bearer \[redacted\]"$/],
    ['an access key', 'key AKIAIOSFODNN7EXAMPLE used', /^key \[redacted\] used$/],
    ['a secret key', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG', /= \[redacted\]$/],
    [
      'a key in JSON',
      '{"clientSecret":"abcd1234","a":1}',
      /^\{"clientSecret":"\[redacted\]","a":1\}$/,
    ],
    ['a password', 'password: hunter22', /^password: \[redacted\]$/],
    ['kubeadm’s token', '--token abcdef.0123456789abcdef', /\[redacted\]$/],
    ['a presigned token', 'k8s-aws-v1.aHR0cHM6Ly9zdHM', /^\[redacted\]$/],
    ['a URL', 'proxy http://user:secret@proxy:3128/', /^proxy http:\/\/\[redacted\]@proxy:3128\/$/],
    ['a signature', 'GET /?X-Amz-Signature=abcdef&x=1', /X-Amz-Signature=\[redacted\]&x=1$/],
    [
      'a private key',
      'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAA=\n-----END RSA PRIVATE KEY-----\nb',
      /^a\n\[redacted\]\nb$/,
    ],
  ])('%s', (_what, text, expected) => {
    expect(redactText(text)).toMatch(expected);
  });

  it('are not seen where there are none', () => {
    const text =
      'kubelet.service: Main process exited, code=exited, status=1/FAILURE\n10.0.0.1:10250';
    expect(redactText(text)).toBe(text);
  });

  it('never survive, wherever they stand', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(redactText(`${before} ${jwt} ${after}`)).not.toContain(jwt);
      }),
    );
  });
});
