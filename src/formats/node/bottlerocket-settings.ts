// The types and valid values of Bottlerocket's settings.kubernetes. Types: bottlerocket's
// modeled-types/src/kubernetes.rs. Independent of a setting's effect.
import { type Located, numberOf, textOf } from '../user-data/located.ts';

type Check = (value: Located) => string | undefined;

const text =
  (pattern?: RegExp, says = 'a text'): Check =>
  (value) =>
    textOf(value) !== undefined && (pattern?.test(textOf(value) ?? '') ?? true) ? undefined : says;
const whole: Check = (value) => {
  const number = numberOf(value);
  return number !== undefined && Number.isInteger(number) && number >= 0 && number < 2 ** 32
    ? undefined
    : 'a whole number without quotes';
};
const truth: Check = (value) =>
  value.kind === 'scalar' && typeof value.value === 'boolean' ? undefined : 'true or false';
const table: Check = (value) => (value.kind === 'map' ? undefined : 'a table');
const list: Check = (value) => (value.kind === 'list' ? undefined : 'a list');
const oneOf = (...names: readonly string[]): Check => {
  const says = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  return (value) => (names.includes(textOf(value) ?? '') ? undefined : says);
};

const isAddress = (value: Located): boolean => {
  const address = textOf(value) ?? '';
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(address)
    ? address.split('.').every((octet) => Number(octet) < 256)
    : /^[0-9a-f:]*:[0-9a-f:]*(?:\d{1,3}(?:\.\d{1,3}){3})?$/i.test(address);
};
const addresses: Check = (value) =>
  (value.kind === 'list' ? value.items : [value]).every(isAddress)
    ? undefined
    : 'an IP address or a list of them';

/** Hours, minutes, seconds, milliseconds, in this order; each may be a decimal fraction. */
const durationText =
  /^(?=.)(?:\d+(?:\.\d+)?h)?(?:\d+(?:\.\d+)?m)?(?:\d+(?:\.\d+)?s)?(?:\d+(?:\.\d+)?ms)?$/;
const duration = text(durationText, 'a duration such as 1m30s');

const quantityText = /^[+-]?[\d.]+(?:e?\d*|[EPTGMK]i?|[numk])$/;
const quantity = text(quantityText, 'a quantity such as 100Mi');
const threshold: Check = (value) => {
  const share = /^(.+)%$/.exec(textOf(value) ?? '')?.[1];
  if (share === undefined) return quantity(value) && 'a quantity or a percentage, in quotes';
  return Number(share) >= 0 && Number(share) < 100 ? undefined : 'a percentage from 0 to below 100';
};
const percentage: Check = (value) => {
  const number = numberOf(value) ?? Number(/^\d+$/.exec(textOf(value) ?? '')?.[0] ?? -1);
  return Number.isInteger(number) && number >= 0 && number <= 100
    ? undefined
    : 'a percentage from 0 to 100';
};

const keyed =
  (keys: RegExp, says: string, check: Check): Check =>
  (value) => {
    if (value.kind !== 'map') return 'a table';
    for (const [key, member] of value.members) {
      if (!keys.test(key)) return `a table of ${says}; ${JSON.stringify(key)} is none`;
      const wanted = check(member.value);
      if (wanted !== undefined) return `for ${key} ${wanted}`;
    }
    return undefined;
  };
const signals = (check: Check): Check =>
  keyed(
    /^(?:memory\.available|(?:nodefs|imagefs)\.(?:available|inodesFree)|pid\.available)$/,
    'eviction signals in quotes',
    check,
  );
const resources = keyed(
  /^(?:cpu|memory|ephemeral-storage)$/,
  'cpu, memory and ephemeral-storage',
  quantity,
);

/** Checks for each of settings.kubernetes; names as in Bottlerocket's documentation. */
const settingChecks: Readonly<Record<string, Check>> = {
  'cluster-name': text(/^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/, 'a cluster name'),
  'cluster-certificate': text(),
  'api-server': text(),
  'node-labels': table,
  'node-taints': table,
  'static-pods': table,
  'authentication-mode': oneOf('aws', 'tls'),
  'bootstrap-token': text(/^[a-z0-9]{6}\.[a-z0-9]{16}$/, 'a bootstrap token'),
  'standalone-mode': truth,
  'eviction-hard': signals(threshold),
  'eviction-soft': signals(threshold),
  'eviction-soft-grace-period': signals(duration),
  'eviction-max-pod-grace-period': whole,
  'kube-reserved': resources,
  'system-reserved': resources,
  'allowed-unsafe-sysctls': list,
  'server-tls-bootstrap': truth,
  'cloud-provider': text(/^(?:aws|external|)$/, 'aws, external or an empty text'),
  'registry-qps': whole,
  'registry-burst': whole,
  'event-qps': whole,
  'event-burst': whole,
  'kube-api-qps': whole,
  'kube-api-burst': whole,
  'container-log-max-size': text(),
  'container-log-max-files': whole,
  'cpu-cfs-quota-enforced': truth,
  'cpu-manager-policy': oneOf('none', 'static'),
  'cpu-manager-reconcile-period': duration,
  'cpu-manager-policy-options': list,
  'topology-manager-scope': oneOf('container', 'pod'),
  'topology-manager-policy': oneOf('none', 'restricted', 'best-effort', 'single-numa-node'),
  'pod-pids-limit': (value) => (numberOf(value) === undefined ? 'a whole number' : undefined),
  'image-gc-high-threshold-percent': percentage,
  'image-gc-low-threshold-percent': percentage,
  'provider-id': text(),
  'hostname-override': text(),
  'hostname-override-source': oneOf('private-dns-name', 'instance-id'),
  'log-level': whole,
  'credential-providers': table,
  'server-certificate': text(),
  'server-key': text(),
  'shutdown-grace-period': duration,
  'shutdown-grace-period-for-critical-pods': duration,
  'max-pods': whole,
  'cluster-dns-ip': addresses,
  'cluster-domain': text(),
  'node-ip': text(),
  'pod-infra-container-image': text(),
  'memory-manager-policy': text(),
  'memory-manager-reserved-memory': table,
  'reserved-cpus': text(),
  'seccomp-default': truth,
  'verbose-logging': truth,
  'device-ownership-from-security-context': truth,
  'single-process-oom-kill': truth,
  'ids-per-pod': whole,
  nvidia: table,
};
export const bottlerocketFields: readonly string[] = Object.keys(settingChecks);

/** What a setting accepts instead of this value; undefined when valid or unknown. */
export const settingComplaint = (setting: string, value: Located): string | undefined =>
  Object.hasOwn(settingChecks, setting) ? settingChecks[setting]?.(value) : undefined;
