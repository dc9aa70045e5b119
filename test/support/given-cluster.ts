// An existing cluster as a story's environment: the one in DROVER_E2E_KUBECONFIG, with its audit
// log in DROVER_E2E_AUDIT_LOG. Serves one story at a time; existing objects stay unchanged, the
// story's objects are deleted. given-reasons.ts checks whether the cluster is suitable.
import { appendFileSync, closeSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { customResourceDefinitions } from '../../src/api/crds.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { AwsAuthMap } from '../../src/core/identity/index.ts';
import { eventually, type ServedWorld } from './demo-world.ts';
import { awsAuthUndo, isEventOf } from './given-leftovers.ts';

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

/**
 * Label of a story's nodes, and node selector of its pods: these avoid the cluster's other nodes.
 */
export const stageLabel = { 'drover.dev/stage': 'story' } as const;
/** Taint of a story's nodes: other pods avoid them. */
export const stageTaint = {
  key: 'drover.dev/stage',
  value: 'story',
  effect: 'NoSchedule',
} as const;
export const definitions: readonly string[] = customResourceDefinitions.map(
  ({ metadata }) => metadata.name,
);
/** Namespace of the story; its existence means that a story is running. */
export const stageNamespace = 'demo';
const patienceMs = 120_000;
const lookEveryMs = 1_000;
/** Longer than any story takes. */
const turnMs = 1_800_000;

/** Removes impersonation, so that an audit line shows the impersonated user as the requestor. */
const asItself = (line: string): string => {
  const { impersonatedUser, ...event } = JSON.parse(line) as JsonObject;
  return JSON.stringify(
    impersonatedUser === undefined ? event : { ...event, user: impersonatedUser },
  );
};

/** Copies what is written to the log from now on to a separate file; `refresh` updates the copy. */
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

/**
 * A kubeconfig with the permissions of `username`, whom the given kubeconfig's user must be allowed
 * to impersonate.
 */
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

const isThereStill = async (world: ServedWorld): Promise<boolean> => {
  const args = ['get', 'namespace', stageNamespace, '--ignore-not-found', '-o', 'name'];
  return (await must(world, ...args)).trim() !== '';
};

/** The objects that existed before the story; all others at its end belong to the story. */
export interface Found {
  /** Whether Drover's definitions existed. */
  readonly hadDefinitions: boolean;
  /** Uids of the events. */
  readonly events: ReadonlySet<string>;
  /**
   * kube-system/aws-auth, to which the controller adds roles of groups; undefined when it did not
   * exist.
   */
  readonly awsAuth: AwsAuthMap | undefined;
}

/**
 * Waits for its turn and creates the namespace, which reserves the cluster for this story until
 * `takeAway`.
 */
export const takeStage = async (world: ServedWorld): Promise<Found> => {
  const namespace = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: stageNamespace, labels: stageLabel },
  });
  let isTold = false;
  await eventually(
    `namespace ${stageNamespace} of another story is gone (none runs? kubectl delete namespace ${stageNamespace})`,
    async () => {
      const { code, stderr } = await world.kubectlInput(namespace, 'create', '-f', '-');
      if (code === 0) return true;
      if (!/AlreadyExists/.test(stderr)) throw new Error(stderr);
      if (!isTold) process.stderr.write('another story has the given cluster: waiting\n');
      isTold = true;
      await sleep(lookEveryMs);
      return undefined;
    },
    turnMs,
  );
  const events = (await eventsOf(world)).map(({ metadata }) => String(objectOr(metadata).uid));
  return {
    hadDefinitions: await hasDefinitions(world),
    events: new Set(events),
    awsAuth: await awsAuthOf(world),
  };
};

const awsAuth = ['-n', 'kube-system', 'configmap', 'aws-auth'] as const;

const awsAuthOf = async (world: ServedWorld): Promise<AwsAuthMap | undefined> => {
  const told = await must(world, 'get', ...awsAuth, '--ignore-not-found', '-o', 'json');
  return told.trim() === '' ? undefined : (JSON.parse(told) as AwsAuthMap);
};

/** Removes the story's entries; reads again after a concurrent write. */
const takeOutOfAwsAuth = (world: ServedWorld, before: Found['awsAuth']): Promise<true> =>
  eventually(
    'the entries of the story are out of aws-auth',
    async () => {
      const undo = awsAuthUndo(before, await awsAuthOf(world));
      if (undo.verb === 'none') return true;
      if (undo.verb === 'delete') {
        await must(world, 'delete', ...awsAuth, '--ignore-not-found');
        return true;
      }
      const patch = JSON.stringify(undo.body);
      const ran = await world.kubectl('patch', ...awsAuth, '--type=merge', '-p', patch);
      if (ran.code === 0) return true;
      if (!/Conflict|has been modified/i.test(ran.stderr)) throw new Error(ran.stderr);
      return undefined;
    },
    patienceMs,
  );

const eventsOf = async (world: ServedWorld): Promise<readonly JsonObject[]> => {
  const told = await must(world, 'get', 'events', '--all-namespaces', '-o', 'json');
  return (JSON.parse(told) as { readonly items: readonly JsonObject[] }).items;
};

/** Those of the objects that do not exist yet, restricted to the story's nodes. */
export const ownPart = async (
  world: ServedWorld,
  objects: readonly JsonObject[],
): Promise<readonly JsonObject[]> => {
  const own: JsonObject[] = [];
  for (const object of objects) {
    const isStage =
      object.kind === 'Namespace' && objectOr(object.metadata).name === stageNamespace;
    if (isStage) continue;
    if (object.kind === 'NodeGroup' || !(await isThere(world, object))) own.push(keptHere(object));
  }
  return own;
};

/**
 * Like `ownPart` for objects that a story requires: throws when the cluster has one of that name
 * that is not among those already `made`.
 */
export const ownOnly = async (
  world: ServedWorld,
  objects: readonly JsonObject[],
  made: readonly JsonObject[],
): Promise<readonly JsonObject[]> => {
  const ours = new Set(made.map((object) => placeOf(object).join(' ')));
  for (const object of objects) {
    if (ours.has(placeOf(object).join(' ')) || !(await isThere(world, object))) continue;
    throw new Error(`the given cluster has ${placeOf(object).join(' ')} of its own; take another`);
  }
  return objects.map(keptHere);
};

const tolerating = { key: stageTaint.key, operator: 'Exists' } as const;

const podKeptHere = (pod: JsonObject): JsonObject => ({
  ...pod,
  nodeSelector: { ...objectOr(pod.nodeSelector), ...stageLabel },
  tolerations: [...(Array.isArray(pod.tolerations) ? pod.tolerations : []), tolerating],
});

/** Path of the pod template in objects that have one. */
const podPaths: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  Deployment: ['spec', 'template', 'spec'],
  DaemonSet: ['spec', 'template', 'spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

const changedAt = (
  object: JsonObject,
  [first, ...rest]: readonly string[],
  change: (inner: JsonObject) => JsonObject,
): JsonObject =>
  first === undefined
    ? change(object)
    : { ...object, [first]: changedAt(objectOr(object[first]), rest, change) };

const keptHere = (object: JsonObject): JsonObject => {
  const path = podPaths[String(object.kind)];
  return path === undefined ? object : changedAt(object, path, podKeptHere);
};

export interface Leftovers {
  readonly made: readonly JsonObject[];
  readonly nodes: readonly string[];
  readonly found: Found;
}

/**
 * Call while the stand-ins still release pods, and after the last pods were created. Releases the
 * cluster for the next story.
 */
export const takeAway = async (world: ServedWorld, left: Leftovers): Promise<void> => {
  const { made, nodes, found } = left;
  const gone = ['--ignore-not-found', '--wait=false'];
  for (const object of made.toReversed()) {
    if (object.kind !== 'NodeGroup') await must(world, 'delete', ...placeOf(object), ...gone);
  }
  await takeObjects(world);
  await must(world, 'delete', '-n', 'kube-system', 'lease', 'drover-controller', ...gone);
  await must(world, 'delete', '-n', 'kube-system', 'cm', 'drover-aws-auth-backups', ...gone);
  for (const node of nodes) {
    await must(world, 'delete', 'node', node, ...gone);
    const on = ['--all-namespaces', '--field-selector', `spec.nodeName=${node}`];
    await must(world, 'delete', 'pods', ...on, '--force', '--grace-period=0', ...gone);
  }
  if (!found.hadDefinitions) {
    // Waits, so that the next story does not find them terminating.
    await must(world, 'delete', 'crd', ...definitions, '--ignore-not-found', '--timeout=60s');
  }
  await takeOutOfAwsAuth(world, found.awsAuth);
  await takeEvents(world, left);
  await must(world, 'delete', 'namespace', stageNamespace, ...gone);
  await eventually(
    'what the story ran is gone',
    async () => ((await isThereStill(world)) ? undefined : true),
    patienceMs,
  );
};

/** Deletes objects of Drover's kinds; before the story there were none. */
const takeObjects = async (world: ServedWorld): Promise<void> => {
  for (const resource of definitions) {
    // A story that failed early has not created the definitions.
    const { code, stdout } = await world.kubectl('get', resource, '-o', 'name');
    for (const name of code === 0 ? stdout.split('\n').filter(Boolean) : []) {
      await must(world, 'patch', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
      await must(world, 'delete', name, '--ignore-not-found', '--wait=false');
    }
  }
};

/** Deletes events about the story's objects in namespaces with other events. */
const takeEvents = async (world: ServedWorld, left: Leftovers): Promise<void> => {
  const isOurs = (event: JsonObject): boolean =>
    !left.found.events.has(String(objectOr(event.metadata).uid)) && isEventOf(event, left);
  for (const { metadata } of (await eventsOf(world)).filter(isOurs)) {
    const { name, namespace } = objectOr(metadata);
    const where = ['-n', String(namespace), 'event', String(name)];
    await must(world, 'delete', ...where, '--ignore-not-found', '--wait=false');
  }
};
