// User data as nodeadm parses it: which NodeConfigs it reads from a document, and when it reads
// none.
import { gzipSync } from 'node:zlib';
import {
  mime,
  nodeConfig,
  nodeConfigOf,
  part,
} from '../../../../src/core/bootstrap/rules/samples.ts';
import type { Case, Topic } from '../topic.ts';

interface Expected {
  /** spec.kubelet.flags of the effective NodeConfig, which identify the parts that were read. */
  readonly read: readonly string[];
  /** Rules whose violation prevents the node from joining. */
  readonly rules: readonly string[];
}

const nodeType = 'application/node.eks.aws';
const shellType = 'text/x-shellscript';
const one = nodeConfig('  kubelet: {flags: [--v=1]}');
const two = nodeConfigOf('  kubelet: {flags: [--v=2]}');
const script = '#!/bin/bash\necho hello\n';
const whole = mime(part(nodeType, one));
const base64 = (bytes: string | Uint8Array): string => `${Buffer.from(bytes).toString('base64')}\n`;
const wrapped = (text: string): string => text.replaceAll(/(.{76})/g, '$1\n');

const reads =
  (...read: readonly string[]) =>
  (name: string, given: string | Uint8Array): Case<string | Uint8Array, Expected> => ({
    name,
    given,
    expected: { read, rules: [] },
  });
const first = reads('--v=1');
const both = reads('--v=1', '--v=2');

const nothing = (name: string, given: string, ...rules: readonly string[]) => ({
  name,
  given,
  expected: { read: [], rules },
});

const good: readonly Case<string | Uint8Array, Expected>[] = [
  first('one part', whole),
  first('a document that is no MIME', one),
  first('a document of JSON', JSON.stringify(JSON.parse(jsonOf(one)))),
  both('two parts, in their order', mime(part(nodeType, one), part(nodeType, two))),
  both(
    'parts of other types between them',
    mime(part(nodeType, one), part(shellType, script), part(nodeType, two)),
  ),
  first('line ends of Windows', whole.replaceAll('\n', '\r\n')),
  first('a boundary without quotes', whole.replace('"B"', 'B')),
  first('a boundary of EKS’ own form', whole.replaceAll('--B', '--//').replace('"B"', '"//"')),
  first('a boundary with blanks after it', whole.replace('--B\n', '--B \t\n')),
  first('text before the first boundary', whole.replace('--B\n', 'a preamble\n--B\n')),
  first('text after the closing boundary', `${whole}anything: [at all\n`),
  first(
    'a boundary that begins as another line does',
    mime(part(shellType, `#!/bin/sh\n--Bx\n`), part(nodeType, one)),
  ),
  first(
    'a document that ends in its midst: what follows is not read',
    `${mime(part(nodeType, one))}${part(nodeType, two)}--B--\n`,
  ),
  first('a closing line without its dashes', whole.replace(/--B--\n$/, '--B\n')),
  first('a type in capitals', mime(part('Application/Node.EKS.aws', one))),
  first('a type with parameters', mime(part(`${nodeType}; charset="utf-8"`, one))),
  first(
    'two types, of which the first counts',
    mime(part(`${nodeType}\nContent-Type: charset="us-ascii"`, one)),
  ),
  first(
    'further headers',
    mime(part(`${nodeType}\nContent-Disposition: attachment; filename="n.yaml"`, one)),
  ),
  first('a folded header', whole.replace('multipart/mixed; ', 'multipart/mixed;\n ')),
  first('header names in another case', whole.replaceAll('Content-Type', 'content-type')),
  first('headers in another order', whole.replace(/^(MIME.*\n)(Content.*\n)/, '$2$1')),
  first('multipart of another kind', whole.replace('multipart/mixed', 'multipart/alternative')),
  first(
    'quoted-printable',
    mime(
      part(`${nodeType}\nContent-Transfer-Encoding: quoted-printable`, one.replaceAll('=', '=3D')),
    ),
  ),
  first('a part of base64', mime(part(nodeType, base64(one)))),
  first('a part of base64 in lines', mime(part(nodeType, wrapped(base64(one))))),
  first('a part of gzip in base64', mime(part(nodeType, base64(gzipSync(one))))),
  first('the whole in gzip', gzipSync(whole)),
  first('the whole in base64', base64(whole)),
  first('the whole in gzip in base64', base64(gzipSync(whole))),
];

/** The samples are YAML in block style; the same NodeConfig as JSON is valid, too. */
function jsonOf(yaml: string): string {
  const value = (key: string): string => new RegExp(`${key}: (.*)`).exec(yaml)?.[1] ?? '';
  const cluster = ['name', 'apiServerEndpoint', 'certificateAuthority', 'cidr'];
  const members = cluster.map((key) => `"${key}":"${value(`    ${key}`)}"`).join();
  const spec = `"spec":{"cluster":{${members}},"kubelet":{"flags":["--v=1"]}}`;
  return `{"apiVersion":"node.eks.aws/v1alpha1","kind":"NodeConfig",${spec}}`;
}

const bad: readonly Case<string | Uint8Array, Expected>[] = [
  nothing(
    'no blank line between headers and a script',
    mime(`--B\nContent-Type: ${shellType}\n${script}`, part(nodeType, one)),
    'MIME001',
  ),
  nothing(
    'a part that begins with its body',
    mime(`--B\n${script}`, part(nodeType, one)),
    'MIME001',
  ),
  nothing('no closing boundary', whole.replace('--B--\n', ''), 'MIME008'),
  nothing(
    'a closing line without its dashes and its end of line',
    whole.replace(/--B--\n$/, '--B'),
    'MIME008',
  ),
  nothing('another boundary in the header', whole.replace('"B"', '"C"'), 'MIME003', 'NC002'),
  nothing('no boundary in the header', whole.replace('; boundary="B"', ''), 'MIME007', 'NC002'),
  nothing('a blank line at the top', `\n${whole}`, 'MIME006'),
  nothing('an indented top', `  ${whole}`, 'MIME006'),
  nothing('no blank line after the top’s headers', whole.replace('"B"\n\n', '"B"\n'), 'MIME006'),
  nothing('a NodeConfig as text/plain', mime(part('text/plain', one)), 'NC002'),
  nothing(
    'a NodeConfig of another name',
    mime(part('application/node.eks.amazonaws.com', one)),
    'NC002',
  ),
  nothing('scripts alone', mime(part(shellType, script)), 'NC002'),
  nothing('an empty part', mime(part(nodeType, '')), 'NC006'),
  nothing(
    'an authority that is no base64',
    mime(part(nodeType, one.replace(/(certificateAuthority: ).*/, '$1Xx='))),
    'NC006',
  ),
  nothing('YAML that does not parse', mime(part(nodeType, `${one}\tx: [\n`)), 'NC006'),
  nothing('another apiVersion', mime(part(nodeType, one.replace('v1alpha1', 'v2'))), 'NC006'),
  nothing('another kind', mime(part(nodeType, one.replace('NodeConfig', 'Node'))), 'NC006'),
];

const twoParts = (name: string, broken: string) =>
  nothing(
    `${name} beside a good part: nothing is read`,
    mime(part(nodeType, one), broken),
    'NC006',
  );
const beside: readonly Case<string | Uint8Array, Expected>[] = [
  twoParts('an empty part', part(nodeType, '')),
  twoParts('YAML that does not parse', part(nodeType, `${two}\tx: [\n`)),
  twoParts('another apiVersion', part(nodeType, two.replace('v1alpha1', 'v2'))),
  twoParts('flags that are a text', part(nodeType, two.replace('[--v=2]', '--v=2'))),
];

const dir = '/etc/eks/nodeadm.d';
const writes = (...files: readonly (readonly [name: string, text: string])[]): string => {
  const commands = files.map(([name, text]) => `cat > ${dir}/${name} <<'EOF'\n${text}EOF\n`);
  return mime(part(nodeType, one), part(shellType, `#!/bin/bash\n${commands.join('')}`));
};
const three = two.replace('--v=2', '--v=3');
const directory: readonly Case<string | Uint8Array, Expected>[] = [
  both('a file of nodeadm.d comes after the user data', writes(['a.yaml', two])),
  both('a file of nodeadm.d in capitals', writes(['A.YML', two])),
  first('a file of another kind', writes(['a.conf', two])),
  reads(
    '--v=1',
    '--v=2',
    '--v=3',
  )('files of nodeadm.d come by their names', writes(['20-b.yaml', three], ['10-a.yaml', two])),
  {
    name: 'a file of nodeadm.d that does not decode costs the directory',
    given: writes(['a.yaml', two], ['b.yaml', three.replace('NodeConfig', 'Node')]),
    expected: { read: ['--v=1'], rules: ['NC006'] },
  },
];

const toml = (text: string): string => `  containerd: {config: ${JSON.stringify(text)}}`;
const tomlCases: readonly Case<string | Uint8Array, Expected>[] = [
  first('containerd’s TOML', mime(part(nodeType, `${one}${toml('oom_score = 1')}\n`))),
  {
    name: 'containerd’s TOML that is none, in the first of two parts',
    given: mime(
      part(nodeType, `${one}${toml('oom_score =')}\n`),
      part(nodeType, `${two}${toml('oom_score = 1')}\n`),
    ),
    expected: { read: ['--v=1', '--v=2'], rules: ['NC006'] },
  },
  {
    name: 'containerd’s TOML that is none, in the last of two parts',
    given: mime(
      part(nodeType, `${one}${toml('oom_score = 1')}\n`),
      part(nodeType, `${two}${toml('oom_score =')}\n`),
    ),
    expected: { read: ['--v=1', '--v=2'], rules: ['NC006'] },
  },
];

export const mimeDocuments: Topic<string | Uint8Array, Expected> = {
  topic: 'MIME documents',
  upstream: 'amazon-eks-ami: nodeadm/internal/configprovider; Go: mime/multipart',
  behaviour:
    'Parts of application/node.eks.aws are read, base64 and gzip undone; what Go’s reader refuses ' +
    'costs the whole document, and so does one part that does not decode',
  differences: ['none in what is read; each refusal has a rule, a line and a fix'],
  cases: [...good, ...bad, ...beside, ...directory, ...tomlCases],
};
