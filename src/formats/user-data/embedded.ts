// Finds user data inside other files: CloudFormation templates, Terraform, eksctl's ClusterConfig,
// Karpenter's EC2NodeClass. Returns the texts and the places of their lines; expands no variables.
import { type Position, within } from '../position.ts';
import { type Family, familyCalled, guessFamily } from './families.ts';
import { find, type Located, memberOf, textOf } from './located.ts';
import { parseYaml } from './yaml.ts';

export interface EmbeddedText {
  /** Its place, for display: `Resources.Nodes.Properties.LaunchTemplateData.UserData`. */
  readonly where: string;
  readonly text: string;
  readonly family: Family | undefined;
  readonly launchedBy: 'managed' | 'own-image' | undefined;
  readonly positionOf: (inner: Position) => Position;
}

const placeOf = (located: Located): ((inner: Position) => Position) => {
  const content = located.kind === 'scalar' ? located.contentAt : undefined;
  // A quoted text is one line of the file, however many lines it contains.
  return (inner) => (content === undefined ? located.at : within(content, inner));
};

/** The text of a property, with intrinsic functions resolved. References stay `${...}`. */
const resolved = (
  value: Located,
): { readonly text: string; readonly from: Located } | undefined => {
  const text = textOf(value);
  if (text !== undefined) return { text, from: value };
  if (value.kind === 'list') {
    const [first, second] = value.items;
    // Fn::Sub with variables has the text first, Fn::Join the separator.
    if (second?.kind === 'list') return joined(textOf(first ?? value) ?? '', second);
    return first === undefined ? undefined : resolved(first);
  }
  if (value.kind !== 'map') return undefined;
  for (const name of ['Fn::Base64', 'Fn::Sub', 'Fn::Join']) {
    const inner = memberOf(value, name);
    if (inner !== undefined) return resolved(inner.value);
  }
  return undefined;
};

const joined = (separator: string, list: Located): { text: string; from: Located } | undefined =>
  list.kind === 'list'
    ? {
        text: list.items.map((item) => textOf(item) ?? `\${reference}`).join(separator),
        from: { ...list, kind: 'scalar', value: null },
      }
    : undefined;

const walk = (
  value: Located,
  path: readonly string[],
  visit: (key: string, member: Located, parent: Located, path: readonly string[]) => void,
): void => {
  if (value.kind === 'list')
    for (const [i, item] of value.items.entries()) walk(item, [...path, String(i)], visit);
  if (value.kind !== 'map') return;
  for (const [key, member] of value.members) {
    visit(key, member.value, value, [...path, key]);
    walk(member.value, [...path, key], visit);
  }
};

const ofTemplate = (root: Located, source: string): readonly EmbeddedText[] => {
  const found: EmbeddedText[] = [];
  const makesGroups = /AWS::EKS::Nodegroup\b/.test(source);
  walk(root, [], (key, value, parent, path) => {
    if (key !== 'UserData') return;
    const inner = resolved(value);
    if (inner === undefined) return;
    const hasImage = memberOf(parent, 'ImageId') !== undefined;
    const managed = makesGroups ? ('managed' as const) : undefined;
    found.push({
      where: path.join('.'),
      text: inner.text,
      family: undefined,
      launchedBy: hasImage ? 'own-image' : managed,
      positionOf: placeOf(inner.from),
    });
  });
  return found;
};

const groupKinds = ['managedNodeGroups', 'nodeGroups'] as const;

const ofClusterConfig = (root: Located): readonly EmbeddedText[] =>
  groupKinds.flatMap((kind) => {
    const groups = find(root, kind);
    if (groups?.kind !== 'list') return [];
    return groups.items.flatMap((group, i) => ofGroup(group, `${kind}[${i}]`));
  });

const ofGroup = (group: Located, where: string): readonly EmbeddedText[] => {
  const family = familyCalled(textOf(find(group, 'amiFamily')) ?? '');
  const override = find(group, 'overrideBootstrapCommand');
  const text = textOf(override);
  const commands = find(group, 'preBootstrapCommands');
  const found: EmbeddedText[] = [];
  if (override !== undefined && text !== undefined) {
    found.push({
      where: `${where}.overrideBootstrapCommand`,
      text,
      family,
      launchedBy: 'own-image',
      positionOf: placeOf(override),
    });
  }
  for (const [i, command] of (commands?.kind === 'list' ? commands.items : []).entries()) {
    const body = textOf(command);
    if (body === undefined) continue;
    const place = placeOf(command);
    found.push({
      where: `${where}.preBootstrapCommands[${i}]`,
      // eksctl writes the commands to a script of its own.
      text:
        family === 'windows' ? `<powershell>\n${body}\n</powershell>` : `#!/bin/bash\n${body}\n`,
      family: family === 'al2023' ? 'al2' : family,
      launchedBy: 'managed',
      positionOf: ({ line, column }) => place({ line: Math.max(1, line - 1), column }),
    });
  }
  return found;
};

const ofNodeClass = (root: Located): readonly EmbeddedText[] => {
  const value = find(root, 'spec', 'userData');
  const text = textOf(value);
  if (value === undefined || text === undefined) return [];
  const named = textOf(find(root, 'spec', 'amiFamily'));
  const family = named === undefined ? undefined : familyCalled(named);
  const position = placeOf(value);
  return [{ where: 'spec.userData', text, family, launchedBy: 'managed', positionOf: position }];
};

const ofYaml = (text: string): readonly EmbeddedText[] =>
  parseYaml(text).documents.flatMap(({ value }) => {
    if (value === undefined) return [];
    const kind = textOf(find(value, 'kind'));
    if (find(value, 'Resources') !== undefined) return ofTemplate(value, text);
    if (kind === 'ClusterConfig') return ofClusterConfig(value);
    if (kind === 'EC2NodeClass' || kind === 'AWSNodeTemplate') return ofNodeClass(value);
    return [];
  });

const heredoc = /<<(-?)"?([A-Za-z_]\w*)"?[ \t]*$/;
const attribute =
  /(?<![\w-])([\w-]{1,64})[ \t]*[=:][ \t]*(?:[\w.]{1,64}\([ \t]*){0,8}<<-?"?[A-Za-z_]\w*"?[ \t]*$/;
const telling = /user_?data|cloudinit|bootstrap/i;

interface Heredoc {
  readonly lines: readonly string[];
  readonly from: number;
  readonly attribute: string;
  readonly indent: number;
}

const heredocsOf = (text: string): readonly Heredoc[] => {
  const lines = text.split('\n');
  const places = Map.groupBy(lines.keys(), (at) => (lines[at] ?? '').trim());
  const found: Heredoc[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const match = heredoc.exec(line.trimEnd());
    if (match === null || /^\s*(?:#|\/\/)/.test(line)) continue;
    const [, strips = '', delimiter = ''] = match;
    const end = places.get(delimiter)?.find((at) => at > i);
    if (end === undefined) continue;
    const body = lines.slice(i + 1, end);
    const indents = body
      .filter((one) => one.trim() !== '')
      .map((one) => /^ */.exec(one)?.[0].length ?? 0);
    const indent =
      strips === '-' && indents.length > 0 ? indents.reduce((a, b) => Math.min(a, b)) : 0;
    found.push({
      lines: body.map((one) => one.slice(indent)),
      from: i + 2,
      attribute: attribute.exec(line.trimEnd())?.[1] ?? '',
      indent,
    });
    i = end;
  }
  return found;
};

const ofTerraform = (text: string): readonly EmbeddedText[] =>
  heredocsOf(text)
    .filter((one) => telling.test(one.attribute) || guessFamily(one.lines.join('\n')) !== undefined)
    .map((one) => {
      const body = `${one.lines.join('\n')}\n`;
      return {
        where: one.attribute === '' ? `line ${one.from - 1}` : one.attribute,
        // Terraform’s own escapes.
        text: body.replaceAll('$${', '${').replaceAll('%%{', '%{'),
        family: undefined,
        launchedBy: undefined,
        positionOf: (inner) => within({ line: one.from, column: one.indent + 1 }, inner),
      };
    });

const looksLikeTemplate = (text: string): boolean =>
  /(?:^|\{)[ \t]*["']?(?:Resources|AWSTemplateFormatVersion)["']?\s*:/m.test(text) ||
  /^kind:\s*["']?(?:ClusterConfig|EC2NodeClass|AWSNodeTemplate)\b/m.test(text);

/** Undefined when the file contains no user data, so that it is user data itself. */
export const embeddedTexts = (name: string, text: string): readonly EmbeddedText[] | undefined => {
  if (/\.(?:tf|hcl)$/i.test(name)) return ofTerraform(text);
  if (/^\s*(?:#!|<powershell>|MIME-Version|Content-Type)/i.test(text)) return undefined;
  return looksLikeTemplate(text) ? ofYaml(text) : undefined;
};
