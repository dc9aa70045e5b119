// An instance that a repair terminates is replaced. A repair succeeds only with a replacement or
// with a new boot id.
import { both, type Context, type Oracle } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { inForce } from '../../state/disruptions.ts';
import { textOf } from '../../state/read.ts';
import { healthyDelayOf } from '../../state/repair-policy.ts';
import type { RepairState } from '../../state/repairs.ts';
import { lagOf } from './start.ts';

/**
 * Whether the controller terminates an instance with decrement although only repairs request it.
 */
const shrinks = ({ book, saw }: Context, call: Call): boolean => {
  const isOurs = book.isOurs(call) && call.error === undefined;
  if (!isOurs || call.operation !== 'TerminateInstanceInAutoScalingGroup') return false;
  const state = book.disruptions.ofInstance(textOf(call.input.InstanceId));
  const causes = state && inForce(state, { at: book.now, lagMicros: book.lagMicros });
  if (causes === undefined || causes.length === 0) return false;
  if (!causes.every(({ kind }) => kind === 'Repair')) return false;
  saw();
  return call.input.ShouldDecrementDesiredCapacity !== false;
};

const rebooted = (context: Context, repair: RepairState): string | undefined => {
  const { book } = context;
  const health = book.health.byInstance.get(repair.instanceId);
  const before = repair.attempts.at(-1)?.bootId;
  if (health === undefined || before === undefined || before === '') return undefined;
  if (health.bootId === before) return 'its reboot is believed without another boot';
  const group = book.repairs.groups.get(repair.group);
  const delayMicros = group === undefined ? 0 : healthyDelayOf(group.spec);
  const isJudged = group !== undefined && book.now - group.specAt > delayMicros + lagOf(context);
  const wellMicros = health.goodSince === undefined ? 0 : book.now - health.goodSince;
  if (!isJudged || wellMicros + lagOf(context) >= delayMicros) return undefined;
  return 'its reboot is believed before the node has been healthy for long enough';
};

const replaced = ({ book }: Context, repair: RepairState): string | undefined => {
  const old = book.cloud.instances.get(repair.instanceId);
  if (old?.state === 'InService') return 'its instance is still in service';
  const { replacement } = repair;
  if (replacement === '') return undefined;
  const isTaken = book.repairs
    .ofGroup(repair.group)
    .some((one) => one !== repair && one.replacement === replacement);
  return isTaken ? `${replacement} replaces another instance already` : undefined;
};

export const repairResults: Oracle = {
  name: 'repairs-replace-what-they-end',
  what:
    'a repair terminates an instance without decrement, and succeeds with a replacement of ' +
    'its own or with a new boot id',
  strategies: both,
  needs: ['object', 'call'],
  watch: (context) => {
    const known = new Set<string>();
    const succeeds = (repair: RepairState): void => {
      known.add(repair.name);
      context.saw();
      const isReboot = repair.attempts.at(-1)?.action === 'Reboot';
      const message = isReboot ? rebooted(context, repair) : replaced(context, repair);
      if (message !== undefined) context.report({ subject: repair.name, message });
    };
    return {
      call: (call) => {
        if (!shrinks(context, call)) return;
        const message = 'terminated with decrement for a repair';
        context.report({ subject: textOf(call.input.InstanceId), message });
      },
      object: ({ resource, object }) => {
        if (resource !== 'noderepairs') return;
        const { name } = object.metadata as { readonly name: string };
        const repair = context.book.repairs.byName.get(name);
        if (repair?.phase === 'Succeeded' && !known.has(name)) succeeds(repair);
      },
    };
  },
};
