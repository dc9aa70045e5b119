// The admission plugin ServiceAccount: the account of a pod, its pull secrets, and the projected
// token volume that every container mounts. Upstream: plugin/pkg/admission/serviceaccount (1.36).
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { WriteContext } from '../definition.ts';
import { isMirror } from '../node-restriction.ts';
import { metadataOf, objectsOf, type Stored, specOf, textOf } from '../objects.ts';
import { forbidden } from '../status.ts';
import { objectKey } from '../store.ts';

const pods = { group: '', resource: 'pods' };
const accounts = { group: '', resource: 'serviceaccounts' };
const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An hour and seven seconds: kubelets renew a token before it expires. */
const tokenSeconds = 3607;

const projected: JsonObject = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [
          { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
        ],
      },
    },
  ],
};

const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** Five letters derived from the pod's uid, so that no random number is drawn. */
const suffixOf = (uid: string): string =>
  uid
    .replaceAll('-', '')
    .slice(-10)
    .replaceAll(/../g, (pair) => letters[Number.parseInt(pair, 16) % letters.length] ?? 'b');

const isMounted = (container: JsonObject): boolean =>
  objectsOf(container.volumeMounts).some((mount) => mount.mountPath === mountPath);

/** The volume, mounted in every container with no other mount at its path. */
const withVolume = (spec: JsonObject, uid: string): JsonObject => {
  const volumes = objectsOf(spec.volumes);
  const known = volumes.find(
    (volume) => volume.projected !== undefined && textOf(volume.name)?.startsWith(volumePrefix),
  );
  const name = textOf(known?.name) ?? `${volumePrefix}${suffixOf(uid)}`;
  const lists = ['initContainers', 'containers'] as const;
  if (lists.every((list) => objectsOf(spec[list]).every(isMounted))) return spec;
  const mount = { mountPath, name, readOnly: true };
  const mounted = lists.flatMap((list): readonly (readonly [string, JsonObject[]])[] => {
    if (spec[list] === undefined) return [];
    const containers = objectsOf(spec[list]).map((container) =>
      isMounted(container)
        ? container
        : { ...container, volumeMounts: [...objectsOf(container.volumeMounts), mount] },
    );
    return [[list, containers]];
  });
  return {
    ...spec,
    ...Object.fromEntries(mounted),
    volumes: known === undefined ? [...volumes, { name, projected }] : volumes,
  };
};

const withAccount = (spec: JsonObject, name: string): JsonObject =>
  spec.serviceAccountName === name && spec.serviceAccount === name
    ? spec
    : { ...spec, serviceAccountName: name, serviceAccount: name };

const isAutomounted = (spec: JsonObject, account: Stored | undefined): boolean =>
  (spec.automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true) === true;

/**
 * The spec with the pod's service account. Leaves mirror pods unchanged. Throws for an account that
 * does not exist; the namespace's default account is then about to be created.
 */
export function withServiceAccount(
  pod: JsonObject,
  spec: JsonObject,
  { store, accountVolumes }: WriteContext,
): JsonObject {
  const { name: podName = '', namespace = '', uid = '' } = objectOr(metadataOf(pod));
  const asked = textOf(spec.serviceAccountName) || textOf(spec.serviceAccount) || '';
  if (isMirror(pod)) {
    if (asked === '') return spec;
    const why = 'a mirror pod may not reference service accounts';
    throw forbidden(pods, String(podName), why);
  }
  const name = asked || 'default';
  const named = withAccount(spec, name);
  if (!accountVolumes) return named;
  const account = store.get(accounts, objectKey(textOf(namespace), name));
  if (account === undefined && name !== 'default') {
    const why =
      `error looking up service account ${String(namespace)}/${name}: serviceaccount ` +
      `"${name}" not found`;
    throw forbidden(pods, String(podName), why);
  }
  const secrets = objectsOf(account?.imagePullSecrets);
  const own = objectsOf(specOf({ spec: named }).imagePullSecrets);
  const pulling =
    own.length > 0 || secrets.length === 0 ? named : { ...named, imagePullSecrets: secrets };
  return isAutomounted(pulling, account) ? withVolume(pulling, String(uid)) : pulling;
}
