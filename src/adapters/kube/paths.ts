// Paths and query strings of the Kubernetes API. Pure text.
import type { ResourceType } from '../../api/kube.ts';
import type { ListOptions, ObjectName, WatchStart, WriteOptions } from '../../ports/index.ts';

export const collectionPath = (type: ResourceType, namespace: string | undefined): string => {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope =
    type.namespaced && namespace !== undefined
      ? `/namespaces/${encodeURIComponent(namespace)}`
      : '';
  return `${root}${scope}/${type.resource}`;
};

export const objectPath = (
  type: ResourceType,
  { namespace, name }: ObjectName,
  subresource?: string,
): string => {
  if (name === '' || (type.namespaced && namespace === undefined)) {
    // An empty segment would address the collection: a DELETE there removes everything.
    throw new TypeError(
      `${type.resource}: a name${type.namespaced ? ' and namespace' : ''} needed`,
    );
  }
  const tail = subresource === undefined ? '' : `/${subresource}`;
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}${tail}`;
};

export type Query = readonly (readonly [name: string, value: string | undefined])[];

export const withQuery = (path: string, query: Query): string => {
  const text = query
    .filter((pair): pair is readonly [string, string] => pair[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return text === '' ? path : `${path}?${text}`;
};

export const selectors = (options: ListOptions): Query => [
  ['labelSelector', options.labelSelector],
  ['fieldSelector', options.fieldSelector],
];

/** Initial events without a version are read from a quorum, like a list without one. */
export const watchStart = (start: WatchStart): Query =>
  'sendInitialEvents' in start
    ? [
        ['sendInitialEvents', 'true'],
        ['resourceVersionMatch', 'NotOlderThan'],
      ]
    : [['resourceVersion', start.resourceVersion]];

export const writeQuery = (options: WriteOptions): Query => [
  ['fieldManager', options.fieldManager],
  ['dryRun', options.dryRun === true ? 'All' : undefined],
];
