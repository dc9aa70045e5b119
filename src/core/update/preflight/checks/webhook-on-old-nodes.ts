// Admission webhooks that fail closed on pods, evictions or nodes, and whose servers this update
// moves. While no server answers, the API server admits no such object, including the servers' own
// replacements.

import { selectorMatches } from '../../../../api/selectors.ts';
import type { WebhookConfiguration } from '../../../../api/workloads.ts';
import type { Check, Found } from '../finding.ts';
import type { View } from '../view.ts';
import { kubectl, shortName } from './parts.ts';

type Webhook = NonNullable<WebhookConfiguration['webhooks']>[number];

const watched = new Set(['pods', 'pods/*', 'pods/eviction', 'nodes', '*', '*/*']);

const concerns = ({ rules = [] }: Webhook): boolean =>
  rules.some(
    ({ apiGroups = [], resources = [] }) =>
      (apiGroups.includes('') || apiGroups.includes('*')) &&
      resources.some((resource) => watched.has(resource)),
  );

/** The pods that serve the webhook; undefined if its server is not a Service of this cluster. */
const serversOf = ({ snapshot }: View, { clientConfig }: Webhook) => {
  const { service } = clientConfig;
  if (service === undefined) return undefined;
  const nodes = snapshot.endpointSlices
    .filter(
      ({ metadata }) =>
        metadata.namespace === service.namespace &&
        metadata.labels?.['kubernetes.io/service-name'] === service.name,
    )
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ conditions }) => conditions?.ready !== false)
    .map(({ nodeName }) => nodeName ?? '');
  return { service: `${service.namespace}/${service.name}`, nodes };
};

const nameLabel = 'kubernetes.io/metadata.name';

/**
 * Decided by the name label that every namespace has; a selector on other labels counts as a match.
 */
const looksAt = ({ namespaceSelector }: Webhook, namespace: string): boolean => {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector ?? {};
  const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
  if (keys.some((key) => key !== nameLabel)) return true;
  return selectorMatches({ matchLabels, matchExpressions }, { [nameLabel]: namespace });
};

/**
 * Whether the webhook matches any pod that the update moves; otherwise it cannot block the update.
 */
const touchesMoved = (view: View, webhook: Webhook): boolean =>
  view.moved.some(
    ({ pod }) =>
      looksAt(webhook, pod.metadata.namespace ?? '') &&
      selectorMatches(webhook.objectSelector ?? {}, pod.metadata.labels),
  );

const judge = (view: View, kind: string, webhook: Webhook): readonly Found[] => {
  if ((webhook.failurePolicy ?? 'Fail') !== 'Fail' || !concerns(webhook)) return [];
  const servers = serversOf(view, webhook);
  if (servers === undefined || !touchesMoved(view, webhook)) return [];
  const { service, nodes } = servers;
  const object = { kind, name: webhook.name };
  const evidence = { service, ready: nodes.length, timeoutSeconds: webhook.timeoutSeconds ?? 10 };
  const restart =
    `${kubectl(service)} get endpointslices -l ` +
    `kubernetes.io/service-name=${shortName(service)}`;
  if (nodes.length === 0) {
    const text = 'nothing answers it: every pod it is asked about is refused now';
    return [
      {
        severity: 'blocker',
        object,
        evidence,
        consequence: { text, minute: 0 },
        remedy: restart,
      },
    ];
  }
  const old = new Set(view.oldNodes.map(({ node }) => node.metadata.name));
  const places = [...new Set(nodes)];
  if (places.some((node) => !old.has(node))) return [];
  const { maxUnavailable } = view.snapshot.group;
  if (places.length > maxUnavailable) return [];
  const first = view.forecast.firstDrained(places);
  const isAlone = places.length === 1;
  return [
    {
      severity: isAlone ? 'blocker' : 'warning',
      object,
      evidence: { ...evidence, nodes: places.join(' ') },
      consequence: {
        text: isAlone
          ? 'all its servers are on one node: while that is drained no pod can be created'
          : 'all its servers are on nodes that may be drained at once',
        ...(first === undefined ? {} : { node: first.node, minute: Math.round(first.minute) }),
      },
      remedy:
        `${kubectl(service)} scale deployment/${shortName(service)} --replicas=2   # on ` +
        'different nodes',
    },
  ];
};

export const webhookOnOldNodes: Check = {
  name: 'webhook-on-old-nodes',
  title: 'A webhook with failurePolicy Fail runs on old nodes',
  needs: ['nodes', 'pods', 'webhooks', 'endpoints'],
  run: (view) =>
    view.snapshot.webhooks.flatMap(({ kind, webhooks = [] }) =>
      webhooks.flatMap((webhook) => judge(view, kind, webhook)),
    ),
};
