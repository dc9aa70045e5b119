// Choice of an instance: if the controller lowers a size below the number of instances, Auto
// Scaling chooses the instance. The node of that instance was not drained. `drover.dev/force`
// permits this.
import type { Context, Exemption, Watcher } from '../../oracle.ts';
import {
  isDecrement,
  KnownBounds,
  LastSet,
  leaving,
  type ReportedGroup,
  reportedGroup,
  type SizeCall,
  sizeCallOf,
} from '../../state/group-sizes.ts';
import { textOf } from '../../state/read.ts';

interface Choice {
  readonly desired: number;
  /** Instances of the group that the controller can know. */
  readonly members: number;
  /** Instances that are being terminated. */
  readonly going: number;
  readonly lastSet: number | undefined;
  readonly isForcedSurplus: boolean;
}

export const choiceExemptions: readonly Exemption<Choice>[] = [
  {
    name: 'others-set-less',
    race: 'others set a smaller size that Auto Scaling still carries out, and the call raises it',
    applies: ({ desired, lastSet }) => lastSet !== undefined && desired >= lastSet,
  },
  {
    name: 'instance-just-joined',
    race: 'an instance joined so lately that the controller need not have seen it',
    applies: ({ desired, members }) => members <= desired,
  },
  {
    name: 'surplus-of-forced-update',
    race:
      'an update of EKS’ strategies with force lets Auto Scaling take its surplus, one at a ' +
      'time',
    applies: ({ desired, members, going, isForcedSurplus }) =>
      isForcedSurplus && going === 0 && members === desired + 1,
  },
];

/**
 * EKS' strategies with force remove their surplus like this; MINIMAL may find the surplus of an
 * earlier update.
 */
const isForcedSurplus = ({ book }: Context, nodeGroup: string): boolean => {
  const update = book.updates.openOf(nodeGroup);
  return (
    update?.isForced === true &&
    update.phase === 'ScalingDown' &&
    !/^(?:SURGE|BLUE_GREEN)$/.test(update.strategy)
  );
};

class Choices {
  readonly #context: Context;
  readonly bounds = new KnownBounds();
  readonly lastSet = new LastSet();
  readonly #groups = new Map<string, ReportedGroup>();
  readonly #joinedAt = new Map<string, number>();

  constructor(context: Context) {
    this.#context = context;
  }

  reported(group: ReportedGroup): void {
    this.bounds.reported(group);
    this.#groups.set(group.autoScalingGroup, group);
  }

  joined(instanceId: string, at: number): void {
    if (!this.#joinedAt.has(instanceId)) this.#joinedAt.set(instanceId, at);
  }

  check({ group, desired = 0 }: SizeCall): void {
    const { book, saw, report, isExempt } = this.#context;
    const { isForced, nodeGroup } = this.#groups.get(group) ?? {};
    if (isForced !== false || nodeGroup === undefined) return;
    let [all, members, going] = [0, 0, 0];
    for (const one of book.cloud.instances.values()) {
      if (one.group !== group || one.state === 'Terminated') continue;
      if (leaving.test(one.state)) going++;
      else {
        all++;
        if (book.now - (this.#joinedAt.get(one.instanceId) ?? 0) > book.lagMicros) members++;
      }
    }
    saw();
    if (all <= desired) return;
    const isSurplus = isForcedSurplus(this.#context, nodeGroup);
    const lastSet = this.lastSet.get(group);
    const one = { desired, members, going, lastSet, isForcedSurplus: isSurplus };
    if (isExempt(choiceExemptions, one)) return;
    const message = `made smaller to ${desired} while ${members} instances are in it`;
    report({
      subject: group,
      message: isSurplus ? `${message} and ${going} on their way out` : message,
    });
  }
}

export const watchChoice = (context: Context): Watcher => {
  const { book } = context;
  const choices = new Choices(context);
  return {
    object: (entry) => {
      const group = book.isNewVersion ? reportedGroup(entry) : undefined;
      if (group !== undefined) choices.reported(group);
    },
    lifecycle: ({ instanceId, at }) => choices.joined(instanceId, at),
    call: (entry) => {
      const { group } = book.cloud.instances.get(textOf(entry.input.InstanceId)) ?? {};
      if (group !== undefined && isDecrement(entry)) choices.lastSet.decremented(group);
      const call = sizeCallOf(entry);
      const now = call && choices.bounds.called(call);
      if (call === undefined || now === undefined) return;
      if (call.desired !== undefined && book.isOurs(entry)) choices.check(call);
      choices.lastSet.called(call, now);
    },
  };
};
