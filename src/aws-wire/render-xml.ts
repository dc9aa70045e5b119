// query and ec2 answers: renders a handler's output as XML for botocore and SDK v3. Omits members
// unknown to the model; check-output.ts reports them.
import {
  elementOf,
  entryOf,
  isFlattened,
  locationNameOf,
  type ServiceModel,
  type Shape,
  type ShapeRef,
  shapeOf,
} from './model.ts';
import { scalarToText } from './scalar.ts';

type Values = Readonly<Record<string, unknown>>;

export function element(name: string, content: string): string {
  return content === '' ? `<${name}/>` : `<${name}>${content}</${name}>`;
}

/** Text content. Replaces the control characters that XML 1.0 cannot represent. */
export function escapeXml(text: string): string {
  return text.toWellFormed().replace(UNSAFE, (character) => ENTITIES[character] ?? '\uFFFD');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be replaced
const UNSAFE = /[&<>"\r\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // XML parsers read a bare carriage return as a line feed.
  '\r': '&#xD;',
};

/** The members of a structure as sibling elements, in the model's order. */
export function renderMembers(model: ServiceModel, shape: Shape, value: Values): string {
  let xml = '';
  for (const [name, ref] of Object.entries(shape.members ?? {})) {
    const member = value[name];
    if (member !== undefined && member !== null) xml += renderMember(model, ref, name, member);
  }
  return xml;
}

function renderMember(model: ServiceModel, ref: ShapeRef, name: string, value: unknown): string {
  const shape = shapeOf(model, ref.shape);
  const tag = locationNameOf(ref, shape) ?? name;
  switch (shape.type) {
    case 'structure':
      return element(tag, renderMembers(model, shape, value as Values));
    case 'list':
      return renderList(model, ref, shape, tag, value as readonly unknown[]);
    case 'map':
      return renderMap(model, ref, shape, tag, value as Values);
    default:
      return element(tag, escapeXml(scalarToText(shape.type, value)));
  }
}

function renderList(
  model: ServiceModel,
  ref: ShapeRef,
  shape: Shape,
  tag: string,
  items: readonly unknown[],
): string {
  const item = elementOf(shape);
  const flattened = isFlattened(ref, shape);
  const itemTag = item.locationName ?? (flattened ? tag : 'member');
  const named: ShapeRef = { ...item, locationName: itemTag };
  const xml = items.map((value) => renderMember(model, named, itemTag, value)).join('');
  return flattened ? xml : element(tag, xml);
}

function renderMap(
  model: ServiceModel,
  ref: ShapeRef,
  shape: Shape,
  tag: string,
  entries: Values,
): string {
  const { key, value } = entryOf(shape);
  const flattened = isFlattened(ref, shape);
  const xml = Object.entries(entries)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => {
      const keyXml = renderMember(model, key, 'key', name);
      const valueXml = renderMember(model, value, 'value', item);
      return element(flattened ? tag : 'entry', keyXml + valueXml);
    })
    .join('');
  return flattened ? xml : element(tag, xml);
}
