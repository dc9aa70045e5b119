// Merging of several NodeConfigs: which part's value takes effect, by kind of field.
import type { Json, JsonObject } from '../../../../src/api/json.ts';
import type { Case, Topic } from '../topic.ts';

interface Given {
  /** Each part's spec, in order; a string is literal YAML. */
  readonly parts: readonly (JsonObject | string)[];
  /**
   * Path below spec of the compared value. The required fields of `cluster` are set before the
   * first part.
   */
  readonly at: readonly string[];
}

type MergeCase = Case<Given, Json | undefined>;

const field =
  (at: string) =>
  (name: string, values: readonly (Json | undefined)[], expected: Json | undefined): MergeCase => {
    const path = at.split('.');
    const nested = (value: Json): JsonObject =>
      path.reduceRight<Json>((inner, key) => ({ [key]: inner }), value) as JsonObject;
    const parts = values.map((value) => (value === undefined ? {} : nested(value)));
    return { name: `${at}: ${name}`, given: { parts, at: path }, expected };
  };

const id = field('cluster.id');
const outpost = field('cluster.enableOutpost');
const strategy = field('instance.localStorage.strategy');
const mounts = field('instance.localStorage.disabledMounts');
const nameservers = field('instance.network.nameservers');
const expression = field('kubelet.maxPodsExpression');
const flags = field('kubelet.flags');
const gates = field('featureGates');
const environment = field('instance.environment');
const kubelet = field('kubelet.config');
const runtime = field('containerd.baseRuntimeSpec');
const toml = field('containerd.config');

const texts: readonly MergeCase[] = [
  id('a later text wins', ['a', 'b'], 'b'),
  id('the last of three wins', ['a', 'b', 'c'], 'c'),
  id('an empty later text does not override', ['a', ''], 'a'),
  id('null later does not override', ['a', null], 'a'),
  id('a part without the field leaves it', ['a', undefined], 'a'),
  id('an empty first text is filled by a later one', ['', 'b'], 'b'),
  strategy('a later text wins', ['RAID0', 'Mount'], 'Mount'),
  strategy('cannot be unset', ['RAID10', ''], 'RAID10'),
  expression('cannot be unset', ['max_pods - 1', ''], 'max_pods - 1'),
  expression('a later one wins', ['max_pods - 1', 'max_pods'], 'max_pods'),
  outpost('true later wins', [false, true], true),
  outpost('cannot be set back to false', [true, false], true),
];

const lists: readonly MergeCase[] = [
  mounts('a list that is not empty replaces', [['Containerd', 'SOCI'], ['PodLogs']], ['PodLogs']),
  mounts('an empty list does not override', [['Containerd'], []], ['Containerd']),
  nameservers(
    'are replaced, not joined',
    [['10.0.0.2'], ['10.0.0.3', '10.0.0.4']],
    ['10.0.0.3', '10.0.0.4'],
  ),
  nameservers('an empty list does not override', [['10.0.0.2'], []], ['10.0.0.2']),
  flags('are appended', [['--v=1'], ['--v=4']], ['--v=1', '--v=4']),
  flags('are kept twice where they are the same', [['--v=2'], ['--v=2']], ['--v=2', '--v=2']),
  flags('an empty list adds nothing', [['--v=2'], [], ['--v=3']], ['--v=2', '--v=3']),
  flags(
    'keep the order of the parts',
    [['--a=1', '--b=2'], ['--a=3']],
    ['--a=1', '--b=2', '--a=3'],
  ),
];

const keyed: readonly MergeCase[] = [
  gates('a key of a later part is added', [{ FastImagePull: true }, { InstanceIdNodeName: true }], {
    FastImagePull: true,
    InstanceIdNodeName: true,
  }),
  gates('false overrides true', [{ FastImagePull: true }, { FastImagePull: false }], {
    FastImagePull: false,
  }),
  gates('an empty object changes nothing', [{ FastImagePull: true }, {}], { FastImagePull: true }),
  environment(
    'a service of a later part is added',
    [{ default: { A: '1' } }, { kubelet: { A: '2' } }],
    {
      default: { A: '1' },
      kubelet: { A: '2' },
    },
  ),
  environment(
    'variables merge one by one',
    [{ default: { A: '1', B: '1' } }, { default: { B: '2' } }],
    {
      default: { A: '1', B: '2' },
    },
  ),
  environment('an empty text overrides', [{ default: { A: '1' } }, { default: { A: '' } }], {
    default: { A: '' },
  }),
];

const documents: readonly MergeCase[] = [
  kubelet('a scalar of a later part wins', [{ maxPods: 10 }, { maxPods: 20 }], { maxPods: 20 }),
  kubelet('keys of both are kept', [{ maxPods: 10 }, { podPidsLimit: 9 }], {
    maxPods: 10,
    podPidsLimit: 9,
  }),
  kubelet('0 overrides', [{ maxPods: 10 }, { maxPods: 0 }], { maxPods: 0 }),
  kubelet('an empty text overrides', [{ clusterDomain: 'a' }, { clusterDomain: '' }], {
    clusterDomain: '',
  }),
  kubelet('false overrides', [{ seccompDefault: true }, { seccompDefault: false }], {
    seccompDefault: false,
  }),
  kubelet('null overrides and stays', [{ maxPods: 10 }, { maxPods: null }], { maxPods: null }),
  kubelet(
    'null for an object overrides it',
    [{ evictionHard: { a: '1' } }, { evictionHard: null }],
    {
      evictionHard: null,
    },
  ),
  kubelet('lists are replaced whole', [{ clusterDNS: ['a', 'b'] }, { clusterDNS: ['c'] }], {
    clusterDNS: ['c'],
  }),
  kubelet('an empty list replaces', [{ clusterDNS: ['a'] }, { clusterDNS: [] }], {
    clusterDNS: [],
  }),
  kubelet(
    'lists of objects are not merged by key',
    [
      { registerWithTaints: [{ key: 'a', effect: 'NoSchedule' }] },
      { registerWithTaints: [{ key: 'b', effect: 'NoExecute' }] },
    ],
    { registerWithTaints: [{ key: 'b', effect: 'NoExecute' }] },
  ),
  kubelet(
    'objects merge deeply',
    [
      { logging: { verbosity: 2, options: { json: { splitStream: true } } } },
      { logging: { options: { json: { infoBufferSize: '0' } } } },
    ],
    {
      logging: { verbosity: 2, options: { json: { splitStream: true, infoBufferSize: '0' } } },
    },
  ),
  kubelet('an empty object clears nothing', [{ evictionHard: { a: '1' } }, { evictionHard: {} }], {
    evictionHard: { a: '1' },
  }),
  kubelet('an empty document clears nothing', [{ maxPods: 10 }, {}], { maxPods: 10 }),
  kubelet('an object becomes a scalar', [{ logging: { verbosity: 2 } }, { logging: 'x' }], {
    logging: 'x',
  }),
  kubelet('a scalar becomes an object', [{ logging: 'x' }, { logging: { verbosity: 2 } }], {
    logging: { verbosity: 2 },
  }),
  kubelet('a number becomes a text', [{ maxPods: 10 }, { maxPods: '10' }], { maxPods: '10' }),
  kubelet('a list becomes a text', [{ clusterDNS: ['a'] }, { clusterDNS: 'b' }], {
    clusterDNS: 'b',
  }),
  {
    name: 'kubelet.config: whole numbers above 2^53 lose precision',
    given: {
      parts: ['{kubelet: {config: {podPidsLimit: 9007199254740993}}}'],
      at: ['kubelet', 'config', 'podPidsLimit'],
    },
    expected: 9007199254740992,
  },
  runtime(
    'objects merge deeply',
    [
      { process: { rlimits: [{ type: 'RLIMIT_NOFILE', soft: 1 }] } },
      { process: { noNewPrivileges: true } },
    ],
    {
      process: { rlimits: [{ type: 'RLIMIT_NOFILE', soft: 1 }], noNewPrivileges: true },
    },
  ),
  runtime('lists are replaced whole', [{ mounts: ['a', 'b'] }, { mounts: ['c'] }], {
    mounts: ['c'],
  }),
];

const tomls: readonly MergeCase[] = [
  toml('is merged as a document', ['[grpc]\naddress = "a"\n', '[grpc]\ngid = 7\n'], {
    grpc: { address: 'a', gid: 7 },
  }),
  toml('a later scalar wins', ['oom_score = 1', 'oom_score = 2'], { oom_score: 2 }),
  toml('false overrides', ['[debug]\nx = true', '[debug]\nx = false'], { debug: { x: false } }),
  toml('lists are replaced whole', ['disabled_plugins = ["a", "b"]', 'disabled_plugins = []'], {
    disabled_plugins: [],
  }),
  toml('dotted keys and tables are one', ['[a.b]\nc = 1', 'a.b.d = 2'], {
    a: { b: { c: 1, d: 2 } },
  }),
  toml('an empty text clears nothing', ['oom_score = 1', ''], { oom_score: 1 }),
];

export const merging: Topic<Given, Json | undefined> = {
  topic: 'Merge of NodeConfigs',
  upstream: 'amazon-eks-ami: nodeadm/internal/api/merge.go',
  behaviour:
    'Fields of the schema cannot be unset by a later part and lists replace; flags append; ' +
    'gates and environment merge key by key; inline documents merge deeply, zero values included',
  differences: [],
  cases: [...texts, ...lists, ...keyed, ...documents, ...tomls],
};
