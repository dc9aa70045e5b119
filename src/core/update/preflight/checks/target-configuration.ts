// Whether the target is possible: it exists, matches the instance types, and new nodes get the
// labels and taints of the old ones. The first new node of each zone shows what only a boot can
// prove.
import { hasImages } from '../../../nodegroup/index.ts';
import type { Check, Found } from '../finding.ts';
import type { View } from '../view.ts';
import { probesFound } from './probes.ts';
import { minorOf } from './version-skew.ts';

/** EKS' time limit for new nodes to become Ready. */
const joinMinutes = 15;

const group = (view: View) => ({ kind: 'NodeGroup', name: view.snapshot.group.name });

/**
 * AWS publishes no further images of this AMI family, so no release of the requested version will
 * exist.
 */
const isOfPast = ({ snapshot: { group: facts, target } }: View): boolean =>
  target.version !== undefined && !hasImages(facts.amiType, target.version);

/** The AMI type of a group is immutable. */
const newGroup = ({ snapshot: { group: facts, target, instanceTypes } }: View): string => {
  const { name, cluster, managedBy, amiType } = facts;
  const rest =
    `# then move the pods and delete ${name}: AWS has no ${amiType} images for ` +
    `${target.version ?? ''}`;
  if (managedBy === 'drover') {
    return (
      `drover create nodegroup --cluster ${cluster} --name ${name}-al2023 --node-ami-family ` +
      `AmazonLinux2023   ${rest}`
    );
  }
  const isArm = instanceTypes.some(({ architectures }) => architectures.includes('arm64'));
  const type = isArm ? 'AL2023_ARM_64_STANDARD' : 'AL2023_x86_64_STANDARD';
  return (
    `aws eks create-nodegroup --cluster-name ${cluster} --nodegroup-name ${name}-al2023 ` +
    `--ami-type ${type} --node-role ROLE --subnets SUBNETS   ${rest}`
  );
};

const problem = (view: View): readonly Found[] => {
  const { target, controlPlaneVersion } = view.snapshot;
  const isTooNew = (minorOf(target.version) ?? 0) > (minorOf(controlPlaneVersion) ?? Infinity);
  // version-skew reports versions newer than the control plane.
  if (target.problem === undefined || isTooNew) return [];
  return [
    {
      severity: 'blocker',
      object: group(view),
      evidence: { target: target.releaseVersion ?? target.version ?? target.imageId ?? '?' },
      consequence: { text: target.problem, minute: 0 },
      isRefused: true,
      remedy: isOfPast(view)
        ? newGroup(view)
        : 'name a release that exists: --release-version, --kubernetes-version or ' +
          '--launch-template-version',
    },
  ];
};

/** EC2 refuses every launch from an image that does not exist (InvalidAMIID.NotFound). */
const imageFound = (view: View): readonly Found[] => {
  const { target } = view.snapshot;
  const { missingImage: image } = target;
  if (image === undefined) return [];
  const { id, version } = target.launchTemplate ?? {};
  const named = id === undefined ? {} : { launchTemplate: `${id} version ${version}` };
  return [
    {
      severity: 'blocker',
      object: group(view),
      evidence: { image, ...named },
      consequence: {
        text: `EC2 has no image ${image}: InvalidAMIID.NotFound, no new node is launched`,
        minute: Math.round(view.forecast.firstLaunchMinute),
      },
      remedy:
        `aws ec2 describe-images --image-ids ${image}   # name one that exists in a new ` +
        'template version',
    },
  ];
};

const typesFound = (view: View): readonly Found[] => {
  const { target, group: facts, instanceTypes, unread } = view.snapshot;
  if (unread.instanceTypes !== undefined) return [];
  const names = target.instanceTypes ?? facts.instanceTypes;
  return names.flatMap((name): readonly Found[] => {
    const known = instanceTypes.find((one) => one.name === name);
    if (known === undefined) {
      return [
        {
          severity: 'blocker',
          object: group(view),
          evidence: { instanceType: name },
          consequence: { text: 'EC2 has no such type in this region: NodeCreationFailure' },
          remedy: `aws ec2 describe-instance-types --instance-types ${name}`,
        },
      ];
    }
    const { architecture } = target;
    if (architecture === undefined || known.architectures.includes(architecture)) return [];
    return [
      {
        severity: 'blocker',
        object: group(view),
        evidence: { instanceType: name, runs: known.architectures.join(' '), image: architecture },
        consequence: {
          text: 'the image does not boot on this type: NodeCreationFailure',
          minute: Math.round(view.forecast.firstLaunchMinute + joinMinutes),
        },
        remedy: `choose an image for ${known.architectures.join(' or ')}`,
      },
    ];
  });
};

const subnetsFound = (view: View): readonly Found[] => {
  const { group: facts, subnets, unread } = view.snapshot;
  if (unread.subnets !== undefined) return [];
  const missing = facts.subnets.filter((id) => !subnets.some((one) => one.id === id));
  return missing.map((id) => ({
    severity: 'blocker',
    object: { kind: 'Subnet', name: id },
    evidence: { subnets: facts.subnets.join(' ') },
    consequence: { text: 'a subnet of the group is gone: SubnetNotFound' },
    remedy: `aws ec2 describe-subnets --subnet-ids ${id}`,
  }));
};

/**
 * EKS waits for a new node in every zone with old ones, unless that zone has as many nodes as any
 * other (rolling.ts).
 */
const zonesFound = (view: View): readonly Found[] => {
  const { strategy, name } = view.snapshot.group;
  if (strategy !== 'DEFAULT') return [];
  const counts = new Map<string, number>();
  for (const { zone } of view.oldNodes) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  const next = new Set(view.newNodes.map(({ zone }) => zone));
  const inNext = [...next].map((zone) => counts.get(zone) ?? 0);
  const even = inNext.reduce((sum, one) => sum + one, view.surge) / Math.max(1, next.size);
  const fullest = Math.max(Math.ceil(even), ...inNext);
  const left = [...counts].filter(([zone, count]) => !next.has(zone) && count < fullest);
  if (next.size === 0 || left.length === 0) return [];
  const zones = left.map(([zone]) => zone).join(', ');
  return [
    {
      severity: 'blocker',
      object: group(view),
      evidence: { zonesWithoutSubnet: zones, newNodesIn: [...next].join(' ') },
      consequence: {
        text: `no new node comes up in ${zones}: NodeCreationFailure, no old node is touched`,
        minute: Math.round(view.forecast.firstLaunchMinute + joinMinutes),
      },
      remedy: `give ${name} a subnet in ${zones}, or drover plan update ${name} --strategy SURGE`,
    },
  ];
};

/** Labels and taints set on nodes by hand are not applied to new nodes. */
const driftFound = (view: View): readonly Found[] => {
  const { labels, taints } = view.snapshot.group;
  const missing = view.oldNodes.flatMap(({ node }) => [
    ...Object.entries(labels).flatMap(([key, value]) =>
      node.metadata.labels?.[key] === value ? [] : [`label ${key}=${value}`],
    ),
    ...taints.flatMap(({ key, effect }) =>
      (node.spec.taints ?? []).some((one) => one.key === key && one.effect === effect)
        ? []
        : [`taint ${key}:${effect}`],
    ),
  ]);
  if (missing.length === 0) return [];
  return [
    {
      severity: 'warning',
      object: group(view),
      evidence: { onlyOnNewNodes: [...new Set(missing)].join('; ') },
      consequence: { text: 'new nodes differ from the old ones in more than their revision' },
      remedy: 'kubectl get nodes --show-labels   # compare with the group',
    },
  ];
};

/** Hooks that cannot run. Their findings have the time of the first node that they run for. */
const hooksFound = (view: View): readonly Found[] => {
  const { group: facts, missingTemplates = [], unread } = view.snapshot;
  const own = group(view);
  const why = unread.hooks;
  const notRead: readonly Found[] =
    why === undefined
      ? []
      : [
          {
            severity: 'notChecked',
            object: own,
            evidence: { unread: 'CronJobs of hooks' },
            consequence: { text: `not checked: ${why}` },
            remedy:
              'kubectl apply -n NAMESPACE -f deploy/hooks.yaml   # and let the reader get CronJobs',
          },
        ];
  const missing = missingTemplates.map(({ hook, cronJob }): Found => {
    const goesOn = facts.hooks?.[hook]?.onFailure === 'Continue';
    const first = view.forecast.firstDrained(view.oldNodes.map(({ node }) => node.metadata.name));
    const { firstLaunchMinute } = view.forecast;
    const where =
      hook === 'postReady' || first === undefined
        ? { minute: Math.round(firstLaunchMinute) }
        : { node: first.node, minute: Math.round(first.minute) };
    const end = goesOn ? 'the update continues without it' : 'the update fails there';
    return {
      severity: goesOn ? 'warning' : 'blocker',
      object: { kind: 'CronJob', name: cronJob },
      evidence: { hook, onFailure: goesOn ? 'Continue' : 'Fail' },
      consequence: { text: `hook ${hook} has nothing to run: ${end}`, ...where },
      remedy:
        `create it, suspended, in its namespace, or kubectl edit ng ${facts.name}   # ` +
        `spec.updateConfig.hooks.${hook}`,
    };
  });
  return [...missing, ...notRead];
};

export const targetConfiguration: Check = {
  name: 'target-configuration',
  title: 'The target is invalid, or differs in more than its revision',
  needs: ['nodes'],
  run: (view) => [
    ...problem(view),
    ...imageFound(view),
    ...typesFound(view),
    ...subnetsFound(view),
    ...zonesFound(view),
    ...driftFound(view),
    ...hooksFound(view),
    ...probesFound(view),
  ],
};
