// Windows: the effect of the parameters of EKS' Start-EKSBootstrap.ps1. Behaviour: EKS user guide
// (eks-optimized-windows-ami). The script's own files are Windows paths. Runs nothing.
import type { JsonObject } from '../../api/json.ts';
import { begin } from '../position.ts';
import type { Bootstrap } from '../user-data/bootstrap.ts';
import { type PowerShellCall, windowsParameters } from '../user-data/powershell.ts';
import { parseArguments } from './arguments.ts';
import { clusterDnsOr, recommendedMaxPods } from './capacity.ts';
import { authorityFault } from './certificate.ts';
import { type EvaluatedNode, machineOf, word } from './evaluated.ts';
import { minorOf, type NodeFacts } from './facts.ts';
import { file, jsonFile, kubeconfig } from './files.ts';
import { baseConfig, kubeletView, nodeNameOf } from './kubelet.ts';
import { argumentProblems } from './kubelet-problems.ts';
import { nearestName } from './nearest.ts';
import { decodedAuthority, dnsOf, isServerUrl } from './nodeadm.ts';
import { type Obstacle, obstacle } from './problem.ts';
import { windowsWords } from './words.ts';

const containerdPipe = 'npipe:////./pipe/containerd-containerd';
const root = 'C:\\ProgramData\\kubernetes';

const callProblems = (call: PowerShellCall): readonly Obstacle[] => {
  const found: Obstacle[] = [];
  const stray = call.strays[0];
  if (stray !== undefined) {
    const text =
      `${JSON.stringify(stray.text)} belongs to no parameter: a ` +
      'value with blanks needs quotes';
    found.push(obstacle('WIN001', stray.at(0), text));
  }
  const name = call.parameters.get('eksclustername');
  if (name === undefined || (name.text === '' && !name.isOpaque)) {
    found.push(obstacle('WIN006', call.at, '-EKSClusterName is not given'));
  }
  const known = new Set(windowsParameters.map((one) => one.toLowerCase()));
  for (const [parameter, value] of call.parameters) {
    if (known.has(parameter)) continue;
    const near = nearestName(parameter, windowsParameters);
    const hint = near === undefined ? '' : `; did you mean -${near}?`;
    found.push(obstacle('WIN006', value.at(0), `the script has no parameter -${parameter}${hint}`));
  }
  const authority = call.parameters.get('base64clusterca');
  const endpoint = call.parameters.get('apiserverendpoint');
  if ((authority === undefined) !== (endpoint === undefined)) {
    const text = '-APIServerEndpoint and -Base64ClusterCA go together: one of them is missing';
    found.push(obstacle('WIN006', call.at, text));
  }
  const fault =
    authority === undefined || authority.isOpaque ? undefined : authorityFault(authority.text);
  if (authority !== undefined && fault !== undefined) {
    found.push(obstacle('NC003', authority.at(0), `-Base64ClusterCA ${fault}`));
  }
  if (endpoint !== undefined && !endpoint.isOpaque && !isServerUrl(endpoint.text)) {
    const text = `-APIServerEndpoint is ${JSON.stringify(endpoint.text)}, not an https:// URL`;
    found.push(obstacle('NC004', endpoint.at(0), text));
  }
  return found;
};

const scriptProblems = ({ windows, data }: Bootstrap): readonly Obstacle[] => {
  if (data.mime !== undefined) {
    return [
      obstacle('MIME004', begin, 'EC2Launch reads <powershell>, and this is a MIME document'),
    ];
  }
  if (windows === undefined) return [];
  const { script, part } = windows;
  return [
    ...(script.hasTag
      ? []
      : [obstacle('WIN003', part.at, 'there is no <powershell> tag: EC2Launch runs nothing')]),
    ...script.faults.map(({ at, message }) => obstacle('WIN003', at, message)),
    ...(script.calls.length > 0 || !script.hasTag
      ? []
      : [
          obstacle(
            'WIN004',
            part.at,
            'nothing calls Start-EKSBootstrap.ps1: no kubelet is started',
          ),
        ]),
  ];
};

/** Windows has no cgroups, and containerd listens on a named pipe. */
const withoutCgroups = (config: JsonObject): JsonObject => {
  const {
    cgroupDriver: _a,
    cgroupRoot: _b,
    kubeReservedCgroup: _c,
    systemReservedCgroup: _d,
    ...rest
  } = config;
  const { containerRuntimeEndpoint: socket } = rest;
  return socket === undefined ? rest : { ...rest, containerRuntimeEndpoint: containerdPipe };
};

export const evaluateWindows = (bootstrap: Bootstrap, facts: NodeFacts): EvaluatedNode => {
  const call = bootstrap.windows?.script.calls.at(-1);
  const given = (name: string) => call?.parameters.get(name.toLowerCase());
  const machine = machineOf(facts);
  const extra = given('KubeletExtraArgs');
  const extraWords = extra === undefined ? [] : windowsWords(extra);
  const user = parseArguments(extraWords);
  const own = [
    '--cloud-provider=external',
    `--config=${root}\\kubelet-config.json`,
    `--kubeconfig=${root}\\kubeconfig`,
    `--hostname-override=${facts.privateDnsName}`,
    `--node-ip=${facts.privateIp}`,
  ];
  const { flags } = parseArguments([...own.map(word), ...extraWords]);
  const maxPods =
    machine.limits === undefined
      ? machine.maxPods
      : recommendedMaxPods(machine.limits, { isWindows: true });
  const serviceCidr = given('ServiceCIDR')?.text ?? facts.cluster?.serviceCidr;
  const dns = given('DNSClusterIP')?.text ?? clusterDnsOr(serviceCidr, facts.vpcCidr);
  const { cpus } = machine;
  const base = baseConfig({ facts, maxPods, writesMaxPods: true, cpus, clusterDns: [dns] });
  const words = [...own, ...extraWords.map((one) => one.text)];
  const kubelet = kubeletView(withoutCgroups(base), undefined, words, flags);
  const endpoint = given('APIServerEndpoint')?.text ?? facts.cluster?.endpoint;
  const authority = given('Base64ClusterCA')?.text ?? facts.cluster?.certificateAuthority;
  const name = given('EKSClusterName')?.text;
  return {
    family: 'windows',
    obstacles: [
      ...scriptProblems(bootstrap),
      ...(bootstrap.windows?.script.calls ?? []).flatMap(callProblems),
      ...argumentProblems(user, minorOf(facts.kubernetesVersion)),
    ],
    nodeName: nodeNameOf(flags, facts.privateDnsName),
    cluster: {
      name,
      endpoint,
      certificateAuthority: authority,
      serviceCidr,
      dns: dnsOf(kubelet.effective),
    },
    kubelet,
    labels: kubelet.labels,
    taints: kubelet.taints,
    maxPods: kubelet.maxPods,
    files: [
      jsonFile(`${root}\\kubelet-config.json`, kubelet.config),
      file(
        `${root}\\kubeconfig`,
        kubeconfig({ clusterName: name ?? '', endpoint: endpoint ?? '', region: facts.region }),
      ),
      file(`${root}\\pki\\ca.crt`, decodedAuthority(authority ?? '')),
    ],
  };
};
