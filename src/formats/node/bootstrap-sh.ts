// Amazon Linux 2 and Ubuntu: the files that /etc/eks/bootstrap.sh writes for its arguments.
// Behaviour: awslabs/amazon-eks-ami before the script was removed. Runs nothing.
import { isAddress, isCidr } from '../../api/addresses.ts';
import { begin, type Position } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import { type BootstrapCall, bootstrapOptions } from '../user-data/bootstrap-script.ts';
import { type Placed, parseArguments } from './arguments.ts';
import { filesOf, ownWords, scriptConfig } from './bootstrap-sh-files.ts';
import { clusterDnsOr } from './capacity.ts';
import { authorityFault } from './certificate.ts';
import { type EvaluatedNode, machineOf, word } from './evaluated.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { baseConfig, kubeletView, nodeNameOf } from './kubelet.ts';
import { argumentProblems } from './kubelet-problems.ts';
import { nearestName } from './nearest.ts';
import { dnsOf, isServerUrl } from './nodeadm.ts';
import { type Obstacle, obstacle } from './problem.ts';
import { environmentValue, systemdWords } from './words.ts';

/** Parts that cloud-init executes, which therefore need an interpreter line. */
export const scriptProblems = ({ data, scripts }: Bootstrap): readonly Obstacle[] =>
  scripts.flatMap(({ part, script }) => {
    const found = script.faults.map(({ at, message }) => obstacle('SH006', at, message));
    if (part.kind !== 'shell' || part.text.startsWith('#!')) return found;
    const of = data.mime === undefined ? 'the script' : `part ${part.index}`;
    const text = `${of} does not begin with #!: the kernel cannot start it ("Exec format error")`;
    return [...found, obstacle('SH001', part.at, text)];
  });

const option = (call: BootstrapCall, name: string): Placed | undefined => call.options.get(name);

/** Why bootstrap.sh does not know an option, and which one may be intended. */
export const unknownOption = ({ text }: Placed): string => {
  const [name = '', value] = text.slice(2).split('=');
  if (value !== undefined && bootstrapOptions.includes(name)) {
    return `write --${name} ${value}: bootstrap.sh knows no =`;
  }
  const near = nearestName(name, bootstrapOptions);
  return (
    'bootstrap.sh has no option ' +
    `--${name}${near === undefined ? '' : `; did you mean --${near}?`}`
  );
};

const callProblems = (call: BootstrapCall, minor: number): readonly Obstacle[] => {
  const found: Obstacle[] = [];
  const say = (rule: Parameters<typeof obstacle>[0], at: Position, text: string): void => {
    found.push(obstacle(rule, at, text));
  };
  if (
    call.clusterName === undefined ||
    (call.clusterName.text === '' && !call.clusterName.isOpaque)
  ) {
    say(
      'SH004',
      call.at,
      'bootstrap.sh is called without a cluster name: "cluster name is not defined!"',
    );
  }
  for (const unknown of call.unknown) {
    say('SH005', unknown.at(0), `${unknownOption(unknown)}; it takes the word for a cluster name`);
  }
  const authority = option(call, 'b64-cluster-ca');
  const fault =
    authority === undefined || authority.isOpaque ? undefined : authorityFault(authority.text);
  if (authority !== undefined && fault !== undefined) {
    say('NC003', authority.at(0), `--b64-cluster-ca ${fault}`);
  }
  const endpoint = option(call, 'apiserver-endpoint');
  if (endpoint !== undefined && !endpoint.isOpaque && !isServerUrl(endpoint.text)) {
    say(
      'NC004',
      endpoint.at(0),
      `--apiserver-endpoint is ${JSON.stringify(endpoint.text)}, not an https:// URL`,
    );
  }
  const dns = option(call, 'dns-cluster-ip');
  const isDns = dns?.text.split(',').every(isAddress) ?? true;
  if (dns !== undefined && !dns.isOpaque && !isDns) {
    say('SH008', dns.at(0), `--dns-cluster-ip takes IP addresses, not ${JSON.stringify(dns.text)}`);
  }
  for (const name of ['service-ipv4-cidr', 'service-ipv6-cidr']) {
    const range = option(call, name);
    if (range === undefined || range.isOpaque || isCidr(range.text)) continue;
    say('SH008', range.at(0), `--${name} takes a CIDR, not ${JSON.stringify(range.text)}`);
  }
  return [...found, ...familyProblems(call), ...runtimeProblems(call, minor)];
};

const familyProblems = (call: BootstrapCall): readonly Obstacle[] => {
  const family = option(call, 'ip-family');
  const six = option(call, 'service-ipv6-cidr');
  const dns = option(call, 'dns-cluster-ip');
  if (family !== undefined && !family.isOpaque && !/^ipv[46]$/i.test(family.text)) {
    return [
      obstacle('SH009', family.at(0), '"Invalid --ip-family. Only ipv4 or ipv6 are allowed"'),
    ];
  }
  const isSix = family?.text.toLowerCase() === 'ipv6';
  if (six !== undefined && !isSix) {
    return [
      obstacle(
        'SH009',
        six.at(0),
        '"--ip-family should be ipv6 when --service-ipv6-cidr is specified"',
      ),
    ];
  }
  if (isSix && six === undefined && dns === undefined && family !== undefined) {
    const text =
      '"One of --service-ipv6-cidr or --dns-cluster-ip must be provided when --ip-family is ipv6"';
    return [obstacle('SH009', family.at(0), text)];
  }
  const outpost = option(call, 'enable-local-outpost');
  if (outpost?.text === 'true' && option(call, 'cluster-id') === undefined) {
    return [
      obstacle(
        'SH009',
        outpost.at(0),
        '"Cluster ID is required when local outpost support is enabled"',
      ),
    ];
  }
  return [];
};

const runtimeProblems = (call: BootstrapCall, minor: number): readonly Obstacle[] => {
  const runtime = option(call, 'container-runtime');
  return runtime !== undefined && !runtime.isOpaque && minor >= 24 && runtime.text !== 'containerd'
    ? [
        obstacle(
          'SH009',
          runtime.at(0),
          '"containerd is the only supported container runtime as of Kubernetes version 1.24"',
        ),
      ]
    : [];
};

const dnsAddresses = (call: BootstrapCall | undefined, facts: NodeFacts): readonly string[] => {
  const given = call?.options.get('dns-cluster-ip')?.text;
  if (given !== undefined) return given.split(',');
  const cidr =
    call?.options.get('service-ipv6-cidr')?.text ??
    call?.options.get('service-ipv4-cidr')?.text ??
    facts.cluster?.serviceCidr;
  return [clusterDnsOr(cidr, facts.vpcCidr)];
};

/** Among several calls, the last one writes the files that the kubelet restarts with. */
export const evaluateBootstrapScript = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const minor = minorOf(facts.kubernetesVersion);
  const machine = machineOf(facts);
  const call = bootstrap.calls.at(-1);
  const dns = dnsAddresses(call, facts);
  const extra = call?.options.get('kubelet-extra-args');
  const extraWords = extra === undefined ? [] : systemdWords(environmentValue(extra));
  const user = parseArguments(extraWords);
  const own = ownWords(facts, facts.privateDnsName);
  const ownPlaced = [...own.unit, ...own.computed].flatMap((one) => systemdWords(word(one)));
  const { flags } = parseArguments([...ownPlaced, ...extraWords]);
  const usesMaxPods = call?.options.get('use-max-pods')?.text !== 'false';
  const base = baseConfig({
    facts,
    maxPods: machine.maxPods,
    writesMaxPods: usesMaxPods,
    cpus: machine.cpus,
    clusterDns: dns,
  });
  const words = [...ownPlaced, ...extraWords].map((one) => one.text);
  const emptiesCgroups = flags.some(({ name }) => name === 'reserved-cpus');
  const config = scriptConfig(base, minor, emptiesCgroups);
  const kubelet = kubeletView(config, undefined, words, flags);
  const obstacles: Obstacle[] = [
    ...scriptProblems(bootstrap),
    ...bootstrap.calls.flatMap((one) => callProblems(one, minor)),
    ...argumentProblems(user, minor),
  ];
  if (call === undefined) {
    const text = 'nothing calls /etc/eks/bootstrap.sh: no kubelet is started';
    obstacles.push(obstacle('SH007', bootstrap.data.parts[0]?.at ?? begin, text));
  }
  const endpoint = call?.options.get('apiserver-endpoint')?.text ?? facts.cluster?.endpoint;
  const authority =
    call?.options.get('b64-cluster-ca')?.text ?? facts.cluster?.certificateAuthority;
  return {
    family: bootstrap.data.family,
    obstacles,
    nodeName: nodeNameOf(flags, facts.privateDnsName),
    cluster: {
      name: call?.clusterName?.text,
      endpoint,
      certificateAuthority: authority,
      serviceCidr: call?.options.get('service-ipv4-cidr')?.text,
      dns: dnsOf(kubelet.effective),
    },
    kubelet,
    labels: kubelet.labels,
    taints: kubelet.taints,
    maxPods: kubelet.maxPods,
    files: filesOf({
      facts,
      own,
      extra: extra?.text,
      config: kubelet.config,
      call,
      endpoint,
      authority,
    }),
  };
};
