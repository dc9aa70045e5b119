// Public entry of user data: parses with places, prints and merges the text of each family.
import type { Position } from '../position.ts';
import { within } from '../position.ts';
import { find, type Located } from './located.ts';
import type { NodeConfigPart } from './node-config.ts';
import {
  disabledMounts,
  type FieldGroup,
  nodeFeatureGates,
  specFields,
  storageStrategies,
} from './node-config-fields.ts';

export { specInForce } from './bootstrap.ts';
export {
  compress,
  decode,
  encodeBase64,
  readLimitBytes,
  sizeLimitBytes,
  sizeOf,
} from './decode.ts';
export { otherCloudInitTypes } from './document.ts';
export { type EmbeddedText, embeddedTexts } from './embedded.ts';
export { type Family, families, familyCalled, guessFamily } from './families.ts';
export {
  find,
  kindOf,
  type Located,
  leavesOf,
  memberOf,
  textOf,
  textsOf,
  toJson,
} from './located.ts';
export { isEmpty as isEmptyValue } from './node-config.ts';
export {
  type ClusterAccess,
  type Injection,
  type KubeadmAccess,
  type Written,
  writeUserData,
} from './write.ts';
export { parseYaml } from './yaml.ts';

export const nodeConfigFacts = {
  featureGates: nodeFeatureGates,
  strategies: storageStrategies,
  mounts: disabledMounts,
} as const;

/** Whether an empty later value of the field keeps the earlier one. */
export const keepsEarlier = (path: readonly string[]): boolean => {
  let group: FieldGroup | undefined = specFields;
  for (const key of path) {
    const field: FieldGroup[string] | undefined =
      group !== undefined && Object.hasOwn(group, key) ? group[key] : undefined;
    if (field === undefined) return false;
    if (typeof field === 'string') {
      return field === 'text' || field === 'bytes' || field === 'truth' || field === 'list';
    }
    group = field;
  }
  return false;
};

export const clusterOfPart = ({ value }: NodeConfigPart): Located | undefined =>
  find(value, 'spec', 'cluster');

/** Position of line `index` (from 0) of a text that starts at `outer`, `offset` characters in. */
export const lineAt = (outer: Position, index: number, offset: number): Position =>
  within(outer, { line: index + 1, column: offset + 1 });
