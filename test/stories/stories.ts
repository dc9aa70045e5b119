// The ten stories whose journals are kept as text: the actions of operators and of the cloud in
// each. The controllers are the real ones; the world has seed 0.
import { defined } from '../../src/api/defined.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { GroupLife } from '../support/nodegroup-world.ts';
import { instanceOf, newest, older, untilAtRest, untilOver } from '../support/update-world.ts';
import { Teller } from './teller.ts';

interface Given {
  readonly twoLeaders?: true;
  readonly strategy?: 'SURGE' | 'DEFAULT' | 'MINIMAL' | 'BLUE_GREEN';
  readonly updateConfig?: JsonObject;
  readonly pods?: number;
  /** Maximum number of unavailable pods that the budget allows. */
  readonly allowed?: number;
  readonly capacityType?: 'SPOT';
  /** This story prints lifecycle hooks. */
  readonly hasHooks?: true;
}

interface Told {
  readonly title: string;
  readonly life: GroupLife;
  readonly teller: Teller;
}

const minutes = 60;

/** Creates node group ng with two nodes, and an application under a budget. */
const begin = async (title: string, given: Given = {}): Promise<Told> => {
  const {
    strategy = 'SURGE',
    pods = 4,
    allowed = 1,
    updateConfig = {},
    twoLeaders = false,
  } = given;
  const teller = new Teller({ hasHooks: given.hasHooks === true });
  const life = await GroupLife.begin({ seed: 0, journal: teller, twoLeaders });
  await life.create({
    releaseVersion: older,
    subnets: (life.request().subnets as readonly string[]).slice(0, 1),
    ...defined({ capacityType: given.capacityType }),
  });
  await life.until('the group is ACTIVE', () => life.isActive(2), 1800);
  life.patch({
    spec: { updateConfig: { updateStrategy: strategy, maxUnavailable: 1, ...updateConfig } },
  });
  life.deploy(pods, allowed);
  await life.until('its pods run', () => life.runningPods('web') === pods);
  await life.driver.advance(60);
  teller.begin(life);
  return { title, life, teller };
};

const askFor = ({ life, teller }: Told, release = newest): void => {
  teller.says('operator', `sets the release of node group ng to ${release}`);
  life.patch({ spec: { releaseVersion: release } });
};

const end = async ({ title, life, teller }: Told): Promise<string> => {
  await life.end();
  return teller.text(title);
};

const update = (title: string, given: Given) => async (): Promise<string> => {
  const told = await begin(title, given);
  askFor(told);
  await untilOver(told.life);
  await untilAtRest(told.life, 2);
  return end(told);
};

const blockedBudget = async (): Promise<string> => {
  const told = await begin(
    'An update fails where a budget never allows an eviction, and restores the group',
    {
      pods: 2,
      allowed: 0,
    },
  );
  askFor(told);
  await untilOver(told.life);
  await untilAtRest(told.life, 2);
  return end(told);
};

const rollback = async (): Promise<string> => {
  const told = await begin('An update whose new nodes do not join rolls back by itself', {
    updateConfig: { rollback: { auto: true, failedNewNodes: 1 } },
  });
  const { life, teller } = told;
  askFor(told);
  teller.says('EC2', 'starts instances of the new release that never join the cluster');
  life.world.faults.inject('never-join', {});
  const isBack = (): boolean => life.updates().some(({ spec }) => spec.action === 'Rollback');
  await life.until('it rolls back', isBack, 7200);
  life.world.faults.clear();
  await untilOver(life);
  await untilAtRest(life, 2);
  return end(told);
};

const spotNotice = async (): Promise<string> => {
  const told = await begin('EC2 takes a spot instance while an update replaces another node', {
    capacityType: 'SPOT',
  });
  const { life, teller } = told;
  const [, node] = life.nodes();
  askFor(told);
  const isRolling = (): boolean => life.updates().some(({ status }) => status?.phase === 'Rolling');
  await life.until('the update rolls', isRolling);
  await life.driver.advance(20);
  if (node === undefined) throw new Error('there is no second node');
  teller.says('EC2', 'announces that it takes the spot instance of n2 in two minutes');
  life.world.aws.interrupt(instanceOf(node));
  await untilOver(life);
  await untilAtRest(life, 2);
  return end(told);
};

const deadLeader = async (): Promise<string> => {
  const told = await begin('The leader dies while it drains a node, and its successor goes on', {
    twoLeaders: true,
  });
  const { life, teller } = told;
  askFor(told);
  const isDraining = (): boolean =>
    [...life.world.kube.readAll(resourceTypes.nodedisruptions)].some(({ status }) =>
      JSON.stringify(status ?? {}).includes('"Draining"'),
    );
  await life.until('a node is drained', isDraining);
  teller.says('operator', 'kills the process that leads; the other one waits for its lease to end');
  life.killLeader();
  await untilOver(life);
  await untilAtRest(life, 2);
  return end(told);
};

const launchHook = async (): Promise<string> => {
  const told = await begin('A new instance waits in its launch hook until its node is Ready', {
    hasHooks: true,
  });
  told.teller.says('operator', 'sets the desired size of node group ng to 3');
  told.life.patch({ spec: { scaling: { desired: 3 } } });
  await untilAtRest(told.life, 3);
  return end(told);
};

const deleteUnderBudget = async (): Promise<string> => {
  const told = await begin('A delete waits for a budget that allows no disruption of its 2 pods', {
    pods: 2,
    allowed: 0,
    hasHooks: true,
  });
  const { life, teller } = told;
  teller.says('operator', 'deletes node group ng');
  await life.delete();
  await life.driver.advance(5 * minutes);
  teller.says('operator', 'deletes the budget');
  life.unmake({ group: 'policy', resource: 'poddisruptionbudgets' }, 'default', 'web');
  await life.until('the group is gone', () => life.group() === undefined, 3 * 3600);
  return end(told);
};

/** By the name of the golden file. */
export const stories: Readonly<Record<string, () => Promise<string>>> = {
  'update-surge': update(
    'SURGE: one new node starts first, and old nodes are replaced one by one',
    {
      strategy: 'SURGE',
    },
  ),
  'update-default': update(
    'DEFAULT, as EKS does it: new nodes first, then one old node at a time, then the surplus',
    {
      strategy: 'DEFAULT',
      pods: 2,
    },
  ),
  'update-minimal': update(
    'MINIMAL: no more instances than before; an old node goes before its successor starts',
    {
      strategy: 'MINIMAL',
      allowed: 2,
    },
  ),
  'update-blue-green': update(
    'BLUE_GREEN: a whole new side starts, the old one is drained and kept, then terminated',
    {
      strategy: 'BLUE_GREEN',
    },
  ),
  'blocked-budget': blockedBudget,
  rollback,
  'spot-notice-during-update': spotNotice,
  'update-under-a-dead-leader': deadLeader,
  'launch-hook': launchHook,
  'delete-under-a-budget': deleteUnderBudget,
};
