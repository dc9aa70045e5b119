// Parses the policy flags of `drover update nodegroup`, for steps that do not succeed: into the
// object's fields, or a refusal that names the flag. Calls nothing.
import type { NodeGroup } from '../../api/nodegroup.ts';
import { isOwnStrategy, type UpdateStrategy } from '../../api/nodegroup-update.ts';
import {
  type DrainTimeoutPolicy,
  drainTimeoutPolicies,
  maxCooldownSeconds,
  maxDrainSeconds,
  maxQuarantinedNodes,
  maxSoakSeconds,
  type ShortagePolicy,
  shortagePolicies,
  type UpdateDrain,
  type UpdatePolicies,
} from '../../api/update-policy.ts';
import { policyComplaint, strategyOf } from '../../core/update/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { formatDuration, parseDuration } from '../duration.ts';

export interface PolicyFlags {
  readonly onTimeout?: string;
  readonly drainTimeout?: string;
  readonly forceAfter?: string;
  readonly cooldown?: string;
  readonly maxQuarantined?: string;
  readonly onShortage?: string;
  readonly shortageWait?: string;
  readonly soak?: string;
  readonly batchSoak?: string;
  /** True if given without a number. */
  readonly autoRollback?: string | boolean;
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

/** The limits of the object's own schema, in seconds. */
const seconds = (flag: string, text: string, most: number, least = 0): number => {
  const found = parseDuration(text);
  if (found === undefined) {
    throw usage(`${flag} takes a duration such as 90s or 5m, not ${text}`);
  }
  const whole = Math.round(found);
  if (whole >= least && whole <= most) return whole;
  throw usage(`${flag} takes ${formatDuration(least)} to ${formatDuration(most)}, not ${text}`);
};

const count = (flag: string, text: string, most: number): number => {
  const found = Number(text);
  if (Number.isInteger(found) && found >= 1 && found <= most) return found;
  throw usage(`${flag} takes a number from 1 to ${most}, not ${text}`);
};

const policyOf = (text: string): DrainTimeoutPolicy => {
  const found = drainTimeoutPolicies.find((one) => one.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw usage(`--on-timeout takes one of ${drainTimeoutPolicies.join(', ')}, not ${text}`);
};

const shortageOf = (text: string): ShortagePolicy => {
  const found = shortagePolicies.find((one) => one.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw usage(`--on-shortage takes one of ${shortagePolicies.join(', ')}, not ${text}`);
};

const capacityOf = ({
  onShortage,
  shortageWait,
}: PolicyFlags): Pick<UpdatePolicies, 'capacity'> => {
  const capacity = {
    ...(onShortage === undefined ? {} : { onShortage: shortageOf(onShortage) }),
    ...(shortageWait === undefined
      ? {}
      : { waitSeconds: seconds('--shortage-wait', shortageWait, maxDrainSeconds) }),
  };
  return Object.keys(capacity).length === 0 ? {} : { capacity };
};

const drainOf = (flags: PolicyFlags): UpdateDrain => {
  const { onTimeout, drainTimeout, forceAfter, cooldown } = flags;
  return {
    ...(drainTimeout === undefined
      ? {}
      : { timeoutSeconds: seconds('--drain-timeout', drainTimeout, maxDrainSeconds, 1) }),
    ...(cooldown === undefined
      ? {}
      : { cooldownSeconds: seconds('--cooldown', cooldown, maxCooldownSeconds) }),
    ...(onTimeout === undefined ? {} : { onTimeout: policyOf(onTimeout) }),
    ...(forceAfter === undefined
      ? {}
      : { forceAfterSeconds: seconds('--force-after', forceAfter, maxDrainSeconds) }),
  };
};

const rollbackOf = (asked: PolicyFlags['autoRollback']): Pick<UpdatePolicies, 'rollback'> => {
  if (asked === undefined || asked === false) return {};
  if (asked === true) return { rollback: { auto: true } };
  return { rollback: { auto: true, failedNewNodes: count('--auto-rollback', asked, 100) } };
};

const blueGreenOf = ({ soak, batchSoak }: PolicyFlags): Pick<UpdatePolicies, 'blueGreen'> => {
  const blueGreen = {
    ...(soak === undefined ? {} : { soakSeconds: seconds('--soak', soak, maxSoakSeconds) }),
    ...(batchSoak === undefined
      ? {}
      : { batchSoakSeconds: seconds('--batch-soak', batchSoak, maxSoakSeconds) }),
  };
  return Object.keys(blueGreen).length === 0 ? {} : { blueGreen };
};

/** Undefined where no policy flag is given. Throws CommandError. */
export const policiesAsked = (flags: PolicyFlags): UpdatePolicies | undefined => {
  const drain = drainOf(flags);
  const { maxQuarantined } = flags;
  if (drain.forceAfterSeconds !== undefined && drain.onTimeout !== 'Force') {
    throw usage('--force-after goes with --on-timeout Force');
  }
  if (maxQuarantined !== undefined && drain.onTimeout !== 'Quarantine') {
    throw usage('--max-quarantined goes with --on-timeout Quarantine');
  }
  const policies: UpdatePolicies = {
    ...(Object.keys(drain).length === 0 ? {} : { drain }),
    ...(maxQuarantined === undefined
      ? {}
      : { maxQuarantined: count('--max-quarantined', maxQuarantined, maxQuarantinedNodes) }),
    ...capacityOf(flags),
    ...rollbackOf(flags.autoRollback),
    ...blueGreenOf(flags),
  };
  return Object.keys(policies).length === 0 ? undefined : policies;
};

/** Throws CommandError where the update's strategy does not have these policies. */
export const needFittingPolicies = (
  group: NodeGroup,
  planned: { readonly strategy?: UpdateStrategy; readonly policies?: UpdatePolicies },
): void => {
  const strategy = planned.strategy ?? strategyOf(group);
  const { name } = group.metadata;
  if (planned.policies !== undefined && !isOwnStrategy(strategy)) {
    throw new CommandError(
      exitCodes.refused,
      `node group ${name} is updated by EKS' strategy ${strategy}, which has no such policies: ` +
        `--strategy SURGE (or spec.updateConfig.updateStrategy of it), or leave them out`,
    );
  }
  const complaint = policyComplaint(group.spec, planned, strategy);
  if (complaint !== undefined) throw new CommandError(exitCodes.refused, complaint);
};
