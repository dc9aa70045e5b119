// The node that `drover repair` refers to. Its arguments must name exactly one, because a repair
// may terminate an instance.
import type { Node } from '../../api/kube.ts';
import type { KubeApi } from '../../ports/index.ts';
import { CommandError, exitCodes } from '../context.ts';
import { resolveNodes } from '../nodes.ts';
import { targetsOf } from '../target.ts';

const rule = 'drover repair takes exactly one node: NAME, node/NAME or node NAME';

/** Throws CommandError; without any read if the arguments name no single node. */
export const repairedNode = async (kube: KubeApi, words: readonly string[]): Promise<Node> => {
  const targets = targetsOf(words);
  const [target] = targets;
  if (target === undefined || targets.length > 1) {
    throw new CommandError(exitCodes.usage, `${rule}; it got ${targets.length} names`);
  }
  const { kind = 'node', name } = target;
  if (kind !== 'node')
    throw new CommandError(exitCodes.usage, `${rule}; ${kind} ${name} is not a node`);
  const [node, ...others] = await resolveNodes(kube, {
    names: [`node/${name}`],
    selector: undefined,
  });
  if (node !== undefined && others.length === 0) return node;
  throw new CommandError(exitCodes.usage, rule);
};
