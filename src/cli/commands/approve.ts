// drover approve update: approves a NodeGroupUpdate. Writes two annotations and nothing else; the
// approver's name is the one that the API server reports.
import type { Command } from 'commander';
import type { KubeObject, ResourceType } from '../../api/kube.ts';
import {
  approvedAnnotation,
  approvedByAnnotation,
  approvedWaveAnnotation,
  approvedWaveByAnnotation,
} from '../../api/update-pacing.ts';
import { type KubeApi, KubeError } from '../../ports/index.ts';
import type { CliContext, Connection } from '../context.ts';
import { nameCluster } from '../where.ts';
import { needRunning, patchUpdate, whichOne } from './update-control.ts';

const reviews: ResourceType = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
};

type Review = KubeObject & {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
};

/** Undefined where the API server does not report it (before Kubernetes 1.28, or not allowed). */
const whoAmI = async (kube: KubeApi): Promise<string | undefined> => {
  const { group, version, kind } = reviews;
  try {
    const body = { apiVersion: `${group}/${version}`, kind };
    const review = await kube.create<Review>(reviews, body);
    return review.status?.userInfo?.username;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return undefined;
  }
};

const approve = async (
  context: CliContext,
  connection: Connection,
  id: string | undefined,
  nodeGroup: string | undefined,
): Promise<void> => {
  const kube = await context.kube(connection);
  const { metadata, spec, status } = await needRunning(kube, id, nodeGroup);
  const { name } = metadata;
  const kinds = (status?.holds ?? []).map(({ kind }) => kind);
  const isWave = kinds.includes('WaveApproval');
  const waits = isWave || kinds.includes('Approval');
  // The approval applies to the reviewed plan.
  const by = await whoAmI(kube);
  const annotations = isWave
    ? {
        [approvedWaveAnnotation]: String(status?.wave?.number ?? 0),
        [approvedWaveByAnnotation]: by ?? null,
      }
    : {
        [approvedAnnotation]: spec.planHash ?? 'true',
        [approvedByAnnotation]: by ?? null,
      };
  await nameCluster(context, connection, 'approving in');
  await patchUpdate(kube, name, { metadata: { annotations } });
  const who = by === undefined ? '' : ` by ${by}`;
  context.out(
    waits
      ? `update ${name} is approved${who}: it continues when nothing else holds it`
      : `update ${name} is approved${who}; it was not waiting for that`,
  );
};

/** Adds `approve` to the program. */
export const addApproveCommand = (
  program: Command,
  context: CliContext,
  connection: () => Connection,
): void => {
  program
    .command('approve')
    .description('approve an update that waits for an approval')
    .command('update [id]', { isDefault: true })
    .description('approve the start of an update, or its next wave')
    .option('--nodegroup <name>', 'the active update of this node group, else its newest one')
    .addHelpText(
      'after',
      `
With spec.updateConfig.approval: Required an update waits for this before it starts. Waves with the
gate Approval wait before the next wave. Everyone who may patch NodeGroupUpdates may approve; the
audit log of the API server records who did.
${whichOne}

Examples:
  drover approve update --nodegroup demo-ng
  drover approve update 7c9e6679`,
    )
    .action((id: string | undefined, flags: { readonly nodegroup?: string }) =>
      approve(context, connection(), id, flags.nodegroup),
    );
};
