// The schemas of what an update reports about its new nodes: zones without capacity, instance types
// skipped or fallen back to, requested nodes that have not joined. Exactly the types of
// nodegroup-update.ts.
import { count, listOf, longText, object, type Schema, text, time } from './crd-schema.ts';

export const newNodesStatus: Readonly<Record<string, Schema>> = {
  shortages: listOf(
    object({ zone: text(63), code: text(63), message: longText, at: time }, [
      'zone',
      'code',
      'message',
      'at',
    ]),
    20,
  ),
  missing: listOf(
    object(
      { zone: text(63), instanceId: text(63), code: text(63), message: longText, since: time },
      ['code', 'message', 'since'],
    ),
    20,
  ),
  skippedTypes: listOf(object({ type: text(63), message: longText }, ['type', 'message']), 20),
  fallbacks: listOf(
    object({ zone: text(63), type: text(63), nodes: count }, ['zone', 'type', 'nodes']),
    100,
  ),
};
