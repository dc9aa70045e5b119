// Quotas and limits of a namespace against the replacements of moved pods. A pod counts until it is
// deleted, so a full quota delays its replacement, and a quota below current use refuses it.

import { quantityValue } from '../../../../api/quantity.ts';
import type { Container, ResourceQuota } from '../../../../api/workloads.ts';
import type { Check, Found } from '../finding.ts';
import { amountsOf, printQuantity } from '../quantity.ts';
import type { MovedPod, View } from '../view.ts';
import { byOwner, kubectl, ownerObject, whenDrained } from './parts.ts';

/** `requests.cpu` and `cpu` are the same resource; undefined for resources that pods do not use. */
const resourceOf = (key: string): string | undefined => {
  if (key === 'pods' || key === 'count/pods') return 'pods';
  const name = key.replace(/^requests\./, '');
  if (/^(limits\.|count\/|services|persistentvolumeclaims|configmaps|secrets)/.test(name)) {
    return undefined;
  }
  return name;
};

const quotaFound = (view: View, quota: ResourceQuota): readonly Found[] => {
  const { namespace = '', name } = quota.metadata;
  const isScoped = (quota.spec.scopes?.length ?? 0) > 0 || quota.spec.scopeSelector !== undefined;
  const pods = view.moved.filter(
    ({ pod, owner }) => pod.metadata.namespace === namespace && owner !== undefined,
  );
  if (pods.length === 0 || isScoped) return [];
  return Object.entries(quota.status?.hard ?? {}).flatMap(([key, value]) => {
    const resource = resourceOf(key);
    if (resource === undefined) return [];
    const hard = quantityValue(value);
    const used = quantityValue(quota.status?.used?.[key]);
    const most = pods.reduce((all, { asks }) => Math.max(all, asks[resource] ?? 0), 0);
    if (most === 0 || used + most <= hard) return [];
    const isOver = used > hard;
    const print = (amount: number) => printQuantity(resource, amount);
    return [
      {
        severity: isOver ? ('blocker' as const) : ('warning' as const),
        object: { kind: 'ResourceQuota', name: `${namespace}/${name}` },
        evidence: { resource: key, hard: print(hard), used: print(used), pod: print(most) },
        consequence: whenDrained(
          view,
          pods,
          isOver
            ? 'replacements are refused until the namespace is below its quota'
            : 'replacements wait until the evicted pods are gone',
        ),
        remedy: `${kubectl(`${namespace}/${name}`)} edit resourcequota ${name}`,
      },
    ];
  });
};

const breaches = (
  container: Container,
  limits: View['snapshot']['limitRanges'][number]['spec']['limits'],
) =>
  limits
    .filter(({ type }) => type === 'Container')
    .flatMap(({ min, max }) => {
      const requests = amountsOf(container.resources?.requests);
      const asked = amountsOf(container.resources?.limits);
      const below = Object.entries(amountsOf(min)).filter(
        ([key, least]) => requests[key] !== undefined && (requests[key] ?? 0) < least,
      );
      const above = Object.entries(amountsOf(max)).filter(
        ([key, most]) => (asked[key] ?? requests[key] ?? 0) > most,
      );
      return [
        ...below.map(([key]) => `${container.name}: ${key} below the minimum`),
        ...above.map(([key]) => `${container.name}: ${key} above the maximum`),
      ];
    });

const limitFound = (view: View): readonly Found[] =>
  view.snapshot.limitRanges.flatMap(({ metadata, spec }) => {
    const { namespace = '', name } = metadata;
    const refused = view.moved.filter(
      ({ pod, owner }) =>
        owner !== undefined &&
        pod.metadata.namespace === namespace &&
        (pod.spec.containers ?? []).some((one) => breaches(one, spec.limits).length > 0),
    );
    return byOwner(refused).map((pods): Found => {
      const why = (pods[0]?.pod.spec.containers ?? []).flatMap((one) => breaches(one, spec.limits));
      const owner = ownerObject(pods);
      return {
        severity: 'blocker',
        object: { kind: 'LimitRange', name: `${namespace}/${name}` },
        evidence: { refused: why.join('; '), owner: `${owner.kind} ${owner.name}` },
        consequence: whenDrained(
          view,
          pods,
          'replacements are refused: the pods are older than it',
        ),
        remedy:
          `${kubectl(owner.name)} edit ${owner.kind.toLowerCase()} ` +
          `${pods[0]?.owner?.name ?? ''}`,
      };
    });
  });

/** Images may exist for one architecture only, which only the registry can show. */
const imagesFound = (view: View): readonly Found[] => {
  const now = view.oldNodes.map(({ node }) => node.status.nodeInfo?.architecture);
  const next = view.newNodes[0]?.labels['kubernetes.io/arch'];
  const changes = next !== undefined && now.some((one) => one !== undefined && one !== next);
  if (!changes) return [];
  return byOwner(view.moved.filter(({ owner }) => owner !== undefined)).map(
    (pods: readonly MovedPod[]): Found => ({
      severity: 'warning',
      object: ownerObject(pods),
      evidence: {
        architecture: `${now[0] ?? '?'} -> ${next}`,
        images: (pods[0]?.pod.spec.containers ?? []).flatMap(({ image }) => image ?? []).join(' '),
      },
      consequence: whenDrained(view, pods, `its images may have no form for ${next}`),
      remedy: 'docker manifest inspect IMAGE   # for each of the images',
    }),
  );
};

export const namespaceQuota: Check = {
  name: 'namespace-quota',
  title: 'Replacements are refused by quota, limits or their image',
  needs: ['nodes', 'pods', 'quotas'],
  run: (view) => [
    ...view.snapshot.quotas.flatMap((quota) => quotaFound(view, quota)),
    ...limitFound(view),
    ...imagesFound(view),
  ],
};
