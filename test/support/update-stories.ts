// Shared by the stories of version updates: article 003's node group ng-v1, updated and followed
// with the real aws, pods applied with the real kubectl; world time is advanced, never waited for.
// Contains no story.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/api/json.ts';
import type { AuditEvent, ServedWorld } from './demo-world.ts';
import { type Steps, stepsOf } from './steps.ts';

export const groupName = 'ng-v1';
const cluster = '--cluster-name ironman-2022';
const named = `${cluster} --nodegroup-name ${groupName}`;
const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** World time that no update of these stories reaches: an upper bound, not a wait. */
const maxRounds = 400;

export interface UpdateTold {
  readonly status: string;
  readonly errors: readonly {
    readonly errorCode: string;
    readonly errorMessage: string;
    readonly resourceIds?: readonly string[];
  }[];
}

export interface Activity {
  readonly Description: string;
  readonly Cause: string;
  readonly StartTime: string;
  readonly EndTime?: string;
  readonly StatusCode: string;
}

export interface NodeTold {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly unschedulable?: boolean; readonly providerID: string };
}

const word = (text: string): string => text.trim().replaceAll('"', '');

export class UpdateStory {
  readonly world: ServedWorld;
  readonly aws: Steps;
  readonly kubectl: Steps;
  readonly drover: Steps;
  /** The two existing releases; the demo's group has the older one. */
  older = '';
  newest = '';

  private constructor(world: ServedWorld) {
    this.world = world;
    this.aws = stepsOf('aws', (args) => world.aws(...args));
    this.kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
    this.drover = stepsOf('drover', (args) => world.drover(...args));
  }

  static async begin(world: ServedWorld): Promise<UpdateStory> {
    const story = new UpdateStory(world);
    const { aws } = story;
    const demo = `eks describe-nodegroup ${cluster} --nodegroup-name demo-ng --query`;
    story.older = word(await aws.ok(`${demo} nodegroup.releaseVersion`));
    const images =
      'ec2 describe-images --filters Name=name,Values=amazon-eks-node-1.32-v* --query Images[].Name --output text';
    const dates = (await aws.ok(images)).match(/\d{8}\b/g) ?? [];
    story.newest = `${story.older.split('-')[0]}-${dates.toSorted().at(-1)}`;
    return story;
  }

  /** Advances world time in steps until `holds` returns a value. */
  async until<T>(what: string, step: string, holds: () => Promise<T | undefined>): Promise<T> {
    for (let round = 0; round < maxRounds; round++) {
      const found = await holds();
      if (found !== undefined) return found;
      await this.drover.ok(`world advance ${step}`);
    }
    const groups = await this.world.kubectl('get', 'nodegroups,nodegroupupdates', '-o', 'yaml');
    throw new Error(`it did not come to be that ${what}\n${groups.stdout}`);
  }

  /** A group a release behind the newest, in this many of the demo group's subnets. */
  async createGroup(options: { readonly nodes: number; readonly zones: number }): Promise<void> {
    const query = '--query nodegroup.[nodeRole,subnets] --output json';
    const demo = await this.aws.ok(
      `eks describe-nodegroup ${cluster} --nodegroup-name demo-ng ${query}`,
    );
    const [role, subnets] = JSON.parse(demo) as readonly [string, readonly string[]];
    const { nodes, zones } = options;
    await this.aws.ok(
      `eks create-nodegroup ${named} --node-role ${role} --instance-types m5.large --release-version ${this.older} ` +
        `--subnets ${subnets.slice(0, zones).join(' ')} --update-config maxUnavailable=1 ` +
        `--scaling-config minSize=0,maxSize=${nodes + 2},desiredSize=${nodes}`,
    );
    await this.atRest(nodes);
  }

  /** The group is ACTIVE with this many nodes, and none of them is cordoned or tainted. */
  async atRest(nodes: number): Promise<void> {
    await this.until(`${groupName} rests with ${nodes} nodes`, '30s', async () => {
      const status = word(
        await this.aws.ok(`eks describe-nodegroup ${named} --query nodegroup.status`),
      );
      const all = await this.nodes();
      const isAtRest = status === 'ACTIVE' && all.length === nodes;
      return isAtRest && all.every(isWhole) ? true : undefined;
    });
  }

  async nodes(): Promise<readonly NodeTold[]> {
    const selector = `eks.amazonaws.com/nodegroup=${groupName}`;
    return JSON.parse(await this.kubectl.ok(`get nodes -l ${selector} -o json`)).items;
  }

  async subnet(): Promise<string> {
    const query = '--query nodegroup.subnets[0]';
    return word(await this.aws.ok(`eks describe-nodegroup ${named} ${query}`));
  }

  async sizes(): Promise<unknown> {
    const query = '--query nodegroup.scalingConfig';
    return JSON.parse(await this.aws.ok(`eks describe-nodegroup ${named} ${query}`));
  }

  /** Applies the objects and waits until the pods of the Deployment run. */
  async apply(objects: readonly object[]): Promise<void> {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await this.kubectl.okWith(list, 'apply -f -');
    await this.until('its pods run', '10s', async () => {
      const { items } = JSON.parse(await this.kubectl.ok('get deployments -o json')) as {
        items: { spec: { replicas: number }; status: { readyReplicas?: number } }[];
      };
      const run = items.every(({ spec, status }) => spec.replicas === (status.readyReplicas ?? 0));
      return run ? true : undefined;
    });
  }

  /** Starts an update; returns its id. */
  async begin(release: string, more = ''): Promise<string> {
    const update = `eks update-nodegroup-version ${named} --release-version ${release} ${more}`;
    return word(await this.aws.ok(`${update} --query update.id`));
  }

  async told(id: string): Promise<UpdateTold> {
    const describe = `eks describe-update --name ironman-2022 --nodegroup-name ${groupName}`;
    return JSON.parse(await this.aws.ok(`${describe} --update-id ${id}`)).update;
  }

  /** The update's result; world time passes meanwhile. */
  ended(id: string, step = '3m'): Promise<UpdateTold> {
    return this.until(`update ${id} ends`, step, async () => {
      const told = await this.told(id);
      return told.status === 'InProgress' ? undefined : told;
    });
  }

  /** Starts an update that must end Successful. */
  async succeeds(release: string, more = ''): Promise<void> {
    const told = await this.ended(await this.begin(release, more));
    assert.deepEqual([told.status, told.errors], ['Successful', []]);
    const query = '--query nodegroup.releaseVersion';
    assert.equal(word(await this.aws.ok(`eks describe-nodegroup ${named} ${query}`)), release);
  }

  /** Starts an update that must fail with this code and these words in its message. */
  async fails(
    release: string,
    {
      code,
      words,
      meanwhile,
    }: {
      readonly code: string;
      readonly words: readonly RegExp[];
      readonly meanwhile?: (id: string) => Promise<void>;
    },
  ): Promise<UpdateTold> {
    const id = await this.begin(release);
    await meanwhile?.(id);
    const told = await this.ended(id);
    const [first] = told.errors;
    assert.equal(told.status, 'Failed');
    assert.equal(first?.errorCode, code);
    for (const one of words) assert.match(first.errorMessage, one);
    return told;
  }

  /** Activities of the group's Auto Scaling group, oldest first. */
  async activities(): Promise<readonly Activity[]> {
    const query = '--query nodegroup.resources.autoScalingGroups[0].name';
    const name = word(await this.aws.ok(`eks describe-nodegroup ${named} ${query}`));
    const describe = `autoscaling describe-scaling-activities --auto-scaling-group-name ${name}`;
    return (JSON.parse(await this.aws.ok(describe)).Activities as Activity[]).toReversed();
  }
}

export const isWhole = ({ metadata, spec }: NodeTold): boolean =>
  spec.unschedulable !== true && metadata.labels[excluded] === undefined;

const labels = { app: 'web' };

/** On the nodes of the group; `more` is merged into the pods. */
export const webApp = (
  replicas: number,
  more: JsonObject = {},
  namespace = 'default',
): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        nodeSelector: { 'eks.amazonaws.com/nodegroup': groupName },
        containers: [{ name: 'web', image: 'nginx:latest' }],
        ...more,
      },
    },
  },
});

export const budget = (name: string, bound: JsonObject, namespace = 'default'): JsonObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { ...bound, selector: { matchLabels: labels } },
});

/** An action of the node manager on nodes and pods: `label`, `cordon`, `evict`, `undo`. */
export interface Deed {
  readonly what: 'label' | 'cordon' | 'evict' | 'undo';
  readonly node: string;
  readonly at: number;
}

const patchOf = ({ requestObject }: AuditEvent): string => JSON.stringify(requestObject ?? {});

const whatOf = (event: AuditEvent): Deed['what'] | undefined => {
  if (event.objectRef?.subresource === 'eviction') return 'evict';
  if (event.objectRef?.resource !== 'nodes' || event.verb !== 'patch') return undefined;
  const patch = patchOf(event);
  if (patch.includes('"unschedulable":true')) return 'cordon';
  if (patch.includes(`"${excluded}":"true"`)) return 'label';
  return patch.includes('"unschedulable":') || patch.includes(excluded) ? 'undo' : undefined;
};

/** Every pod and its node, from the scheduler's own requests. */
export const bindingsOf = (events: readonly AuditEvent[]): ReadonlyMap<string, string> =>
  new Map(
    events.flatMap((event) => {
      const { target } = event.requestObject ?? {};
      if (event.objectRef?.subresource !== 'binding') return [];
      const name = (target as { readonly name?: string } | undefined)?.name ?? '';
      return [[event.objectRef.name ?? '', name]];
    }),
  );

/** `nodeOf` returns the node of a pod. */
export const deedsOf = (
  events: readonly AuditEvent[],
  nodeOf: (pod: string) => string,
): readonly Deed[] =>
  events
    .filter(({ user, responseStatus }) => {
      const code = responseStatus?.code ?? 0;
      return user.username === 'eks:node-manager' && code >= 200 && code < 300;
    })
    .flatMap((event) => {
      const what = whatOf(event);
      const name = event.objectRef?.name ?? '';
      if (what === undefined) return [];
      const node = what === 'evict' ? nodeOf(name) : name;
      return [{ what, node, at: Date.parse(event.requestReceivedTimestamp) }];
    });
