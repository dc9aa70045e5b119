// Adds a stack that exists when a world starts: its template as the client would have sent it, and
// its existing resources. Creates none of them.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Tags } from '../filters.ts';
import type { Scope } from '../scope.ts';
import { newStack, plannedOf, type RequestParts } from './requests.ts';
import type { StackResource, StackRow } from './rows.ts';
import { StackValues } from './stack-values.ts';
import { readTemplate } from './template.ts';

export interface StandingStack {
  readonly name: string;
  readonly template: JsonObject;
  readonly tags: Tags;
  /** By logical id: each resource of the template. */
  readonly resources: Readonly<Record<string, Standing>>;
}

export interface Standing {
  readonly physicalId: string;
  /** Values for Fn::GetAtt. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export const addStanding = (
  parts: Omit<RequestParts, 'images'> & { readonly scope: Scope },
  { name, template, tags, resources }: StandingStack,
): StackRow => {
  const { stacks, stackEngine, scope } = parts;
  const body = JSON.stringify(template);
  const request = {
    template: readTemplate(body),
    body,
    parameters: {},
    tags,
    capabilities: ['CAPABILITY_IAM'],
  };
  const bare = newStack(stacks, name, request, {
    status: 'CREATE_COMPLETE',
    onFailure: 'ROLLBACK',
    isProtected: false,
  });
  const { reason: _, ...row } = { ...bare, ...plannedOf(parts, bare) };
  const standing = row.resources.map((one): StackResource => {
    const known = resources[one.logicalId];
    if (known === undefined) throw new Error(`${name}: nothing stands for ${one.logicalId}`);
    const isRemote = stackEngine.types[one.type]?.kind === 'remote';
    const taken = isRemote ? { stackTags: tags } : {};
    return { ...one, attributes: {}, ...known, ...taken, status: 'CREATE_COMPLETE' };
  });
  const values = new StackValues({ ...parts, scope });
  const laid: StackRow = { ...row, resources: standing };
  const stack: StackRow = {
    ...laid,
    resources: standing.map((one) => ({ ...one, properties: values.properties(laid, one) })),
    outputs: values.outputs(laid),
  };
  stacks.put(stack);
  for (const resource of stack.resources) stacks.tellResource(stack, resource);
  stacks.tellStack(stack);
  return stack;
};
