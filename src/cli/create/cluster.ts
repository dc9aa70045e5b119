// `create cluster`: the cluster's stack, then its node groups and add-ons. In an embedded world, a
// network that the file references by id is created first; a real account must have it.
import { defined } from '../../api/defined.ts';
import { clusterStack, zoneBlocks } from '../../core/provisioning/index.ts';
import type { ClusterConfig } from '../../formats/index.ts';
import { CloudError, orUnknown, type ProvisioningApi } from '../../ports/index.ts';
import { type CliContext, CommandError, type Connection, exitCodes } from '../context.ts';
import type { Progress } from '../progress.ts';
import { accountText, nameAccount } from '../where.ts';
import { choose, createNodeGroups, imageComplaint } from './nodegroups.ts';
import { failStack, waitForStack } from './stack-wait.ts';

export interface ClusterCreation {
  readonly context: CliContext;
  readonly connection: Connection;
  readonly progress: Progress;
  readonly api: ProvisioningApi;
  readonly config: ClusterConfig;
  readonly embedded: boolean;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** eksctl spreads a new network over three zones. */
const zonesWanted = 3;

const chooseZones = async ({ api, config }: ClusterCreation): Promise<readonly string[]> => {
  const there = await api.availabilityZones();
  if (config.zones.length === 0) return there.slice(0, zonesWanted);
  const unknown = config.zones.filter((zone) => !there.includes(zone));
  if (unknown.length === 0) return config.zones;
  throw new CommandError(
    exitCodes.refused,
    `availabilityZones: no zone ${unknown.join(', ')} here; there are ${there.join(', ')}`,
  );
};

/** A world has one Kubernetes API and therefore one cluster. */
const refuseSecond = async ({ api, config, embedded }: ClusterCreation): Promise<void> => {
  const known = await api.listClusters();
  if (known.includes(config.name)) {
    throw new CommandError(
      exitCodes.refused,
      `cluster ${config.name} exists already; \`drover create nodegroup\` adds node groups to it`,
    );
  }
  if (!embedded || known.length === 0) return;
  throw new CommandError(
    exitCodes.refused,
    `this world has its cluster (${known.join(', ')}) and one Kubernetes API: start another ` +
      'world ' +
      'with `drover up --data-dir DIR --port 0` and create the cluster there',
  );
};

const ensureNetwork = async (creation: ClusterCreation): Promise<void> => {
  const { context, connection, config, embedded, progress } = creation;
  if (config.vpcId === undefined) return;
  progress.info(`using existing VPC (${config.vpcId}) and subnets of the file`);
  if (!embedded) return;
  const world = await context.world(connection);
  await world.network({
    vpcId: config.vpcId,
    cidr: config.vpcCidr,
    subnets: config.subnets.flatMap(({ id, zone, cidr, visibility }) =>
      id === undefined
        ? []
        : [
            {
              id,
              public: visibility === 'public',
              ...defined({ zone, cidr }),
            },
          ],
    ),
  });
};

const deployCluster = async (creation: ClusterCreation): Promise<void> => {
  const { api, context, config, progress, deadline } = creation;
  const zones = await chooseZones(creation);
  if (config.vpcId === undefined) {
    progress.info(`setting availability zones to [${zones.join(' ')}]`);
    for (const { zone, publicCidr, privateCidr } of zoneBlocks(config.vpcCidr, zones)) {
      progress.info(`subnets for ${zone} - public:${publicCidr} private:${privateCidr}`);
    }
  }
  await ensureNetwork(creation);
  const stack = clusterStack(config, { zones });
  progress.info(
    config.logTypes.length === 0
      ? `CloudWatch logging will not be enabled for cluster "${config.name}"`
      : `CloudWatch logging will be enabled for cluster "${config.name}": ` +
          `${config.logTypes.join(', ')}`,
  );
  progress.info(`building cluster stack "${stack.name}"`);
  progress.info(`deploying stack "${stack.name}"`);
  await api.createStack(stack);
  const wait = { api, context, progress, deadline };
  const state = await waitForStack(wait, stack.name);
  if (state?.status !== 'CREATE_COMPLETE') await failStack(wait, state, stack.name);
};

const addAddons = async ({ api, config, progress }: ClusterCreation): Promise<void> => {
  const there = (await api.listAddons(config.name)).map((addon) => addon.name);
  const failed: string[] = [];
  for (const { name, version, configurationValues } of config.addons) {
    if (there.includes(name)) continue;
    progress.info(`creating addon "${name}"`);
    try {
      await api.createAddon(config.name, {
        name,
        ...defined({ version, configurationValues }),
      });
    } catch (error) {
      if (!(error instanceof CloudError) || error.retry !== 'never') throw error;
      progress.failed(`addon "${name}": ${error.message}`);
      failed.push(name);
    }
  }
  if (failed.length === 0) return;
  throw new CommandError(
    exitCodes.failed,
    `cluster ${config.name} and its node groups stand; addon(s) ${failed.join(', ')} do not: ` +
      '`drover create addon` makes them',
  );
};

/** Existing entries stay unchanged: EKS creates one for the creator of the cluster. */
const addAccessEntries = async ({ api, config, progress }: ClusterCreation): Promise<void> => {
  const wanted = config.accessEntries ?? [];
  if (wanted.length === 0) return;
  const there = new Set(
    (await api.listAccessEntries(config.name))?.map(({ principalArn }) => principalArn),
  );
  const failed: string[] = [];
  for (const entry of wanted) {
    if (there.has(entry.principalArn)) continue;
    progress.info(`creating access entry for principal ARN ${entry.principalArn}`);
    try {
      await api.createAccessEntry(config.name, entry);
    } catch (error) {
      if (!(error instanceof CloudError) || error.retry !== 'never') throw error;
      progress.failed(`access entry ${entry.principalArn}: ${error.message}`);
      failed.push(entry.principalArn);
    }
  }
  if (failed.length === 0) return;
  throw new CommandError(
    exitCodes.failed,
    `cluster ${config.name} exists; access entries of ${failed.join(', ')} are incomplete: ` +
      '`aws eks create-access-entry` and `associate-access-policy` make them',
  );
};

/** Reports errors of the node groups before the cluster is created: families, images, key pairs. */
const refuseGroups = async ({ api, config, embedded }: ClusterCreation): Promise<void> => {
  for (const group of config.groups) {
    const complaint = imageComplaint(group, config.version);
    if (complaint !== undefined) {
      throw new CommandError(exitCodes.refused, `node group ${group.name}: ${complaint}`);
    }
    const key = group.sshKeyName;
    if (key === undefined || embedded || (await api.keyPairExists(key))) continue;
    throw new CommandError(
      exitCodes.refused,
      `node group ${group.name}: no EC2 key pair ${key}; \`aws ec2 create-key-pair\` makes one`,
    );
  }
};

/** Throws CommandError after reporting what exists so far. */
export const createCluster = async (creation: ClusterCreation): Promise<void> => {
  const { context, connection, config, api, progress, embedded, deadline } = creation;
  progress.info(`using region ${config.region}`);
  await refuseSecond(creation);
  await refuseGroups(creation);
  const zones = await api.availabilityZones();
  if (embedded && !zones.some((zone) => zone.startsWith(config.region))) {
    // A file for another region is accepted; the message avoids a search for its nodes there.
    progress.info(
      `nothing is made in ${config.region}: this world's zones are ${zones.join(', ')}`,
    );
  }
  const { region } = config;
  const account = await orUnknown(api.callerAccount());
  await nameAccount(context, connection, 'creating in', accountText({ region, account }));
  const groups = config.groups.length;
  progress.info(
    `creating EKS cluster "${config.name}" in "${config.region}" region with ` +
      (groups === 0 ? 'no nodes' : `${groups} nodegroup(s)`),
  );
  await deployCluster(creation);
  const cluster = await api.describeCluster(config.name);
  if (cluster === undefined) {
    throw new CommandError(exitCodes.failed, `cluster ${config.name} is gone again`);
  }
  progress.done(`all EKS cluster resources for "${config.name}" have been created`);
  if (config.withOidc) {
    progress.info(`cluster "${config.name}" has an OIDC issuer; service accounts may use it`);
  }
  if (!embedded) {
    await addAccessEntries(creation);
    await addAddons(creation);
    // This command's kubeconfig is for another cluster and must stay unchanged.
    progress.info(
      `\`aws eks update-kubeconfig --name ${config.name} --region ${config.region}\`, then ` +
        '`drover create nodegroup -f` with the same file makes its node groups',
    );
    return;
  }
  if (groups > 0) {
    const nodes = {
      context,
      progress,
      api,
      cluster,
      deadline,
      kube: await context.kube(connection),
      cloud: await context.cloud(connection),
      namedSubnets: config.subnets,
      makesKeyPairs: true,
    };
    try {
      await createNodeGroups(nodes, await choose(nodes, config.groups));
    } catch (error) {
      progress.info(
        `cluster "${config.name}" exists; \`drover create nodegroup -f\` with the same file ` +
          'makes ' +
          'what is missing',
      );
      throw error;
    }
  }
  await addAccessEntries(creation);
  await addAddons(creation);
  progress.done(`EKS cluster "${config.name}" in "${config.region}" region is ready`);
};
