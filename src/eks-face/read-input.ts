// Members common to several EKS requests, converted to the objects' form. The model has checked
// their types; the operations check combinations.
import { defined } from '../api/defined.ts';
import type { Taint } from '../api/kube.ts';
import type { NodeRepairConfig, UpdateConfig } from '../api/nodegroup.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
} from '../aws-wire/index.ts';
import { invalid } from './context.ts';
import { taintEffects } from './render.ts';

const effectOf = (eks: string): Taint['effect'] => {
  const [effect] = Object.entries(taintEffects).find(([, word]) => word === eks) ?? ['NoSchedule'];
  return effect as Taint['effect'];
};

export const readTaints = (input: AwsInput, member: string): readonly Taint[] =>
  structures(input, member).map((taint) => {
    const value = optionalText(taint, 'value');
    return {
      key: optionalText(taint, 'key') ?? '',
      ...defined({ value }),
      effect: effectOf(optionalText(taint, 'effect') ?? ''),
    };
  });

export interface ScalingInput {
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly desired?: number;
}

export const readScaling = (input: AwsInput): ScalingInput | undefined => {
  const config = optionalStructure(input, 'scalingConfig');
  if (config === undefined) return undefined;
  const minSize = optionalNumber(config, 'minSize');
  const maxSize = optionalNumber(config, 'maxSize');
  const desired = optionalNumber(config, 'desiredSize');
  return {
    ...defined({ minSize, maxSize, desired }),
  };
};

/** Throws InvalidParameterException for a strategy that is not EKS'. */
export const readUpdateConfig = (input: AwsInput): UpdateConfig | undefined => {
  const config = optionalStructure(input, 'updateConfig');
  if (config === undefined) return undefined;
  const maxUnavailable = optionalNumber(config, 'maxUnavailable');
  const maxUnavailablePercentage = optionalNumber(config, 'maxUnavailablePercentage');
  const strategy = optionalText(config, 'updateStrategy');
  if (strategy !== undefined && strategy !== 'DEFAULT' && strategy !== 'MINIMAL') {
    throw invalid(`updateStrategy must be one of [DEFAULT, MINIMAL], not ${strategy}`);
  }
  return {
    ...defined({ maxUnavailable, maxUnavailablePercentage, updateStrategy: strategy }),
  };
};

const repairNumbers = [
  'maxUnhealthyNodeThresholdCount',
  'maxUnhealthyNodeThresholdPercentage',
  'maxParallelNodesRepairedCount',
  'maxParallelNodesRepairedPercentage',
] as const;

type Override = NonNullable<NodeRepairConfig['nodeRepairConfigOverrides']>[number];

const overrideMembers = [
  'nodeMonitoringCondition',
  'nodeUnhealthyReason',
  'minRepairWaitTimeMins',
  'repairAction',
] as const;

/** Throws InvalidParameterException when one of the four is missing. */
const readOverride = (input: AwsInput): Override => {
  const missing = overrideMembers.find((name) => !(name in input));
  if (missing !== undefined) throw invalid(`nodeRepairConfigOverrides need ${missing}`);
  return {
    nodeMonitoringCondition: text(input, 'nodeMonitoringCondition'),
    nodeUnhealthyReason: text(input, 'nodeUnhealthyReason'),
    minRepairWaitTimeMins: optionalNumber(input, 'minRepairWaitTimeMins') ?? 1,
    repairAction: text(input, 'repairAction') as Override['repairAction'],
  };
};

export const readRepairConfig = (input: AwsInput): NodeRepairConfig | undefined => {
  const config = optionalStructure(input, 'nodeRepairConfig');
  if (config === undefined) return undefined;
  const enabled = optionalFlag(config, 'enabled');
  const numbers = repairNumbers.flatMap((name) => {
    const value = optionalNumber(config, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const overrides = structures(config, 'nodeRepairConfigOverrides').map(readOverride);
  return {
    ...defined({ enabled }),
    ...Object.fromEntries(numbers),
    ...(overrides.length === 0 ? {} : { nodeRepairConfigOverrides: overrides }),
  };
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
};

/** The request without its token, as text: equal for equal requests. */
export const requestText = ({ clientRequestToken: _, ...rest }: AwsInput): string =>
  JSON.stringify(sorted(rest));
