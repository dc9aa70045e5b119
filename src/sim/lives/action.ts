// The context of an action: its user, its random streams, its AWS calls. Contains no action.

import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import type { JsonObject } from '../../api/json.ts';
import { AwsError } from '../../aws-wire/index.ts';
import type { Random } from '../../ports/index.ts';

export const nodeGroups = { group: 'drover.dev', resource: 'nodegroups' } as const;

export interface ActionContext {
  readonly world: World;
  readonly random: Random;
  /** Chooses the instances of EC2's spot notices. */
  readonly spotRandom: Random;
  /** An operator with kubectl. */
  readonly user: WorldClient;
  readonly onFault: (fault: string, what: 'on' | 'off') => void;
  /** A call that an operator made with the aws CLI; `error`: AWS refused it. */
  readonly onCall: (operation: string, input: JsonObject, error?: string) => void;
  /** Node groups of this life get version updates. */
  readonly updates: boolean;
  /** EC2 has sent a warning: an event that no object shows. */
  readonly onWarning: (kind: string) => void;
}

export const pickOf = <T>(random: Random, items: readonly T[]): T | undefined =>
  items.length === 0 ? undefined : items[random.below(items.length)];

/** A refusal by AWS is a normal answer to a user's call, not a defect. */
export const tryAws = (context: ActionContext, operation: string, input: JsonObject): void => {
  try {
    context.world.aws.call('autoscaling', operation, input, { userAgent: 'aws-cli' });
    context.onCall(operation, input);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    context.onCall(operation, input, error.code);
  }
};
