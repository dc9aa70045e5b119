// drover userdata render: the user data of a node group from its file, and with --files every file
// that its nodes will have. Calls nothing. Uses examples for cluster facts that were not given, and
// says so.
import { defined } from '../../api/defined.ts';
import type { JsonObject } from '../../api/json.ts';
import { type GroupUserData, groupUserData } from '../../core/bootstrap/index.ts';
import {
  authorityFault,
  compress,
  decode,
  type Evaluation,
  encodeBase64,
  evaluateUserData,
  exampleAuthority,
  exampleFacts,
  type Family,
  hexOf,
  type NodeFile,
  publicKeyInfo,
  redacted,
  sizeLimitBytes,
  sizeOf,
  takesGzip,
} from '../../formats/index.ts';
import { type CliContext, CommandError, exitCodes } from '../context.ts';
import { outText, printFiles } from '../node/files.ts';
import { printDocument } from '../output.ts';
import { visible } from '../visible.ts';
import { cidrGiven, familyNamed, typeGiven, usage, versionGiven } from './options.ts';

export interface RenderFlags {
  readonly configFile: string;
  readonly group?: string;
  readonly family?: string;
  readonly instanceType?: string;
  readonly kubernetes?: string;
  readonly endpoint?: string;
  readonly certificateAuthority?: string;
  readonly serviceCidr?: string;
  readonly token?: string;
  readonly userData?: string;
  readonly upstreamReserved?: boolean;
  readonly files?: boolean;
  readonly encode?: boolean;
  readonly objects?: boolean;
  readonly out?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

const flagOf: Readonly<Record<string, string>> = {
  endpoint: '--endpoint',
  certificateAuthority: '--certificate-authority',
  serviceCidr: '--service-cidr',
  token: '--token',
};

/** The raw bytes for EC2: compressed above the size limit, where the family can read that. */
export const packed = (text: string, family: Family): Uint8Array => {
  const plain = new TextEncoder().encode(text);
  if (plain.length <= sizeLimitBytes) return plain;
  const small = takesGzip(family) ? compress(text) : plain;
  if (small.length <= sizeLimitBytes) return small;
  throw new CommandError(
    exitCodes.refused,
    `refused: ${sizeOf(text)} bytes of user ` +
      `data${takesGzip(family) ? `, ${small.length} compressed` : ''}; ` +
      `EC2 takes ${sizeLimitBytes} (SIZE001): fetch the larger part from elsewhere`,
  );
};

const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const exampleToken = 'abcdef.0123456789abcdef';

/**
 * The values that `kubeadm token create --print-join-command` prints, from the token and the
 * cluster's certificate authority.
 */
const joinOf = async (flags: RenderFlags): Promise<{ token: string; caHash: string }> => {
  const { token = exampleToken, certificateAuthority = exampleAuthority } = flags;
  if (!tokenPattern.test(token)) {
    throw usage(
      '--token takes six characters, a dot and sixteen, as `kubeadm token create` prints',
    );
  }
  const fault = authorityFault(certificateAuthority);
  if (fault !== undefined) throw usage(`--certificate-authority ${fault}`);
  const key = Uint8Array.from(publicKeyInfo(certificateAuthority));
  const hash = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', key));
  return { token, caHash: `sha256:${hexOf(hash)}` };
};

/**
 * The text as it reaches the node, without base64 and gzip; bytes that are not text are not
 * rewritten as another text.
 */
const ownText = async (context: CliContext, name: string): Promise<string> => {
  const { text, faults } = decode(await context.readBytes(name));
  const [fault] = faults;
  if (fault === undefined) return text;
  throw new CommandError(exitCodes.refused, `refused: ENC001: ${name} is ${fault.message}`);
};

const rendered = async (context: CliContext, flags: RenderFlags): Promise<GroupUserData> => {
  const family = familyNamed(flags.family);
  const instanceType = typeGiven(flags.instanceType);
  const text = await context.readFile(flags.configFile);
  const userData =
    flags.userData === undefined ? undefined : await ownText(context, flags.userData);
  const asked = groupUserData({
    file: flags.configFile,
    text,
    group: flags.group,
    family,
    instanceType,
    kubernetesVersion: flags.kubernetes === undefined ? undefined : versionGiven(flags.kubernetes),
    cluster: {
      ...defined({ endpoint: flags.endpoint, certificateAuthority: flags.certificateAuthority }),
      ...(flags.serviceCidr === undefined ? {} : { serviceCidr: cidrGiven(flags.serviceCidr) }),
    },
    isUpstreamReserved: flags.upstreamReserved === true,
    userData,
    // The user's own text already contains the kubeadm join, unless a token is given in addition.
    ...(userData === undefined || flags.token !== undefined ? { join: await joinOf(flags) } : {}),
  });
  if (asked.kind === 'faults') throw usage(asked.faults.join('\n'));
  const { result } = asked;
  if (result.family !== 'cloud-init') {
    if (flags.token === undefined) return result;
    throw usage('--token is of kubeadm: it goes with --family cloud-init');
  }
  const isExample = flags.token === undefined && userData === undefined;
  return isExample ? { ...result, examples: [...result.examples, 'token'] } : result;
};

const evaluated = (result: GroupUserData, text: string): Evaluation =>
  evaluateUserData(
    text,
    {
      ...exampleFacts,
      instanceType: result.instanceType,
      kubernetesVersion: result.kubernetesVersion,
    },
    result.family,
  );

const documentOf = (result: GroupUserData, text: string): JsonObject => {
  const { node } = evaluated(result, text);
  return {
    apiVersion: 'cli.drover.dev/v1',
    kind: 'RenderedUserData',
    group: result.group,
    family: result.family,
    instanceType: result.instanceType,
    kubernetesVersion: result.kubernetesVersion,
    examples: [...result.examples],
    unwritten: [...result.unwritten],
    objects: [...result.objects],
    userData: text,
    node: {
      joins: node.obstacles.length === 0,
      obstacles: node.obstacles.map(({ rule, at, message }) => ({ rule, ...at, message })),
      labels: { ...node.labels },
      taints: node.taints.map((taint): JsonObject => ({ ...taint })),
      maxPods: node.maxPods,
      kubelet: node.kubelet.effective,
      arguments: [...node.kubelet.arguments],
      files: node.files.map(redacted).map((file): JsonObject => ({ ...file })),
    },
  };
};

/** Writes below `out` as below a root; the files contain secrets, as on the node. */
const writeFiles = async (
  context: CliContext,
  out: string,
  files: readonly NodeFile[],
): Promise<void> => {
  const host = await context.host(out);
  for (const file of files) {
    // Windows paths have a drive and backslashes.
    const path = file.path.replace(/^[A-Z]:/, '').replaceAll('\\', '/');
    await host.write({ ...file, path });
    context.out(visible(`write  ${out.replace(/\/$/, '')}${path}`));
  }
};

export const runRender = async (context: CliContext, flags: RenderFlags): Promise<void> => {
  const result = await rendered(context, flags);
  if (flags.out !== undefined && flags.files !== true) throw usage('--out goes with --files');
  const { written, family } = result;
  if (written.kind === 'fault') {
    throw new CommandError(exitCodes.refused, `refused: ${written.code}: ${written.message}`);
  }
  const { text } = written;
  const bytes = packed(text, family);
  if (result.examples.length > 0 && flags.output === 'table' && flags.objects !== true) {
    const missing = result.examples.map((field) => flagOf[field] ?? field).join(', ');
    context.err(`example values stand for what was not given: ${missing}`);
  }
  if (result.unwritten.length > 0 && flags.output === 'table') {
    context.err(visible(`set when the node has joined: ${result.unwritten.join(', ')}`));
  }
  if (flags.output !== 'table') printDocument(context, flags.output, documentOf(result, text));
  else if (flags.objects === true) {
    for (const object of result.objects) printDocument(context, 'yaml', object);
  } else if (flags.out !== undefined) {
    await writeFiles(context, flags.out, evaluated(result, text).node.files);
  } else if (flags.files === true) printFiles(context, evaluated(result, text).node.files);
  else if (flags.encode === true) context.out(encodeBase64(bytes));
  else outText(context, text.replace(/\n$/, ''));
};
