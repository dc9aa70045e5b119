// What an action has at hand: whom it acts for, how it chooses, how it calls AWS. Knows no action.

import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { AwsError } from '../../aws-wire/index.ts';
import type { Random } from '../../ports/index.ts';

export const nodeGroups = { group: 'drover.dev', resource: 'nodegroups' } as const;

export interface ActionContext {
  readonly world: World;
  readonly random: Random;
  /** Which instances EC2's notices about spot capacity name. */
  readonly spotRandom: Random;
  /** A person with kubectl. */
  readonly user: WorldClient;
  readonly onFault: (fault: string, what: 'on' | 'off') => void;
  /** A call that a person with the aws CLI made; `error` = AWS refused it. */
  readonly onCall: (operation: string, input: JsonObject, error?: string) => void;
  /** Versions are updated in this life. */
  readonly updates: boolean;
  /** EC2 has warned of something: an event, though no object shows it. */
  readonly onWarning: (kind: string) => void;
}

export const pickOf = <T>(random: Random, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

/** AWS refusing a user's call is an answer, not a defect. */
export const tryAws = (context: ActionContext, operation: string, input: JsonObject): void => {
  try {
    context.world.aws.call('autoscaling', operation, input, { userAgent: 'aws-cli' });
    context.onCall(operation, input);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    context.onCall(operation, input, error.code);
  }
};
