// Development-time generator: reads the roles and bindings that a fresh kube-apiserver makes for
// itself (label kubernetes.io/bootstrapping=rbac-defaults) and writes them as compact JSON. It
// never runs in production and never fetches anything.
//
// node scripts/generate-role-facts.ts --kubeconfig FILE --source 'kube-apiserver 1.36.2'

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defined } from '../src/api/defined.ts';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}
interface Item {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly Rule[] | null;
  readonly aggregationRule?: {
    readonly clusterRoleSelectors: readonly { readonly matchLabels: Record<string, string> }[];
  };
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

const { values } = parseArgs({
  options: { kubeconfig: { type: 'string' }, source: { type: 'string' } },
});
if (values.kubeconfig === undefined || values.source === undefined) {
  throw new Error('usage: generate-role-facts.ts --kubeconfig FILE --source TEXT');
}
const kubeconfig = values.kubeconfig;
const bootstrapping = 'kubernetes.io/bootstrapping';
const aggregate = 'rbac.authorization.k8s.io/aggregate-to-';

const itemsOf = (kind: string): readonly Item[] => {
  const args = ['--kubeconfig', kubeconfig, 'get', kind, '-A', '-o', 'json'];
  const text = execFileSync('kubectl', [...args, '-l', `${bootstrapping}=rbac-defaults`], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { items } = JSON.parse(text) as { readonly items: readonly Item[] };
  // Roles that a distribution adds are not facts about Kubernetes.
  return items.filter(({ metadata }) => !/openshift|service-ca-cert/.test(metadata.name));
};

const ruleFacts = (rule: Rule): unknown =>
  rule.nonResourceURLs === undefined
    ? [
        rule.apiGroups ?? [],
        rule.resources ?? [],
        rule.verbs,
        ...(rule.resourceNames === undefined ? [] : [rule.resourceNames]),
      ]
    : [rule.nonResourceURLs, rule.verbs];

const labelled = (labels: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(labels)
    .filter((label) => label.startsWith(aggregate))
    .map((label) => label.slice(aggregate.length));

const roleFacts = ({ metadata, rules, aggregationRule }: Item): unknown => {
  const [selector] = aggregationRule?.clusterRoleSelectors ?? [];
  const gathers = labelled(selector?.matchLabels ?? {})[0];
  const goesTo = labelled(metadata.labels);
  return {
    name: metadata.name,
    ...defined({ namespace: metadata.namespace, gathers }),
    ...(goesTo.length === 0 ? {} : { goesTo }),
    rules: (rules ?? []).map(ruleFacts),
  };
};

const bindingFacts = ({ metadata, roleRef, subjects }: Item): unknown => ({
  name: metadata.name,
  ...defined({ namespace: metadata.namespace }),
  role: roleRef?.name,
  subjects: (subjects ?? []).map(({ kind, name, namespace }) => [
    kind,
    name,
    ...(namespace === undefined ? [] : [namespace]),
  ]),
});

const facts = {
  source: values.source,
  clusterRoles: itemsOf('clusterroles').map(roleFacts),
  clusterRoleBindings: itemsOf('clusterrolebindings').map(bindingFacts),
  roles: itemsOf('roles').map(roleFacts),
  roleBindings: itemsOf('rolebindings').map(bindingFacts),
};
const file = join(import.meta.dirname, '..', 'world/kube/seed/facts/roles.json');
const lines = Object.entries(facts).map(([key, value]) =>
  Array.isArray(value)
    ? `"${key}":[\n${value.map((each) => JSON.stringify(each)).join(',\n')}\n]`
    : `"${key}":${JSON.stringify(value)}`,
);
writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
