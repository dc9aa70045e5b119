// Converts node repair of a ClusterConfig to EKS' API. eksctl's documentation uses values that the
// API does not have; each is converted, with a note. Source: eksctl,
// userdocs/src/usage/nodegroup-node-repair-config.md; EKS API, NodeRepairConfigOverrides.
import { isObject, type Json, type JsonObject } from '../../api/json.ts';
import { eksctlConditions } from '../../api/node-repair.ts';

/** eksctl's value and the API's. */
const actions: Readonly<Record<string, string>> = { Terminate: 'Replace', Restart: 'Reboot' };
const wordsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  repairAction: actions,
  nodeMonitoringCondition: eksctlConditions,
};

export const repairActionWords = ['Replace', 'Reboot', 'NoAction', ...Object.keys(actions)];

const overrides = 'nodeRepairConfigOverrides';

export interface RepairWords {
  readonly config: JsonObject;
  /** One sentence for each value that the API does not have. */
  readonly notes: readonly string[];
}

const withApiWords = (override: Json, notes: string[]): Json => {
  if (!isObject(override)) return override;
  const entries = Object.entries(override).map(([field, value]) => {
    const meant = typeof value === 'string' ? wordsOf[field]?.[value] : undefined;
    if (meant === undefined) return [field, value] as const;
    notes.push(`${field} ${String(value)} is no value of EKS' API; ${meant} is used`);
    return [field, meant] as const;
  });
  return Object.fromEntries(entries);
};

export const apiRepairWords = (config: JsonObject): RepairWords => {
  const listed = config[overrides];
  if (!Array.isArray(listed)) return { config, notes: [] };
  const notes: string[] = [];
  const read = listed.map((one: Json) => withApiWords(one, notes));
  return { config: { ...config, [overrides]: read }, notes: [...new Set(notes)] };
};
