// What `drover userdata render` does with a kubeadm token: user data that its own rules accept, and
// errors for an invalid token or certificate authority.
import { describe, expect, it } from 'vitest';
import { compress, evaluateUserData, exampleFacts } from '../../formats/index.ts';
import type { CliContext } from '../context.ts';
import { type RenderFlags, runRender } from './render.ts';

const group = JSON.stringify({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeGroup',
  metadata: { name: 'plain' },
  spec: {
    clusterName: 'c',
    instanceTypes: ['m5.large'],
    scaling: { minSize: 0, maxSize: 3 },
    labels: { team: 'red', 'node-role.kubernetes.io/worker': '' },
    taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }],
  },
});

const own = '#cloud-config\nruncmd: [kubeadm join --config /mine.yaml]\n';

const theirs: Readonly<Record<string, Uint8Array>> = {
  '/own.yaml': new TextEncoder().encode(own),
  '/own.gz': compress(own),
  '/cut.gz': compress(own).slice(0, 30),
  '/latin1': Uint8Array.from([...own, '\u00e9'], (char) => char.charCodeAt(0)),
};

const run = async (flags: Partial<RenderFlags>) => {
  const [out, err]: [string[], string[]] = [[], []];
  const context = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    readFile: async () => group,
    readBytes: async (path: string) => theirs[path] ?? new Uint8Array(),
  } as unknown as CliContext;
  await runRender(context, { configFile: 'group.yaml', output: 'table', ...flags });
  return { text: out.join('\n'), told: err.join('\n') };
};

const token = '0a1b2c.0123456789abcdef';
const plain = { family: 'cloud-init', endpoint: 'https://10.0.0.1:6443' };

describe('userdata render for kubeadm', () => {
  it('writes the token and the hash of the authority, and its rules find nothing', async () => {
    const { text, told } = await run({ ...plain, token });
    expect(text).toMatch(
      new RegExp(`token: "${token}"\n +caCertHashes:\n +- "sha256:[0-9a-f]{64}"`),
    );
    const { node } = evaluateUserData(text, exampleFacts, 'cloud-init');
    expect(node.obstacles).toEqual([]);
    expect(told.split('\n')).toEqual([
      'example values stand for what was not given: --certificate-authority',
      'set when the node has joined: label node-role.kubernetes.io/worker',
    ]);
  });

  it('gives the kubelet the labels and taints that it may set, before the first pod can land', async () => {
    const { node } = evaluateUserData((await run({ ...plain, token })).text, exampleFacts);
    expect(node.taints).toEqual([{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }]);
    expect(node.labels).toMatchObject({ team: 'red', 'eks.amazonaws.com/nodegroup': 'plain' });
    expect(node.labels).not.toHaveProperty(['node-role.kubernetes.io/worker']);
  });

  it('says what a join of the user’s own leaves to the controller', async () => {
    const { text, told } = await run({ ...plain, userData: '/own.yaml' });
    expect(text).toBe(own.trimEnd());
    expect(told).toMatch(/^set when the node has joined: label team, .*, taint dedicated$/m);
  });

  it('reads user data as it is sent to EC2, and writes nothing again of what is no text', async () => {
    expect((await run({ ...plain, userData: '/own.gz' })).text).toBe(own.trimEnd());
    const refused = /^refused: ENC001: \/\S+ is (gzip that is cut off|bytes that are not UTF-8)/;
    await expect(run({ ...plain, userData: '/cut.gz' })).rejects.toThrow(refused);
    await expect(run({ ...plain, userData: '/latin1' })).rejects.toThrow(refused);
  });

  it.each([
    ['https://10.0.0.1', '10.0.0.1:443'],
    ['https://10.0.0.1:6443/', '10.0.0.1:6443'],
    ['https://[fd00::1]', '[fd00::1]:443'],
    ['https://[fd00::1]:6443', '[fd00::1]:6443'],
  ])('writes %s as kubeadm takes it', async (endpoint, written) => {
    const { text } = await run({ ...plain, token, endpoint });
    expect(text).toContain(`apiServerEndpoint: "${written}"`);
    const { node } = evaluateUserData(text, exampleFacts, 'cloud-init');
    expect(node.obstacles).toEqual([]);
  });

  it('says that a token no one gave is an example', async () => {
    expect((await run(plain)).told).toMatch(/: --certificate-authority, --token$/m);
  });

  it.each([
    ['a token of another form', { ...plain, token: 'secret' }, /--token takes six characters/],
    ['another family', { family: 'al2023', token }, /--token is of kubeadm/],
    ['no authority', { ...plain, certificateAuthority: 'Zm9v' }, /not of a PEM certificate/],
  ])('refuses %s', async (_what, flags, message) => {
    await expect(run(flags)).rejects.toThrow(message);
  });
});
