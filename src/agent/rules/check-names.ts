// Names of the checks: what the agent looks at on its own, besides reading logs.

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
