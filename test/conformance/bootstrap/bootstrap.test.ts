// Runs the cases of each topic through the functions that the product uses for user data, nodes and
// identities.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import {
  flags,
  joinConfiguration,
  mime,
  nodeConfig,
  nodeConfigOf,
  part,
  powershell,
  settings,
} from '../../../src/core/bootstrap/rules/samples.ts';
import { decideCertificate, planAdmission } from '../../../src/core/identity/index.ts';
import {
  awsAuthEntries,
  evaluateMaxPods,
  evaluateUserData,
  exampleAuthority,
  exampleFacts,
  type Family,
  find,
  instanceTypeFacts,
  mappedUser,
  type NodeFacts,
  recommendedMaxPods,
  specInForce,
  toJson,
} from '../../../src/formats/index.ts';
import type { Topic } from './topic.ts';
import { topics } from './topics.ts';

const checked = new Set<unknown>();
const check = <G, E>(topic: Topic<G, E>, run: (given: G) => E): void => {
  checked.add(topic);
  describe(topic.topic, () => {
    it.each(topic.cases.map((one) => [one.name, one] as const))('%s', (_, { given, expected }) => {
      expect(run(given)).toEqual(expected);
    });
  });
};

const nodeConfigType = 'application/node.eks.aws';
const evaluate = (
  data: string | Uint8Array,
  facts: Partial<NodeFacts> = {},
  family: Family = 'al2023',
) => {
  const { node, bootstrap } = evaluateUserData(data, { ...exampleFacts, ...facts }, family);
  const rules = [...new Set(node.obstacles.map(({ rule }) => rule))];
  return { node, rules, spec: specInForce(bootstrap) };
};
const withKubelet = (kubelet: JsonObject): string =>
  nodeConfig(`  kubelet: ${JSON.stringify(kubelet)}`);

check(topics.merging, ({ parts, at }) => {
  const texts = parts.map((spec) => {
    const text = typeof spec === 'string' ? spec : JSON.stringify(spec);
    return part(nodeConfigType, nodeConfigOf('').replace('spec:\n', `spec: ${text}`));
  });
  const { spec } = evaluate(mime(...texts));
  const found = find(spec, ...at);
  return found && toJson(found);
});

check(topics.mimeDocuments, (given) => {
  const { spec, rules } = evaluate(given);
  const read = find(spec, 'kubelet', 'flags');
  return { read: read === undefined ? [] : (toJson(read) as readonly string[]), rules };
});

check(topics.dropIns, ({ kubelet, minor = 33, look }) => {
  const { node } = evaluate(withKubelet(kubelet), { kubernetesVersion: `1.${minor}` });
  const contentOf = (end: string) => node.files.find(({ path }) => path.endsWith(end))?.content;
  switch (look) {
    case 'files':
      return node.files
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/etc/kubernetes/kubelet/'));
    case 'drop-in':
      return objectOr(JSON.parse(contentOf('/40-nodeadm.conf') ?? 'null'));
    case 'arguments':
      return node.kubelet.arguments.filter((one) => /^--config(?:-dir)?=/.test(one));
    case 'environment':
      return (contentOf('/etc/eks/kubelet/environment') ?? '')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('NODEADM_KUBELET_ARGS='));
    default:
      return node.kubelet.effective[look[1]];
  }
});

check(topics.reserved, ({ kubelet = {}, ...facts }) => {
  const { cpu, memory, ...rest } = objectOr(
    evaluate(withKubelet(kubelet), facts).node.kubelet.effective.kubeReserved,
  );
  expect(rest).toEqual({ 'ephemeral-storage': '1Gi' });
  return { cpu: String(cpu), memory: String(memory) };
});

const dnsData: Readonly<Record<string, (cidr: string) => string>> = {
  al2023: (cidr) => nodeConfig().replace(/cidr: .*/, `cidr: ${cidr}`),
  al2: () => '#!/bin/bash\n/etc/eks/bootstrap.sh my-cluster\n',
  bottlerocket: () => settings(),
  windows: () => powershell(),
};
check(topics.clusterDns, ({ family, cidr, vpcCidr }) => {
  const cluster = cidr === undefined ? {} : { cluster: { serviceCidr: cidr } };
  const facts = { ...cluster, ...defined({ vpcCidr }) };
  return evaluate(dnsData[family]?.(cidr ?? '') ?? '', facts, family).node.cluster.dns;
});

check(
  topics.maxPodsByType,
  (instanceType) => evaluate(nodeConfig(), { instanceType }).node.maxPods,
);
check(topics.maxPodsFormulas, ({ type, options }) => {
  const limits = instanceTypeFacts(type);
  return limits === undefined ? 0 : recommendedMaxPods(limits, options);
});
check(topics.maxPodsExpressions, ({ expression, ...limits }) => {
  const result = evaluateMaxPods(expression, limits);
  return result.kind === 'ok' ? result.maxPods : 'fault';
});

check(topics.bottlerocket, (given) => evaluate(settings(given), {}, 'bottlerocket').rules);

check(topics.windows, ({ instanceType = 'm5.large', parameters = [], text, look }) => {
  const data =
    text ?? powershell(...parameters.map((one) => one.replace('{authority}', exampleAuthority)));
  const { node, rules } = evaluate(data, { instanceType }, 'windows');
  return look === undefined ? rules : node[look];
});

check(topics.cloudConfigs, ({ how, isHeader }) => {
  const first = '#cloud-config\nruncmd: [first]\nbootcmd: [early]\n';
  const second = `#cloud-config\nruncmd: [second]\n${isHeader ? '' : how}\n`;
  const type = `text/cloud-config${isHeader ? `\nX-Merge-Type: ${how}` : ''}`;
  const text = mime(part('text/cloud-config', first), part(type, second));
  const { bootstrap } = evaluateUserData(text, exampleFacts, 'cloud-init');
  return bootstrap.cloudConfigs
    .flatMap(({ config }) => config.scripts)
    .flatMap(({ invocations }) => invocations.map(({ name }) => name));
});

check(topics.joinConfigurations, ({ kubernetes, version, isList = version === 'v1beta4' }) => {
  const extra = isList ? '[{name: v, value: "2"}]' : '{v: "2"}';
  const text = joinConfiguration(version).replace(
    '    discovery:',
    `    nodeRegistration: {kubeletExtraArgs: ${extra}}\n    discovery:`,
  );
  const { rules } = evaluate(text, { kubernetesVersion: kubernetes }, 'cloud-init');
  expect(rules.filter((rule) => rule !== 'CI007')).toEqual([]);
  return rules.length === 0;
});

check(topics.labels, ({ flag, value }) => evaluate(flags(`--${flag}=${value}`)).rules);

check(topics.roleArns, (arn) => {
  const plan = planAdmission(undefined, arn);
  return plan.kind === 'write' ? awsAuthEntries(plan.data.mapRoles)?.at(-1)?.arn : undefined;
});
check(topics.callers, ({ rolearn, username, caller }) => {
  const mapRoles = JSON.stringify([{ rolearn, username, groups: ['system:nodes'] }]);
  const dns = 'ip-10-0-0-1.eu-west-1.compute.internal';
  return mappedUser({ mapRoles }, caller, () => dns)?.username;
});

check(topics.certificates, ({ request, facts }) => {
  const decision = decideCertificate(request, facts);
  return decision.kind === 'approve' ? 'approve' : decision.reason;
});

describe('the topics', () => {
  it('are all checked, with enough cases, none of them twice', () => {
    expect([...checked]).toEqual(Object.values(topics));
    for (const { topic, cases } of Object.values(topics)) {
      expect(cases.length, topic).toBeGreaterThanOrEqual(12);
      const names = cases.map(({ name }) => name);
      expect(names, topic).toEqual([...new Set(names)]);
    }
  });
});
