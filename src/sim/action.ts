// What an action has at hand, and how it chooses. Acts on nothing.
import type { JsonObject } from '../api/json.ts';
import type { Random } from '../ports/index.ts';
import type { WorldClient } from '../world/contracts.ts';
import type { World } from '../world/index.ts';

export const nodeGroups = { group: 'drover.dev', resource: 'nodegroups' } as const;

export interface ActionContext {
  readonly world: World;
  readonly random: Random;
  /** A person with kubectl. */
  readonly user: WorldClient;
  readonly onFault: (fault: string, what: 'on' | 'off') => void;
  /** A call that a person with the aws CLI made; `error` = AWS refused it. */
  readonly onCall: (operation: string, input: JsonObject, error?: string) => void;
  /** EC2 has warned of something: an event, though no object shows it. */
  readonly onWarning: (kind: string) => void;
}

export const pickOf = <T>(random: Random, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];
