// Names of the checks, which the agent runs besides reading logs.

export const checkNames = [
  'processes',
  'open-files',
  'clock',
  'conntrack',
  'pressure',
  'zram',
  'mounts',
  'ebs',
  'xfs',
  'units',
  'kubelet',
  'containerd',
  'containerd-deprecations',
  'links',
  'packet-filter',
  'sysctls',
  'routes',
  'network-limits',
  'efa',
  'mac-address-policy',
  'kernel-log',
] as const;
export type CheckName = (typeof checkNames)[number];
