// The CustomResourceDefinitions of our objects: structural schemas of exactly the types beside this
// file. scripts/print-crds.ts prints them to deploy/crds; the controllers install them. Avoids
// known pitfalls: columns of type `date` only for past times, no CEL that formats numbers
// (reference: real-control-plane.md 6).

import { nodeDisruptionSpec, nodeDisruptionStatus } from './crd-disruption.ts';
import { nodeGroupSpec, nodeGroupStatus, sizesOfLeaving } from './crd-nodegroup.ts';
import { nodeGroupUpdateSpec, nodeGroupUpdateStatus } from './crd-nodegroup-update.ts';
import {
  nodeRepairObjectWords,
  nodeRepairSpec,
  nodeRepairStatus,
  repairIdentity,
} from './crd-repair.ts';
import { object, type Schema } from './crd-schema.ts';
import { updateSequenceSpec, updateSequenceStatus } from './crd-update-sequence.ts';
import { type Words, withWords } from './crd-words.ts';
import { nodeDisruptionWords } from './crd-words-disruption.ts';
import { nodeGroupWords } from './crd-words-nodegroup.ts';
import { nodeGroupUpdateWords, updateSequenceWords } from './crd-words-update.ts';
import { defined } from './defined.ts';
import type { JsonObject } from './json.ts';

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface CustomResourceDefinition extends JsonObject {
  readonly metadata: { readonly name: string };
}

const definition = (options: {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly spec: Schema;
  readonly status: Schema;
  readonly description: string;
  readonly words: Words;
  readonly scale?: JsonObject;
  /** Rules of the whole object, which relate its spec to its status. */
  readonly rules?: readonly JsonObject[];
  readonly columns: readonly Column[];
}): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${options.plural}.drover.dev` },
  spec: {
    group: 'drover.dev',
    scope: 'Cluster',
    names: {
      kind: options.kind,
      listKind: `${options.kind}List`,
      plural: options.plural,
      singular: options.singular,
      shortNames: [...options.shortNames],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            description: options.description,
            ...withWords(
              object(
                {
                  apiVersion: { type: 'string' },
                  kind: { type: 'string' },
                  metadata: { type: 'object' },
                  spec: options.spec,
                  status: options.status,
                },
                ['spec'],
              ),
              options.words,
              options.kind,
            ),
            ...(options.rules === undefined
              ? {}
              : { 'x-kubernetes-validations': [...options.rules] }),
          },
        },
        subresources: {
          status: {},
          ...defined({ scale: options.scale }),
        },
        additionalPrinterColumns: options.columns.map((column) => ({ ...column })),
      },
    ],
  },
});

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const nodeGroups = definition({
  kind: 'NodeGroup',
  plural: 'nodegroups',
  singular: 'nodegroup',
  shortNames: ['ng'],
  description:
    'A group of nodes that are made, watched, updated and retired together: what EKS calls ' +
    'a managed node group.',
  words: nodeGroupWords,
  spec: nodeGroupSpec,
  status: nodeGroupStatus,
  scale: { specReplicasPath: '.spec.scaling.desired', statusReplicasPath: '.status.desired' },
  rules: [sizesOfLeaving],
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.state' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desired' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.ready' },
    { name: 'Min', type: 'integer', jsonPath: '.status.minSize' },
    { name: 'Max', type: 'integer', jsonPath: '.status.maxSize' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', priority: 1 },
    { name: 'Release', type: 'string', jsonPath: '.status.releaseVersion' },
    { name: 'Capacity', type: 'string', jsonPath: '.status.capacityType', priority: 1 },
    { name: 'Group', type: 'string', jsonPath: '.status.autoScalingGroupName', priority: 1 },
    // Shows the reason of a problem, which the states DELETING and UPDATING do not.
    { name: 'Issue', type: 'string', jsonPath: '.status.health[0].code' },
    age,
  ],
});

const nodeGroupUpdates = definition({
  kind: 'NodeGroupUpdate',
  plural: 'nodegroupupdates',
  singular: 'nodegroupupdate',
  shortNames: ['ngu'],
  description: "One update of a node group: EKS' Update.",
  words: nodeGroupUpdateWords,
  spec: nodeGroupUpdateSpec,
  status: nodeGroupUpdateStatus,
  columns: [
    { name: 'Group', type: 'string', jsonPath: '.spec.nodeGroup' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Status', type: 'string', jsonPath: '.status.status' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Done', type: 'integer', jsonPath: '.status.progress.done' },
    { name: 'Total', type: 'integer', jsonPath: '.status.progress.total' },
    // A string: kubectl would print <invalid> for a future time in a date column.
    { name: 'ETA', type: 'string', jsonPath: '.status.progress.eta.p50' },
    { name: 'Held', type: 'string', jsonPath: '.status.held' },
    { name: 'Error', type: 'string', jsonPath: '.status.errors[0].code' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    age,
  ],
});

const updateSequences = definition({
  kind: 'NodeGroupUpdateSequence',
  plural: 'nodegroupupdatesequences',
  singular: 'nodegroupupdatesequence',
  shortNames: ['ngus'],
  description: 'Version updates of several node groups, one after another.',
  words: updateSequenceWords,
  spec: updateSequenceSpec,
  status: updateSequenceStatus,
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.status' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Done', type: 'integer', jsonPath: '.status.progress.done' },
    { name: 'Total', type: 'integer', jsonPath: '.status.progress.total' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
    age,
  ],
});

const nodeDisruptions = definition({
  kind: 'NodeDisruption',
  plural: 'nodedisruptions',
  singular: 'nodedisruption',
  shortNames: ['nd'],
  description: 'One instance that is taken out of service, with everything that was done for it.',
  words: nodeDisruptionWords,
  spec: nodeDisruptionSpec,
  status: nodeDisruptionStatus,
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
    { name: 'Group', type: 'string', jsonPath: '.spec.nodeGroup' },
    // The most important cause is first.
    { name: 'Cause', type: 'string', jsonPath: '.spec.causes[0].kind' },
    { name: 'Cloud', type: 'string', jsonPath: '.spec.causes[0].confirmation.state' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Outcome', type: 'string', jsonPath: '.status.outcome' },
    { name: 'Pods', type: 'integer', jsonPath: '.status.podsRemaining' },
    { name: 'Blockers', type: 'integer', jsonPath: '.status.waitingOnTotal' },
    // A string: kubectl would print <invalid> for a future time in a date column.
    { name: 'Deadline', type: 'string', jsonPath: '.status.deadline' },
    { name: 'Hook', type: 'string', jsonPath: '.status.hooks[0].state' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    age,
  ],
});

const nodeRepairs = definition({
  kind: 'NodeRepair',
  plural: 'noderepairs',
  singular: 'noderepair',
  shortNames: ['nr'],
  description:
    'One episode of ill health of one instance: what is wrong, when it is repaired, and how.',
  words: nodeRepairObjectWords,
  spec: nodeRepairSpec,
  status: nodeRepairStatus,
  rules: [repairIdentity],
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.node.name' },
    { name: 'Group', type: 'string', jsonPath: '.spec.nodeGroup' },
    { name: 'Condition', type: 'string', jsonPath: '.spec.condition' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Action', type: 'string', jsonPath: '.status.action' },
    // A string: kubectl would print <invalid> for a future time in a date column.
    { name: 'Eligible', type: 'string', jsonPath: '.status.eligibleAt' },
    { name: 'Blocked', type: 'string', jsonPath: '.status.blockedBy[0].kind' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    age,
  ],
});

/** All definitions, in the order of their installation. */
export const customResourceDefinitions: readonly CustomResourceDefinition[] = [
  nodeGroups,
  nodeGroupUpdates,
  updateSequences,
  nodeDisruptions,
  nodeRepairs,
];
