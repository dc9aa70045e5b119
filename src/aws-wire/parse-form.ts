// Parses query and ec2 requests: `Tags.member.1.Key=...` form fields to a plain input object.
// validate.ts checks constraints.
import { AwsError } from './aws-error.ts';
import {
  elementOf,
  entryOf,
  formNameOf,
  isFlattened,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';
import { abbreviate, scalarFromText } from './scalar.ts';

/** Refuses early forms that are deeper or longer than any client sends. */
const DEPTH_MAX = 32;
const FIELDS_MAX = 20_000;

interface Node {
  value: string | undefined;
  readonly children: Map<string, Node>;
}

export interface FormContext {
  readonly model: ServiceModel;
  readonly malformed: (message: string) => AwsError;
}

export function readForm(body: string, malformed: (message: string) => AwsError): URLSearchParams {
  const form = new URLSearchParams(body);
  if (form.size > FIELDS_MAX)
    throw malformed(`The request has more than ${FIELDS_MAX} parameters.`);
  return form;
}

/** The input of an operation from all form fields but Action, Version and those of a signature. */
export function parseForm(
  context: FormContext,
  inputShape: string | undefined,
  form: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const root = treeOf(context, form);
  const isEc2 = context.model.metadata.protocol === 'ec2';
  if (inputShape === undefined) return {};
  const shape = shapeOf(context.model, inputShape);
  if (isEc2) refuseUnknown(context, shape, root);
  return parseStructure(context, shape, root, '');
}

function treeOf(context: FormContext, form: URLSearchParams): Node {
  const root: Node = { value: undefined, children: new Map() };
  for (const [name, value] of form) {
    if (name === 'Action' || name === 'Version' || name.startsWith('X-Amz-')) continue;
    const parts = name.split('.');
    if (parts.length > DEPTH_MAX) throw context.malformed(`Parameter ${name} is nested too deep.`);
    let node = root;
    for (const part of parts) {
      const child: Node = node.children.get(part) ?? { value: undefined, children: new Map() };
      node.children.set(part, child);
      node = child;
    }
    node.value = value;
  }
  return root;
}

/** EC2, unlike the query services, refuses unknown parameters. */
function refuseUnknown(context: FormContext, shape: Shape, root: Node): void {
  const known = new Set(
    Object.entries(shape.members ?? {}).map(([name, ref]) => formNameOf(context.model, ref, name)),
  );
  for (const name of root.children.keys()) {
    if (known.has(name)) continue;
    throw new AwsError({
      code: 'UnknownParameter',
      message: `The parameter ${abbreviate(name)} is not recognized`,
    });
  }
}

function parseNode(context: FormContext, ref: ShapeRef, node: Node, path: string): unknown {
  const shape = shapeOf(context.model, ref.shape);
  switch (shape.type) {
    case 'structure':
      return parseStructure(context, shape, node, path);
    case 'list':
      return parseList(context, ref, shape, node, path);
    case 'map':
      return parseMap(context, ref, shape, node, path);
    default: {
      if (node.value === undefined) {
        throw context.malformed(`Unexpected nested parameter at ${path}`);
      }
      const parsed = scalarFromText(shape.type, node.value);
      if (!parsed.ok) throw context.malformed(`Invalid value at ${path}: ${parsed.reason}`);
      return parsed.value;
    }
  }
}

function parseStructure(
  context: FormContext,
  shape: Shape,
  node: Node,
  path: string,
): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    const field = formNameOf(context.model, ref, name);
    const child = node.children.get(flattenedField(context, ref, field));
    if (child === undefined) continue;
    input[name] = parseNode(context, ref, child, path === '' ? field : `${path}.${field}`);
  }
  return input;
}

/** A flattened query list uses its element's name, if that has one. */
function flattenedField(context: FormContext, ref: ShapeRef, field: string): string {
  if (context.model.metadata.protocol === 'ec2') return field;
  const shape = shapeOf(context.model, ref.shape);
  if (shape.type !== 'list' || !isFlattened(ref, shape)) return field;
  return elementOf(shape).locationName ?? field;
}

function parseList(
  context: FormContext,
  ref: ShapeRef,
  shape: Shape,
  node: Node,
  path: string,
): readonly unknown[] {
  const element = elementOf(shape);
  const isBare = context.model.metadata.protocol === 'ec2' || isFlattened(ref, shape);
  const holder = isBare ? node : node.children.get(element.locationName ?? 'member');
  // Clients write an empty list as `Foo=`.
  if (holder === undefined || holder.children.size === 0) {
    if (node.value === '') return [];
    throw context.malformed(`Expected a list at ${path}`);
  }
  return indexed(context, holder, path).map(([index, child]) =>
    parseNode(context, element, child, `${path}.${index}`),
  );
}

function parseMap(
  context: FormContext,
  ref: ShapeRef,
  shape: Shape,
  node: Node,
  path: string,
): Readonly<Record<string, unknown>> {
  const { key, value } = entryOf(shape);
  const holder = isFlattened(ref, shape) ? node : node.children.get('entry');
  if (holder === undefined || holder.children.size === 0) {
    if (node.value === '') return {};
    throw context.malformed(`Expected a map at ${path}`);
  }
  const entries = indexed(context, holder, path).map(([index, child]) => {
    const keyNode = child.children.get(key.locationName ?? 'key');
    const valueNode = child.children.get(value.locationName ?? 'value');
    if (keyNode?.value === undefined || valueNode === undefined) {
      throw context.malformed(`Expected a key and a value at ${path}.${index}`);
    }
    return [keyNode.value, parseNode(context, value, valueNode, `${path}.${index}`)] as const;
  });
  return Object.fromEntries(entries);
}

function indexed(context: FormContext, holder: Node, path: string): readonly [number, Node][] {
  return [...holder.children]
    .map(([index, child]): [number, Node] => {
      if (!/^\d{1,6}$/.test(index))
        throw context.malformed(`Expected an index at ${path}.${index}`);
      return [Number(index), child];
    })
    .sort(([a], [b]) => a - b);
}
