// The controller's rights against its requests, in the cluster and in AWS: lives in virtual time
// that reach its rare calls, with each request recorded. A right that no life needs fails the test,
// as does a request without a right.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  controllerNamespaceRules,
  controllerRules,
  hookRules,
  leaderLease,
} from '../../src/api/controller-rights.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { type ResourceType, resourceTypes } from '../../src/api/kube.ts';
import { controllerActions } from '../../src/core/setup/index.ts';
import { nodeManagerUser } from '../../world/index.ts';
import { GivenGroup } from '../support/given-group.ts';
import { GroupLife, type GroupLifeOptions } from '../support/nodegroup-world.ts';
import { beginWithHooks, hook, prepare } from '../support/update-hooks.ts';
import { askFor, newest, untilOver } from '../support/update-world.ts';

interface Request {
  readonly verb: string;
  readonly group: string;
  /** Includes the subresource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

const rulesOf = (rules: readonly JsonObject[]): readonly Rule[] => rules as unknown as Rule[];
const clusterWide = rulesOf(controllerRules);
const inLeaseNamespace = rulesOf(controllerNamespaceRules);
const inHookNamespace = rulesOf(hookRules);

const covers = (rule: Rule, { verb, group, resource, name }: Request): boolean =>
  rule.apiGroups.includes(group) &&
  (rule.resources.includes(resource) || rule.resources.includes('*')) &&
  rule.verbs.includes(verb) &&
  (rule.resourceNames === undefined || rule.resourceNames.includes(name));

const mayAsk = (request: Request): boolean =>
  [
    ...clusterWide,
    ...(request.namespace === leaderLease.namespace ? inLeaseNamespace : []),
    ...(request.namespace === 'default' ? inHookNamespace : []),
  ].some((rule) => covers(rule, request));

/** A list or watch that selects one object by name is a request for that object. */
const selectedName = (uri: string): string =>
  /fieldSelector=metadata\.name(?:=|%3D)([^&]+)/.exec(uri)?.[1] ?? '';

const requests = new Map<string, Request>();
const take = (request: Request): void => {
  requests.set(JSON.stringify(request), request);
};

const audit = (event: JsonObject): void => {
  if (objectOr(event.user).username !== nodeManagerUser.username) return;
  const of = objectOr(event.objectRef);
  const text = (key: string): string => String(of[key] ?? '');
  const subresource = text('subresource');
  const plural = text('resource');
  take({
    verb: String(event.verb),
    group: text('apiGroup'),
    resource: subresource === '' ? plural : `${plural}/${subresource}`,
    namespace: text('namespace'),
    name: text('name') === '' ? selectedName(String(event.requestURI)) : text('name'),
  });
};

/**
 * Records the node manager's watches, which the audit log does not contain: the network layer
 * reports them.
 */
const watched = (resource: string): void => {
  const type = Object.values<ResourceType>(resourceTypes).find((one) => one.resource === resource);
  const lists = [...requests.values()].filter(
    (one) => one.verb === 'list' && one.resource === resource && one.group === type?.group,
  );
  for (const list of lists) take({ ...list, verb: 'watch' });
};

const begin = async (options: GroupLifeOptions = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin({ ...options, audit });
  seeWatches(life);
  return life;
};

const actions = new Set<string>();
/** The trace does not record ReceiveMessage, which waits inside the world. */
const received = 'sqs:ReceiveMessage';

const end = async (life: GroupLife): Promise<void> => {
  for (const { service, operation } of life.calls) {
    actions.add(`${service === 'elbv2' ? 'elasticloadbalancing' : service}:${operation}`);
  }
  await life.end();
};

const seeWatches = (life: GroupLife): void => {
  life.faults = {
    watchFrame: (resource) => {
      watched(resource);
      return { lagMicros: 0, breaks: false };
    },
  };
};

const { customresourcedefinitions, configmaps, leases, poddisruptionbudgets } = resourceTypes;

/**
 * Before the next start, deletes one CRD, the Lease and aws-auth, and replaces another CRD with an
 * older release.
 */
const spoil = (life: GroupLife): void => {
  const { user, world } = life;
  const named = (plural: string) => ({ name: `${plural}.drover.dev` });
  user.delete(customresourcedefinitions, named('nodegroupupdatesequences'));
  const known = objectOr(world.kube.read(customresourcedefinitions, named('nodedisruptions')));
  const [version] = objectOr(known.spec).versions as JsonObject[];
  const versions = [{ ...version, additionalPrinterColumns: [] }];
  const body = { spec: { versions } };
  user.patch(customresourcedefinitions, named('nodedisruptions'), { type: 'merge', body });
  user.delete(configmaps, { namespace: 'kube-system', name: 'aws-auth' });
  user.delete(leases, leaderLease);
};

/** From missing CRDs to a group that is created, drained within a budget, forced and deleted. */
const wholeLife = async (): Promise<void> => {
  const life = await begin({ twoLeaders: true, compat: 'native', hasEvents: true });
  spoil(life);
  await life.driver.advance(5);
  life.killFor(1);
  await life.driver.advance(60);
  await life.create({ nodeRole: life.createRole('fresh') });
  await life.until('it is whole', () => life.isActive(2), 600);
  life.deploy(4, 1);
  const services = { group: '', resource: 'services' };
  life.user.create(services, 'default', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await life.until('pods run', () => life.runningPods('web') === 4, 120);
  life.patch({
    spec: {
      drain: { timeoutSeconds: 60, onDeadline: 'force' },
      labels: { team: 'blue' },
      scaling: { desired: 1 },
    },
  });
  await life.until('it is smaller', () => life.isActive(1), 900);
  await life.delete();
  await life.until('it is gone', () => life.group() === undefined, 900);
  await end(life);
};

/** Update hooks with Jobs, and a probe of a Deployment. */
const update = async (): Promise<void> => {
  const probes = [
    {
      name: 'web',
      condition: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'default',
        name: 'web',
        type: 'Available',
      },
    },
  ];
  const hooks = { preDrain: hook('backup') };
  const life = await beginWithHooks(hooks, { audit }, { probes, canary: { perZone: 1 } });
  seeWatches(life);
  prepare(life, 'backup', { seconds: 5 });
  askFor(life, newest);
  await untilOver(life);
  life.unmake(poddisruptionbudgets, 'default', 'web');
  await end(life);
};

/** An adopted group, one of Windows nodes, and instances that never join. */
const oddGroups = async (): Promise<void> => {
  const given = await GivenGroup.begin({ audit });
  const { life } = given;
  given.adopt();
  await life.until('it is adopted', () => life.isActive(2), 120);
  given.deploy(2, 0);
  await life.until('pods run', () => life.runningPods('web') === 2, 120);
  const [instance] = given.instanceIds();
  life.fromOutside('TerminateInstanceInAutoScalingGroup', {
    InstanceId: String(instance),
    ShouldDecrementDesiredCapacity: true,
  });
  await life.create({ nodegroupName: 'win', amiType: 'WINDOWS_CORE_2022_x86_64' });
  life.world.faults.inject('never-join', {});
  await life.create({ nodegroupName: 'late' });
  await life.driver.advance(1_200);
  life.user.delete(resourceTypes.nodegroups, { name: 'ng' });
  await life.until('it is released', () => life.group() === undefined, 1_200);
  await end(life);
};

/** A group with remote access and a warm pool, in a cluster with access entries. */
const oddClouds = async (): Promise<void> => {
  const life = await begin();
  const call = (service: string, operation: string, input: JsonObject) =>
    life.world.aws.call(service, operation, input);
  const accessConfig = { authenticationMode: 'API_AND_CONFIG_MAP' };
  call('eks', 'UpdateClusterConfig', { name: 'c', accessConfig });
  await life.driver.advance(60);
  call('ec2', 'CreateKeyPair', { KeyName: 'mine' });
  const remoteAccess = { ec2SshKey: 'mine' };
  await life.create({ nodeRole: life.createRole('fresh'), remoteAccess });
  await life.until('it is whole', () => life.isActive(2), 600);
  const [group] = life.autoScalingGroups();
  const AutoScalingGroupName = String(group?.AutoScalingGroupName);
  call('autoscaling', 'PutWarmPool', { AutoScalingGroupName, MinSize: 0 });
  await life.delete();
  await life.until('it is gone', () => life.group() === undefined, 1_800);
  await end(life);
};

/** Rights that no life here needs, with the code that does. */
const usedElsewhere = {
  'watch customresourcedefinitions':
    'an API server takes a moment to serve a new definition (test/e2e/definitions.e2e.ts)',
  'list deployments': 'a process without --surge ends open swaps (drain-surge.test.ts)',
} as const;

describe('rights of the controller', () => {
  beforeAll(async () => {
    await wholeLife();
    await update();
    await oddGroups();
    await oddClouds();
  }, 240_000);

  it('cover each of its requests', () => {
    expect([...requests.values()].filter((one) => !mayAsk(one))).toEqual([]);
  });

  it('are each needed', () => {
    const asked = [...requests.values()];
    const unused = [...clusterWide, ...inLeaseNamespace, ...inHookNamespace].flatMap((rule) =>
      rule.resources.flatMap((resource) =>
        rule.verbs
          .filter((verb) => {
            const one = { ...rule, resources: [resource], verbs: [verb] };
            return !asked.some((request) => covers(one, request));
          })
          .map((verb) => `${verb} ${resource}`),
      ),
    );
    expect(unused).toEqual(Object.keys(usedElsewhere));
  });

  it('are told as missing, and as not needed, where they are', () => {
    const [first] = requests.values();
    const odd = { verb: 'delete', group: '', resource: 'secrets', namespace: '', name: '' };
    expect([mayAsk({ ...odd }), first && mayAsk(first)]).toEqual([false, true]);
    const spare: Rule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
    expect([...requests.values()].some((request) => covers(spare, request))).toBe(false);
  });
});

/** Calls that no life here makes, with the test that does. */
const calledElsewhere = {
  'autoscaling:DetachInstances': 'test/sequences/repair-quarantine.test.ts',
  'ec2:RebootInstances': 'test/sequences/repair.test.ts',
  'ec2:TerminateInstances': 'test/sequences/repair-quarantine.test.ts',
  'sqs:ChangeMessageVisibility': 'src/controllers/intake/controller.test.ts',
} as const;

describe('the IAM policy of the controller', () => {
  it('allows each of its calls, and no other', () => {
    const allowed = controllerActions(true);
    const called = [...actions, received];
    expect(called.filter((action) => !allowed.includes(action))).toEqual([]);
    const unused = allowed.filter((action) => !called.includes(action));
    expect(unused).toEqual(Object.keys(calledElsewhere));
  });
});
