// Which hooks of others hold an instance after its drain. Pure.
import type { LifecycleHook, ScalingInstance } from '../../api/cloud.ts';
import type { NodeDisruption } from '../../api/disruption.ts';

/** The group whose hooks Drover completed; undefined where the drain is not over or had none. */
export const drainedGroupOf = ({ status }: NodeDisruption): string | undefined => {
  const { phase, hooks = [] } = status ?? {};
  const isOpen = hooks.some(({ state }) => state === 'Open');
  return phase === 'Ended' && !isOpen ? hooks[0]?.autoScalingGroupName : undefined;
};

/**
 * Undefined where no hook of others holds it. Auto Scaling reports that an instance waits in a
 * hook, not in which.
 */
export const foreignHooksText = (
  { status }: NodeDisruption,
  instance: Pick<ScalingInstance, 'lifecycleState'> | undefined,
  hooks: readonly LifecycleHook[],
): string | undefined => {
  if (instance?.lifecycleState !== 'Terminating:Wait') return undefined;
  const ours = new Set((status?.hooks ?? []).map(({ name }) => name));
  const others = hooks.filter(
    ({ name, transition }) =>
      transition === 'autoscaling:EC2_INSTANCE_TERMINATING' && !ours.has(name),
  );
  if (others.length === 0) return undefined;
  const named = others.map(
    ({ name, heartbeatTimeoutSeconds: seconds, defaultResult }) =>
      `${name} (${defaultResult} after ${seconds} s without a heartbeat)`,
  );
  const which = named.length === 1 ? `hook ${named[0]}` : `one of the hooks ${named.join(', ')}`;
  return (
    `the drain is over; Auto Scaling holds the instance in ${which}: its owner completes it, ` +
    'Drover does not'
  );
};
