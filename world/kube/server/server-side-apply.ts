// PATCH with application/apply-patch+yaml: parameters, the merge by world/kube/patch, and the write
// of its result through the same path as every update. Never decides ownership itself.
import { defined } from '../../../src/api/defined.ts';
import { isObject, type Json, type JsonObject } from '../../../src/api/json.ts';
import type { SentBody } from '../../contracts.ts';
import type { Micros } from '../../kernel/index.ts';
import { type Applied, applyConfiguration, conflictMessage } from '../patch/index.ts';
import { apiVersionOf } from './definition.ts';
import { managedKind } from './managers.ts';
import { kubeTime, metadataOf, type Stored, textOf, withFields, withMetadata } from './objects.ts';
import { type ApiError, badRequest, failure, invalid, notFound, requiredValue } from './status.ts';
import { objectKey, type Store } from './store.ts';
import type { Subresource } from './subresource-writes.ts';
import type { Target, WriteOptions, Writer } from './write.ts';

interface ApplyRequest {
  readonly target: Target & { readonly subresource: Subresource | undefined };
  readonly body: Json | undefined;
  readonly query: URLSearchParams;
  readonly options: WriteOptions;
}

/** The configuration, after the checks that it may be applied to this path. */
function configuration({ target, body, query }: ApplyRequest): JsonObject {
  if ((query.get('fieldManager') ?? '') === '') {
    const of = { group: 'meta.k8s.io', kind: 'PatchOptions' };
    throw invalid(of, '', [requiredValue('fieldManager', 'is required for apply patch')]);
  }
  if (!isObject(body)) {
    const why = `cannot unmarshal ${Array.isArray(body) ? 'array' : typeof body}`;
    throw badRequest(
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: ' +
        `json: ${why} into Go value of type map[string]interface {}`,
    );
  }
  const { definition } = target;
  if (body.apiVersion !== apiVersionOf(definition) || body.kind !== definition.kind) {
    const given = textOf(body.apiVersion) ?? '';
    throw badRequest(`invalid object type: ${shownKind(given, textOf(body.kind) ?? '')}`);
  }
  const metadata = metadataOf(body);
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const named = textOf(metadata.name) ?? target.name;
  if (named !== target.name) {
    throw badRequest(
      `the name of the object (${named}) does not match the name on the URL (${target.name})`,
    );
  }
  return withMetadata(body, { name: target.name });
}

/** `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the core group. */
const shownKind = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;

function settled(config: JsonObject, applied: Applied): Extract<Applied, { kind: 'ok' }> {
  switch (applied.kind) {
    case 'ok':
      return applied;
    case 'misfit': {
      const { name, namespace } = metadataOf(config);
      const of = `${textOf(namespace) ?? ''}/${textOf(name) ?? ''}`;
      const kind = shownKind(textOf(config.apiVersion) ?? '', textOf(config.kind) ?? '');
      const { troubles } = applied;
      const [first = '', second] = troubles;
      const all = second === undefined ? first : ['errors:', ...troubles].join('\n  ');
      const what = `failed to create typed patch object (${of}; ${kind}): ${all}`;
      throw failure(500, undefined, what);
    }
    case 'conflicts':
      throw conflicted(applied);
  }
}

const conflicted = ({ conflicts }: Extract<Applied, { kind: 'conflicts' }>): ApiError =>
  failure(409, 'Conflict', conflictMessage(conflicts), {
    causes: conflicts.map((each) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${each.shown}`,
      field: each.path,
    })),
  });

const withoutDuplicates = (sent: SentBody | undefined): SentBody | undefined =>
  sent === undefined ? undefined : { ...sent, duplicates: [] };

/** An applied configuration is YAML, whatever it looks like, and is converted first. */
function reportDuplicates({ sent, fieldValidation, warnings }: WriteOptions): void {
  const { duplicates = [] } = sent ?? {};
  if (duplicates.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') {
    const lines = ['yaml: unmarshal errors:', ...duplicates].join('\n  ');
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${lines}`);
  }
  warnings.push(...duplicates);
}

/** Creates a missing object, except when applied to a subresource. */
export function serverSideApply(
  writer: Writer,
  store: Store,
  request: ApplyRequest,
  now: Micros,
): { readonly saved: Stored; readonly created: boolean } {
  const { target, query } = request;
  const { definition, namespace, name, subresource } = target;
  const config = configuration(request);
  reportDuplicates(request.options);
  // The duplicates were reported above: the write must not report them again.
  const options = { ...request.options, sent: withoutDuplicates(request.options.sent) };
  const kind = managedKind(definition, subresource);
  const force = query.get('force') === 'true';
  const as = { manager: options.manager, subresource, time: kubeTime(now), force };
  const known = store.get(definition.storage, objectKey(namespace, name));
  if (known === undefined) {
    if (subresource !== undefined) throw notFound(definition, name);
    const { object, managedFields } = settled(
      config,
      applyConfiguration(kind, undefined, config, as),
    );
    const saved = writer.create(definition, namespace, object, options, { managedFields });
    return { saved, created: true };
  }
  const change = (old: Stored): JsonObject => {
    const { object, managedFields } = settled(config, applyConfiguration(kind, old, config, as));
    const decoded = writer.decode(definition, object, options);
    const version = textOf(metadataOf(config).resourceVersion);
    const metadata = withFields(metadataOf(decoded), {
      managedFields,
      ...defined({ resourceVersion: version }),
    });
    return withFields(decoded, { metadata });
  };
  const { object: saved } = writer.update({ ...target, verb: 'apply', change }, options);
  return { saved, created: false };
}
