// cloud-config parts as cloud-init reads them: it merges all into one document. Without merge_how,
// a later part's lists replace earlier ones (cloudinit/handlers/cloud_config.py). Runs nothing.
import type { ParseFault } from '../position.ts';
import { bootstrapCalls } from './bootstrap-script.ts';
import type { UserDataPart } from './document.ts';
import { kubeadmJoins, type WrittenFile } from './kubeadm.ts';
import { find, type Located, memberOf, textOf } from './located.ts';
import { type ReadScript, readScript } from './shell.ts';
import { parseYaml } from './yaml.ts';

/** The lists whose commands or files can join a cluster. */
const listKeys = ['bootcmd', 'runcmd', 'write_files'] as const;
const commandKeys = ['bootcmd', 'runcmd'] as const;
type ListKey = (typeof listKeys)[number];

export interface CloudConfig {
  readonly faults: readonly ParseFault[];
  /** runcmd and bootcmd as scripts with their places. */
  readonly scripts: readonly ReadScript[];
  readonly files: readonly WrittenFile[];
  /** Lists of this part that another part's list replaces. */
  readonly lost: readonly ParseFault[];
  /** The replaced list contains a command that would have joined a cluster. */
  readonly losesJoin: boolean;
}

export interface CloudConfigPart {
  readonly part: UserDataPart;
  readonly config: CloudConfig;
}

const commandScript = (item: Located): ReadScript | undefined => {
  const text = textOf(item);
  if (text !== undefined && item.kind === 'scalar') {
    return readScript(text, item.contentAt ?? item.at);
  }
  if (item.kind !== 'list') return undefined;
  // A list is an argument vector that no shell parses; if the first word is a shell, it parses the
  // rest.
  const words = item.items.map(
    (one) => textOf(one) ?? String(one.kind === 'scalar' ? one.value : ''),
  );
  const inner = /^(?:.*\/)?(?:ba)?sh$/.test(words[0] ?? '') ? item.items.at(-1) : undefined;
  if (inner !== undefined) return commandScript(inner);
  const script = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const read = readScript(script);
  return { ...read, positionOf: () => item.at };
};

interface Read {
  readonly part: UserDataPart;
  readonly value: Located | undefined;
  readonly faults: readonly ParseFault[];
}

const read = (part: UserDataPart): Read => {
  const { documents, faults } = parseYaml(part.text, part.at);
  return { part, value: documents[0]?.value, faults };
};

const optionsOf = (value: Located): readonly string[] =>
  value.kind === 'list' ? value.items.flatMap((item) => textOf(item) ?? []) : [];

/** A part's merge options by kind of value; empty without any. */
const mergeOptions = ({ part, value }: Read): ReadonlyMap<string, readonly string[]> => {
  const said = find(value, 'merge_how') ?? find(value, 'merge_type');
  if (said?.kind === 'list') {
    return new Map(
      said.items.flatMap((item) => {
        const name = textOf(find(item, 'name'));
        const settings = find(item, 'settings');
        return name === undefined ? [] : [[name, settings ? optionsOf(settings) : []] as const];
      }),
    );
  }
  const text = textOf(said) ?? part.mergeType ?? '';
  return new Map(
    [...text.matchAll(/(\w+)\s*\(([^)]*)\)/g)].map(([, name = '', options = '']) => [
      name,
      options.split(',').map((option) => option.trim()),
    ]),
  );
};

/** Which of two parts' lists are effective after the later part is merged. */
const inForce = (later: Read): 'both' | 'earlier' | 'later' => {
  const options = mergeOptions(later);
  if (options.size === 0) return 'later';
  const dict = options.get('dict') ?? ['no_replace'];
  if (dict.includes('replace')) return 'later';
  if (!dict.includes('recurse_list') && !dict.includes('recurse_array')) return 'earlier';
  const list = options.get('list') ?? [];
  return list.includes('append') || list.includes('prepend') ? 'both' : 'later';
};

/** Replaced lists, by part. */
const lostLists = (all: readonly Read[]): ReadonlyMap<Read, ReadonlyMap<ListKey, Read>> => {
  const lost = new Map(all.map((one) => [one, new Map<ListKey, Read>()]));
  for (const key of listKeys) {
    let held: Read[] = [];
    for (const one of all) {
      if (one.faults.length > 0 || memberOf(one.value, key) === undefined) continue;
      const which = held.length === 0 ? 'both' : inForce(one);
      if (which === 'later') for (const before of held) lost.get(before)?.set(key, one);
      if (which === 'earlier' && held[0] !== undefined) lost.get(one)?.set(key, held[0]);
      else held = which === 'later' ? [one] : [...held, one];
    }
  }
  return lost;
};

const listOf = ({ value }: Read, key: ListKey): readonly Located[] => {
  const list = memberOf(value, key)?.value;
  return list?.kind === 'list' ? list.items : [];
};

const filesOf = (one: Read): readonly WrittenFile[] =>
  listOf(one, 'write_files').flatMap((item) => {
    const path = textOf(find(item, 'path'));
    const content = find(item, 'content');
    const body = textOf(content);
    if (path === undefined || content === undefined || body === undefined) return [];
    const at = content.kind === 'scalar' ? (content.contentAt ?? content.at) : content.at;
    return [{ path, content: body, at }];
  });

const scriptsOf = (one: Read, key: ListKey): readonly ReadScript[] =>
  listOf(one, key).flatMap((item) => commandScript(item) ?? []);

const joins = (script: ReadScript): boolean =>
  kubeadmJoins(script).length > 0 || bootstrapCalls(script).length > 0;

const configOf = (one: Read, lost: ReadonlyMap<ListKey, Read>): CloudConfig => ({
  faults: one.faults,
  scripts: commandKeys.filter((key) => !lost.has(key)).flatMap((key) => scriptsOf(one, key)),
  losesJoin: commandKeys.some((key) => lost.has(key) && scriptsOf(one, key).some(joins)),
  files: lost.has('write_files') ? [] : filesOf(one),
  lost: [...lost].map(([key, by]) => ({
    at: memberOf(one.value, key)?.keyAt ?? one.part.at,
    message: `${key} of part ${one.part.index} is ignored: that of part ${by.part.index} is in force`,
  })),
});

/** Every cloud-config of a document, in order, each with its effective lists. */
export const readCloudConfigs = (parts: readonly UserDataPart[]): readonly CloudConfigPart[] => {
  const all = parts.filter(({ kind }) => kind === 'cloud-config').map(read);
  const lost = lostLists(all);
  return all.map((one) => ({ part: one.part, config: configOf(one, lost.get(one) ?? new Map()) }));
};
