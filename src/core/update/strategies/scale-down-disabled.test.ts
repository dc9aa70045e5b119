// The cluster autoscaler's annotation during an update, as tables: who set it, what is written,
// what is restored.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../api/defined.ts';
import type { Node } from '../../../api/kube.ts';
import {
  autoscalerAnnotation,
  disableScaleDownPatch,
  restoreScaleDownPatch,
  scaleDownBeforeAnnotation,
  scaleDownDisabledBy,
  scaleDownOwnerAnnotation,
} from './scale-down-disabled.ts';
import { surgeWithout } from './surplus.ts';

const node = (annotations?: Readonly<Record<string, string>>): Node =>
  ({ metadata: { name: 'n1', ...defined({ annotations }) } }) as Node;

/** The annotations after the merge patch. */
const patched = (
  before: Readonly<Record<string, string>> | undefined,
  patch: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> => {
  const all = Object.entries({ ...before, ...patch });
  return Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== null));
};

describe('the scale-down-disabled annotation of a node', () => {
  it.each([
    ['none', {}, undefined],
    ['a user’s', { [autoscalerAnnotation]: 'true' }, 'theirs'],
    ['a value that the autoscaler ignores', { [autoscalerAnnotation]: 'false' }, undefined],
    ['the update’s', { [autoscalerAnnotation]: 'true', [scaleDownOwnerAnnotation]: 'u' }, 'ours'],
  ])('%s keeps it away or does not', (_, annotations, whose) => {
    expect(scaleDownDisabledBy(node(annotations))).toBe(whose);
    expect(scaleDownDisabledBy(node())).toBeUndefined();
  });

  it.each([
    ['no value', undefined],
    ['false', { [autoscalerAnnotation]: 'false' }],
    ['another annotation', { a: 'b' }],
  ])('is set, and restored to %s', (_, before) => {
    const during = patched(before, disableScaleDownPatch(node(before), 'u'));
    expect(during[autoscalerAnnotation]).toBe('true');
    expect(scaleDownDisabledBy(node(during))).toBe('ours');
    expect(patched(during, restoreScaleDownPatch(node(during)))).toEqual(before ?? {});
  });

  it('that users change while the update runs stays as they set it', () => {
    const during = patched({}, disableScaleDownPatch(node(), 'u'));
    const changed = {
      ...during,
      [autoscalerAnnotation]: 'false',
      [scaleDownBeforeAnnotation]: 'x',
    };
    expect(patched(changed, restoreScaleDownPatch(node(changed)))).toEqual({
      [autoscalerAnnotation]: 'false',
    });
  });
});

describe('what others took of the surplus', () => {
  const surge = { desired: 3, maxSize: 3 };
  it.each([
    ['DEFAULT', 'ScalingUp', 1, 3],
    ['DEFAULT', 'Rolling', 1, 2],
    ['DEFAULT', 'ScalingDown', 5, 0],
    ['SURGE', 'Rolling', 1, 2],
    ['BLUE_GREEN', 'Rolling', 1, 3],
    ['BLUE_GREEN', 'ScalingDown', 1, 2],
  ] as const)(
    'of %s in %s is started again only where it is needed',
    (strategy, phase, n, left) => {
      expect(surgeWithout(surge, n, { strategy, phase })).toEqual({ desired: left, maxSize: left });
    },
  );
});
