// Kubernetes' version skew policy. A kubelet is never newer than the API server and at most three
// minor versions older (two before 1.25); so is kube-proxy. An update over several minor versions
// is allowed and reported.
import type { Check, Found } from '../finding.ts';
import type { View } from '../view.ts';

/** 1.32 -> 32; undefined if it is not a version. */
export const minorOf = (version: string | undefined): number | undefined => {
  const match = /^v?1\.(\d+)/.exec(version ?? '');
  return match === null ? undefined : Number(match[1]);
};

const lastMinorOfTwo = 24;

const group = (view: View) => ({ kind: 'NodeGroup', name: view.snapshot.group.name });

const againstControlPlane = (view: View, target: number, server: number): readonly Found[] => {
  const atMost = target <= lastMinorOfTwo ? 2 : 3;
  const evidence = { target: `1.${target}`, controlPlane: `1.${server}` };
  const { cluster, name } = view.snapshot.group;
  if (target > server) {
    return [
      {
        severity: 'blocker',
        object: group(view),
        evidence,
        consequence: { text: 'a kubelet may not be newer than the API server: refused', minute: 0 },
        isRefused: true,
        remedy:
          `aws eks update-cluster-version --name ${cluster} --kubernetes-version ` +
          `1.${server + 1}`,
      },
    ];
  }
  if (server - target <= atMost) return [];
  return [
    {
      severity: 'blocker',
      object: group(view),
      evidence: { ...evidence, atMostOlder: atMost },
      consequence: { text: 'the kubelet is too old for the API server: unsupported', minute: 0 },
      remedy: `drover plan update ${name} --kubernetes-version 1.${server}`,
    },
  ];
};

const againstNodes = (view: View, target: number): readonly Found[] => {
  const minors = view.oldNodes.flatMap(
    ({ node }) => minorOf(node.status.nodeInfo?.kubeletVersion) ?? [],
  );
  if (minors.length === 0) return [];
  const oldest = Math.min(...minors);
  const newest = Math.max(...minors);
  const evidence = { nodes: `1.${oldest}`, target: `1.${target}` };
  const { name } = view.snapshot.group;
  if (target < newest) {
    return [
      {
        severity: 'warning',
        object: group(view),
        evidence: { ...evidence, nodes: `1.${newest}` },
        consequence: { text: 'this is a downgrade: EKS refuses one, Drover calls it a rollback' },
        remedy: `drover plan update ${name} --kubernetes-version 1.${newest}`,
      },
    ];
  }
  if (target - oldest < 2) return [];
  return [
    {
      severity: 'warning',
      object: group(view),
      evidence,
      consequence: { text: `${target - oldest} minor versions in one step: read each one's notes` },
      remedy: `drover plan update ${name} --kubernetes-version 1.${oldest + 1}`,
    },
  ];
};

const proxyFound = (view: View, target: number): readonly Found[] => {
  const proxy = view.snapshot.workloads.find(
    ({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === 'kube-proxy',
  );
  const image = proxy?.spec.template?.spec?.containers?.[0]?.image;
  const minor = minorOf(image?.slice(image.lastIndexOf(':') + 1));
  if (minor === undefined || Math.abs(minor - target) <= 3) return [];
  return [
    {
      severity: 'warning',
      object: { kind: 'DaemonSet', name: 'kube-system/kube-proxy' },
      evidence: { kubeProxy: `1.${minor}`, target: `1.${target}` },
      consequence: { text: 'kube-proxy may be at most three minors from its kubelet' },
      remedy:
        `aws eks update-addon --cluster-name ${view.snapshot.group.cluster} --addon-name ` +
        'kube-proxy',
    },
  ];
};

export const versionSkew: Check = {
  name: 'version-skew',
  title: 'The target version does not match the control plane',
  needs: ['nodes', 'controlPlane'],
  run: (view) => {
    const { target, controlPlaneVersion } = view.snapshot;
    const minor = minorOf(target.version);
    const server = minorOf(controlPlaneVersion);
    if (minor === undefined || server === undefined) return [];
    return [
      ...againstControlPlane(view, minor, server),
      ...againstNodes(view, minor),
      ...proxyFound(view, minor),
    ];
  },
};
