// A cluster of somebody else's as the stage of a story: the one that DROVER_E2E_KUBECONFIG names, where
// DROVER_E2E_AUDIT_LOG names its audit log. Refuses one with node groups of its own; what was there stays as it was,
// what the story made is taken away.
import { appendFileSync, closeSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { customResourceDefinitions } from '../../src/api/crds.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { eventually, type ServedWorld } from './demo-world.ts';

export interface Given {
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
}

/** Undefined: stories start a control plane of their own. */
export const givenCluster = (): Given | undefined => {
  const kubeconfigPath = process.env.DROVER_E2E_KUBECONFIG ?? '';
  const auditLogPath = process.env.DROVER_E2E_AUDIT_LOG ?? '';
  return kubeconfigPath === '' || auditLogPath === ''
    ? undefined
    : { kubeconfigPath, auditLogPath };
};

/** On the nodes of a story, and what its pods ask for: they stay off the nodes of others. */
export const stageLabel = { 'drover.dev/stage': 'story' } as const;
const definitions = customResourceDefinitions.map(({ metadata }) => metadata.name);
const patienceMs = 120_000;

/** Whoever is impersonated is who asks. */
const asItself = (line: string): string => {
  const { impersonatedUser, ...event } = JSON.parse(line) as JsonObject;
  return JSON.stringify(
    impersonatedUser === undefined ? event : { ...event, user: impersonatedUser },
  );
};

/** What is written to the log from now on, in a file of one's own; `refresh` brings it up to date. */
export const followAudit = (from: string, to: string): (() => void) => {
  let at = statSync(from).size;
  writeFileSync(to, '');
  return () => {
    const more = Buffer.alloc(Math.max(0, statSync(from).size - at));
    const file = openSync(from, 'r');
    const read = readSync(file, more, 0, more.length, at);
    closeSync(file);
    const end = more.subarray(0, read).lastIndexOf('\n') + 1;
    at += end;
    const lines = more.toString('utf8', 0, end).split('\n').filter(Boolean);
    if (lines.length > 0) appendFileSync(to, `${lines.map(asItself).join('\n')}\n`);
  };
};

const must = async (world: ServedWorld, ...args: readonly string[]): Promise<string> => {
  const ran = await world.kubectl(...args);
  if (ran.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${ran.stderr}`);
  return ran.stdout;
};

/** A kubeconfig with the rights of `username`, whom the given one's user has to be allowed to impersonate. */
export const impersonating = async (world: ServedWorld, username: string): Promise<string> => {
  const view = await must(world, 'config', 'view', '--minify', '--flatten', '--raw', '-o', 'json');
  const config = JSON.parse(view) as { readonly users: readonly JsonObject[] };
  const users = config.users.map((one) => ({
    ...one,
    user: { ...objectOr(one.user), as: username },
  }));
  const path = join(world.dataDir, 'impersonating.kubeconfig');
  writeFileSync(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
};

const placeOf = (object: JsonObject): readonly string[] => {
  const { name, namespace } = objectOr(object.metadata);
  const of = typeof namespace === 'string' ? ['-n', namespace] : [];
  return [...of, String(object.kind), String(name)];
};

const isThere = async (world: ServedWorld, object: JsonObject): Promise<boolean> => {
  const ran = await world.kubectl('get', ...placeOf(object), '--ignore-not-found', '-o', 'name');
  return ran.code === 0 && ran.stdout.trim() !== '';
};

const hasDefinitions = async (world: ServedWorld): Promise<boolean> => {
  const all = await must(world, 'get', 'customresourcedefinitions', '-o', 'name');
  return all.includes('nodegroups.drover.dev');
};

/** Its name as kubectl prints it, or nothing. */
const demoNamespace = (world: ServedWorld): Promise<string> =>
  must(world, 'get', 'namespace', 'demo', '--ignore-not-found', '-o', 'name');

/** Throws where the story would meet what is somebody else's. True: Drover's definitions were there. */
export const mayBeStage = async (world: ServedWorld): Promise<boolean> => {
  const had = await hasDefinitions(world);
  const groups = had ? await must(world, 'get', 'nodegroups', '-o', 'name') : '';
  const namespace = await demoNamespace(world);
  if (`${groups}${namespace}`.trim() === '') return had;
  const what = `${groups}${namespace}`.trim().split('\n').join(', ');
  throw new Error(`the cluster of DROVER_E2E_KUBECONFIG is in use: it has ${what}; take another`);
};

/** Of these what is not there yet, kept to the nodes of the story. */
export const ownPart = async (
  world: ServedWorld,
  objects: readonly JsonObject[],
): Promise<readonly JsonObject[]> => {
  const own: JsonObject[] = [];
  for (const object of objects) {
    if (object.kind === 'NodeGroup' || !(await isThere(world, object))) own.push(keptHere(object));
  }
  return own;
};

const keptHere = (object: JsonObject): JsonObject => {
  const spec = objectOr(object.spec);
  const template = objectOr(spec.template);
  const pod = objectOr(template.spec);
  if (object.kind !== 'Deployment' && object.kind !== 'DaemonSet') return object;
  const nodeSelector = { ...objectOr(pod.nodeSelector), ...stageLabel };
  return {
    ...object,
    spec: { ...spec, template: { ...template, spec: { ...pod, nodeSelector } } },
  };
};

/** Call while the stand-ins still let pods go. `had`: the definitions are not ours to take away. */
export const takeAway = async (
  world: ServedWorld,
  made: readonly JsonObject[],
  { had, nodes }: { readonly had: boolean; readonly nodes: readonly string[] },
): Promise<void> => {
  const gone = ['--ignore-not-found', '--wait=false'];
  for (const object of made) {
    if (object.kind !== 'NodeGroup') await must(world, 'delete', ...placeOf(object), ...gone);
  }
  for (const resource of definitions) {
    const names = (await must(world, 'get', resource, '-o', 'name')).split('\n').filter(Boolean);
    for (const name of names) {
      await must(world, 'patch', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
      await must(world, 'delete', name, ...gone);
    }
  }
  if (!had) {
    await must(world, 'delete', 'crd', ...definitions, ...gone);
  }
  await must(world, 'delete', '-n', 'kube-system', 'lease', 'drover-controller', ...gone);
  await eventually(
    'what the story ran is gone',
    async () => {
      const left = await demoNamespace(world);
      return left.trim() === '' ? true : undefined;
    },
    patienceMs,
  );
  for (const node of nodes) await must(world, 'delete', 'node', node, ...gone);
};
