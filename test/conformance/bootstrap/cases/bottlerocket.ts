// Bottlerocket's settings: the values that their types accept. A value of another type aborts the
// boot.
import type { Case, Topic } from '../topic.ts';

type SettingCase = Case<string, readonly string[]>;

const takes =
  (setting: string) =>
  (...values: readonly string[]): readonly SettingCase[] =>
    values.map((value) => ({
      name: `${setting} = ${value}`,
      given: `${setting} = ${value}`,
      expected: [],
    }));
const refuses =
  (setting: string, rule = 'BR003') =>
  (...values: readonly string[]): readonly SettingCase[] =>
    values.map((value) => ({
      name: `${setting} = ${value} is refused`,
      given: `${setting} = ${value}`,
      expected: [rule],
    }));

const many = (...text: readonly string[]): string => text.join('\n');
const table = (name: string, given: string, ...expected: readonly string[]): SettingCase => ({
  name,
  given,
  expected,
});

export const bottlerocket: Topic<string, readonly string[]> = {
  topic: 'Bottlerocket value types',
  upstream: 'bottlerocket-settings-sdk: modeled-types/src/kubernetes.rs',
  behaviour:
    'Whole numbers without quotes, durations from hours to milliseconds in that order, thresholds below ' +
    '100 %, quantities, enumerations, addresses; one value of another type and nothing is started',
  differences: ['percentages of image garbage collection are taken with quotes and without'],
  cases: [
    ...takes('max-pods')('0', '29', '4294967295'),
    ...refuses('max-pods')('"29"', '-1', '4294967296', '29.5', 'true', '[29]', '{ a = 1 }'),
    ...takes('cluster-dns-ip')('"10.100.0.10"', '["10.100.0.10", "169.254.20.10"]', '"fd00::a"'),
    ...refuses('cluster-dns-ip')('10', '"10.100.0"', '["10.100.0.10", "dns"]'),
    ...takes('cloud-provider')('"aws"', '"external"', '""'),
    ...refuses('cloud-provider')('"gce"', 'true'),
    ...takes('authentication-mode')('"aws"', '"tls"'),
    ...refuses('authentication-mode')('"token"', '""'),
    ...takes('bootstrap-token')('"abc123.0123456789abcdef"'),
    ...refuses('bootstrap-token')('"abc12.0123456789abcdef"', '"ABC123.0123456789abcdef"'),
    ...takes('cpu-manager-policy')('"none"', '"static"'),
    ...refuses('cpu-manager-policy')('"dynamic"'),
    ...takes('cpu-manager-reconcile-period')('"10s"', '"1h30m"', '"1.5h"', '"1m5s250ms"'),
    ...refuses('cpu-manager-reconcile-period')('"30s1m"', '"10"', '"10ns"', '""', '"1d"', '10'),
    ...takes('topology-manager-policy')(
      '"none"',
      '"restricted"',
      '"best-effort"',
      '"single-numa-node"',
    ),
    ...refuses('topology-manager-policy')('"best"'),
    ...takes('topology-manager-scope')('"container"', '"pod"'),
    ...refuses('topology-manager-scope')('"node"'),
    ...takes('image-gc-high-threshold-percent')('"0"', '"85"', '100'),
    ...refuses('image-gc-high-threshold-percent')('"101"', '"-1"', '"85%"'),
    ...takes('image-gc-low-threshold-percent')('"50"'),
    ...refuses('image-gc-low-threshold-percent')('"101"'),
    ...takes('server-tls-bootstrap')('true', 'false'),
    ...refuses('server-tls-bootstrap')('"true"'),
    ...takes('hostname-override-source')('"private-dns-name"', '"instance-id"'),
    ...refuses('hostname-override-source')('"name"'),
    ...takes('allowed-unsafe-sysctls')('["net.core.somaxconn"]', '[]'),
    ...refuses('allowed-unsafe-sysctls')('"net.core.somaxconn"'),
    ...takes('registry-qps')('10'),
    ...refuses('registry-qps')('"10"'),
    ...refuses('node-labels')('"a=b"'),
    table('a label', 'node-labels = { team = "a" }'),
    table('a label whose value is a number', 'node-labels = { team = 1 }', 'BR003'),
    table('a reserved label', 'node-labels = { "node-role.kubernetes.io/x" = "y" }', 'LB001'),
    table('a taint as a list', 'node-taints = { dedicated = ["gpu:NoSchedule"] }'),
    table('two effects of one key', 'node-taints = { a = ["b:NoSchedule", "b:NoExecute"] }'),
    table('a taint as a text', 'node-taints = { dedicated = "gpu:NoSchedule" }'),
    table('a taint without a value', 'node-taints = { dedicated = [":NoSchedule"] }'),
    table('a taint without an effect', 'node-taints = { dedicated = ["gpu"] }', 'TN001'),
    table('an effect that is none', 'node-taints = { dedicated = ["gpu:Never"] }', 'TN001'),
    ...takes('eviction-hard')(
      '{ "memory.available" = "100Mi" }',
      '{ "nodefs.available" = "10%" }',
      '{ "nodefs.inodesFree" = "0%" }',
      '{ "imagefs.available" = "99.9%" }',
      '{ "pid.available" = "1000" }',
    ),
    ...refuses('eviction-hard')(
      '{ "storage.available" = "10%" }',
      '{ "memory.available" = "100%" }',
      '{ "memory.available" = "-1%" }',
      '{ "memory.available" = "ten%" }',
      '{ "memory.available" = "100MB" }',
      '{ memory.available = "100Mi" }',
    ),
    ...takes('kube-reserved')('{ cpu = "70m", memory = "574Mi" }', '{ ephemeral-storage = "1Gi" }'),
    ...refuses('kube-reserved')('{ gpu = "1" }', '{ memory = "574mib" }', '{ cpu = "10%" }'),
    ...takes('system-reserved')('{ cpu = "10m" }'),
    ...refuses('system-reserved')('{ disk = "1Gi" }'),
    table(
      'a table where a number belongs',
      many('[settings.kubernetes.max-pods]', 'value = 3'),
      'BR003',
    ),
    table('a table that stands twice', many('[settings.kubernetes]', 'max-pods = 3'), 'BR006'),
    table('a key that stands twice', many('max-pods = 3', 'max-pods = 4'), 'BR006'),
  ],
};
