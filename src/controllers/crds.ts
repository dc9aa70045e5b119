// Installs our CustomResourceDefinitions at start and waits until the API server serves them.
// Never touches a definition of a version that this program does not know.
import { type CustomResourceDefinition, customResourceDefinitions } from '../api/crds.ts';
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import { type Condition, type KubeObject, resourceTypes } from '../api/kube.ts';
import { type Clock, type KubeApi, KubeError, type Log, type Random } from '../ports/index.ts';
import { Informer, linkedAbort, retry, sleepOrAbort } from '../runtime/index.ts';

/** A definition is served within 150 ms of its creation; after this time something is wrong. */
const establishWithinMs = 30_000;

interface Definition extends KubeObject {
  readonly spec?: { readonly versions?: readonly { readonly name: string }[] };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface CrdDeps {
  readonly kube: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Why the cluster cannot be used; the message names the object, the rule and the remedy. */
export class CrdError extends Error {
  override readonly name = 'CrdError';
}

/** True when every field of `wanted` has the same value in `actual`; defaults may be added. */
export const covers = (actual: unknown, wanted: unknown): boolean => {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((item, i) => covers(actual[i], item));
  }
  if (!isObject(wanted)) return actual === wanted;
  if (!isObject(actual)) return false;
  return Object.entries(wanted).every(([key, value]) => covers(actual[key], value));
};

type CrdDecision =
  | { readonly kind: 'create' }
  | { readonly kind: 'current' }
  | { readonly kind: 'patch'; readonly body: JsonObject }
  | { readonly kind: 'foreign'; readonly versions: readonly string[] };

/** What to do about one definition, compared with the installed one. */
const decideCrd = (
  installed: Definition | undefined,
  wanted: CustomResourceDefinition,
): CrdDecision => {
  if (installed === undefined) return { kind: 'create' };
  const spec = objectOr(wanted.spec);
  const ours = new Set<unknown>();
  const { versions } = spec;
  for (const version of Array.isArray(versions) ? versions : []) ours.add(objectOr(version).name);
  const theirs = (installed.spec?.versions ?? []).map((version) => version.name);
  if (theirs.some((name) => !ours.has(name))) return { kind: 'foreign', versions: theirs };
  if (covers(installed.spec, spec)) return { kind: 'current' };
  const { resourceVersion } = installed.metadata;
  return { kind: 'patch', body: { metadata: { resourceVersion }, spec } };
};

/** Creates or updates all definitions and resolves when they are served. Throws CrdError. */
export const ensureCrds = async (deps: CrdDeps, signal: AbortSignal): Promise<void> => {
  for (const wanted of customResourceDefinitions) await ensureCrd(deps, wanted, signal);
  for (const wanted of customResourceDefinitions) {
    await established(deps, wanted.metadata.name, signal);
  }
};

const type = resourceTypes.customresourcedefinitions;

const ensureCrd = (
  deps: CrdDeps,
  wanted: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<void> =>
  retry({ ...deps, signal }, async () => {
    const { kube, log } = deps;
    const { name } = wanted.metadata;
    const found = await kube.get<Definition>(type, { name }, { signal });
    const decision = decideCrd(found.kind === 'found' ? found.object : undefined, wanted);
    if (decision.kind === 'foreign') {
      throw new CrdError(
        `${name} is installed with the versions ${decision.versions.join(', ')}, and this ` +
          'program knows v1alpha1 alone: run the Drover release that installed it, or delete ' +
          'the definition together with its objects.',
      );
    }
    if (decision.kind === 'current') return;
    if (decision.kind === 'create') await create(kube, wanted, signal);
    else await kube.patch(type, { name }, { type: 'merge', body: decision.body }, { signal });
    log.info('custom resource definition installed', { name, how: decision.kind });
  });

const create = async (
  kube: KubeApi,
  wanted: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await kube.create(type, wanted, { signal });
  } catch (error) {
    // Another process created it first: read what exists.
    if (error instanceof KubeError && error.code === 'AlreadyExists') {
      throw new KubeError('Conflict', error.message, { cause: error });
    }
    throw error;
  }
};

const isServed = (definition: Definition | undefined): boolean =>
  definition?.status?.conditions?.some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  ) === true;

const established = async (deps: CrdDeps, name: string, signal: AbortSignal): Promise<void> => {
  const fieldSelector = `metadata.name=${name}`;
  const informer = new Informer<Definition>({ ...deps, type, fieldSelector });
  const link = linkedAbort(signal);
  const served = new Promise<boolean>((resolve) => {
    informer.onChange((change) => {
      if (change.object.metadata.name !== name) return;
      if (change.kind !== 'removed' && isServed(change.object)) resolve(true);
    });
  });
  const watching = informer.run(link.signal);
  const late = sleepOrAbort(deps.clock, establishWithinMs, link.signal).then(() => false);
  const inTime = await Promise.race([served, late]);
  link.abort();
  link.unlink();
  await Promise.all([watching, late]);
  signal.throwIfAborted();
  if (!inTime) {
    throw new CrdError(
      `${name} is installed, but the API server did not serve it within ` +
        `${establishWithinMs / 1000} s: see the conditions of kubectl get crd ${name} -o yaml.`,
    );
  }
};
