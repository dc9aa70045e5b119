// The kubelet's configuration as files: which files exist, their content, and which value takes
// effect.
import type { Json, JsonObject } from '../../../../src/api/json.ts';
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly kubelet: JsonObject;
  readonly minor?: number;
  /**
   * What the case compares: files by path, the drop-in's content, arguments, environment, or the
   * effective value of a field.
   */
  readonly look: 'files' | 'drop-in' | 'arguments' | 'environment' | readonly ['field', string];
}

const dir = '/etc/kubernetes/kubelet';
const meta = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' };
const config = (content: JsonObject): JsonObject => ({ config: content });
const inForce = (
  name: string,
  kubelet: JsonObject,
  field: string,
  expected: Json | undefined,
): Case<Given, Json | undefined> => ({
  name,
  given: { kubelet, look: ['field', field] },
  expected,
});

export const dropIns: Topic<Given, Json | undefined> = {
  topic: 'Kubelet configuration and drop-ins',
  upstream: 'amazon-eks-ami: nodeadm/internal/kubelet; kubernetes: KEP-3983',
  behaviour:
    'config.json holds nodeadm’s values, config.json.d/40-nodeadm.conf the user’s as they are, with ' +
    'kind and apiVersion; flags win over the drop-in, the drop-in over config.json; lists replace, maps merge',
  differences: ['flags stand in a fixed order; nodeadm prints those of its own in a random one'],
  cases: [
    {
      name: 'without a configuration of the user’s there is no drop-in',
      given: { kubelet: {}, look: 'files' },
      expected: [`${dir}/config.json`],
    },
    {
      name: 'an empty one makes none either',
      given: { kubelet: config({}), look: 'files' },
      expected: [`${dir}/config.json`],
    },
    {
      name: 'with one there is a drop-in, named 40-nodeadm.conf',
      given: { kubelet: config({ maxPods: 20 }), look: 'files' },
      expected: [`${dir}/config.json`, `${dir}/config.json.d/40-nodeadm.conf`],
    },
    {
      name: 'it has kind and apiVersion and nothing of nodeadm’s',
      given: { kubelet: config({ maxPods: 20, logging: { verbosity: 4 } }), look: 'drop-in' },
      expected: { ...meta, maxPods: 20, logging: { verbosity: 4 } },
    },
    {
      name: 'null and empty values are kept in it',
      given: {
        kubelet: config({ clusterDNS: [], kubeReservedCgroup: '', x: null }),
        look: 'drop-in',
      },
      expected: { ...meta, clusterDNS: [], kubeReservedCgroup: '', x: null },
    },
    {
      name: 'the directory is given only where there is a drop-in',
      given: { kubelet: {}, look: 'arguments' },
      expected: [`--config=${dir}/config.json`],
    },
    {
      name: 'the directory is given beside the file',
      given: { kubelet: config({ maxPods: 20 }), look: 'arguments' },
      expected: [`--config=${dir}/config.json`, `--config-dir=${dir}/config.json.d`],
    },
    {
      name: 'before 1.30 directories are alpha and switched on',
      given: { kubelet: config({ maxPods: 20 }), minor: 29, look: 'environment' },
      expected: ['KUBELET_CONFIG_DROPIN_DIR_ALPHA=on'],
    },
    {
      name: 'before 1.30 without a drop-in nothing is switched on',
      given: { kubelet: {}, minor: 29, look: 'environment' },
      expected: [],
    },
    {
      name: 'from 1.30 on nothing is switched on',
      given: { kubelet: config({ maxPods: 20 }), minor: 30, look: 'environment' },
      expected: [],
    },
    inForce('the formula’s pods, where nobody says more', {}, 'maxPods', 29),
    inForce('the drop-in wins over config.json', config({ maxPods: 20 }), 'maxPods', 20),
    inForce(
      'a flag wins over the drop-in',
      { ...config({ maxPods: 20 }), flags: ['--max-pods=30'] },
      'maxPods',
      30,
    ),
    inForce(
      'of two flags the later wins',
      { flags: ['--max-pods=30', '--max-pods=40'] },
      'maxPods',
      40,
    ),
    inForce(
      'a list replaces the one of config.json',
      config({ clusterDNS: ['169.254.20.10', '10.100.0.10'] }),
      'clusterDNS',
      ['169.254.20.10', '10.100.0.10'],
    ),
    inForce(
      'a map merges with the one of config.json',
      config({ evictionHard: { 'pid.available': '9%' } }),
      'evictionHard',
      {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
        'pid.available': '9%',
      },
    ),
    inForce(
      'a key of a map is replaced',
      config({ evictionHard: { 'memory.available': '1Gi' } }),
      'evictionHard',
      {
        'memory.available': '1Gi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
      },
    ),
    inForce(
      'a flag’s map replaces the whole',
      { flags: ['--eviction-hard=memory.available<2Gi'] },
      'evictionHard',
      {
        'memory.available': '2Gi',
      },
    ),
    inForce(
      'gates of a flag merge with the file’s',
      { flags: ['--feature-gates=NodeSwap=false'] },
      'featureGates',
      {
        DynamicResourceAllocation: true,
        NodeSwap: false,
        RotateKubeletServerCertificate: true,
      },
    ),
    inForce(
      'cgroups are emptied for reservedSystemCPUs',
      config({ kubeReservedCgroup: '' }),
      'kubeReservedCgroup',
      '',
    ),
    inForce(
      'the provider’s id names zone and instance',
      {},
      'providerID',
      'aws:///eu-west-1a/i-0123456789abcdef0',
    ),
  ],
};
