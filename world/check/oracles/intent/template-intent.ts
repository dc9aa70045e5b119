// Before a group changes to another version of its launch template, an update has noted that
// version, as target or for its rollback. Labels and taints of the spec create versions of their
// own.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Call, ObjectEntry } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';

interface Noted {
  readonly name: string;
  readonly isOpen: boolean;
  readonly target: string;
  readonly restored: string;
}

/** After a change of labels or taints, their version may appear within this time. */
const labelsMicros = 900_000_000;

const versionIn = ({ LaunchTemplate, MixedInstancesPolicy }: JsonObject): string => {
  const mixed = objectOr(objectOr(MixedInstancesPolicy).LaunchTemplate);
  return textOf(objectOr(LaunchTemplate ?? mixed.LaunchTemplateSpecification).Version);
};

const notedOf = ({ metadata, status }: JsonObject): Noted => {
  const { phase, status: word, target, restored } = objectOr(status);
  const isBegun = phase !== undefined && phase !== 'Pending';
  return {
    name: textOf(objectOr(metadata).name),
    isOpen: isBegun && word === 'InProgress',
    target: textOf(objectOr(target).templateVersion),
    restored: textOf(restored),
  };
};

export class TemplateIntent {
  readonly #context: Context;
  /** By name of the node group. */
  readonly #updates = new Map<string, Map<string, Noted>>();
  readonly #labels = new Map<string, { readonly text: string; readonly at: number }>();
  /** By name of the Auto Scaling group: the node group, and the version in use. */
  readonly #groups = new Map<string, string>();
  readonly #used = new Map<string, string>();

  constructor(context: Context) {
    this.#context = context;
  }

  object({ type, resource, object }: ObjectEntry): void {
    const { metadata, spec, status } = object;
    const name = textOf(objectOr(metadata).name);
    if (resource === 'nodegroups') {
      const { labels, taints } = objectOr(spec);
      const text = JSON.stringify([labels, taints]);
      const known = this.#labels.get(name);
      const at = known === undefined ? Number.NEGATIVE_INFINITY : this.#context.book.now;
      if (known?.text !== text) this.#labels.set(name, { text, at });
      this.#groups.set(textOf(objectOr(status).autoScalingGroupName), name);
    }
    if (resource !== 'nodegroupupdates' || objectOr(spec).type !== 'VersionUpdate') return;
    const group = textOf(objectOr(spec).nodeGroup);
    const all = this.#updates.get(group) ?? new Map<string, Noted>();
    this.#updates.set(group, all);
    if (type === 'DELETED') all.delete(name);
    else all.set(name, notedOf(object));
  }

  call({ operation, input }: Call): void {
    const name = textOf(input.AutoScalingGroupName);
    const version = versionIn(input);
    if (version === '') return;
    const before = this.#used.get(name);
    this.#used.set(name, version);
    if (operation !== 'UpdateAutoScalingGroup' || before === version) return;
    this.#check(this.#groups.get(name) ?? '', version);
  }

  #check(group: string, version: string): void {
    const { book, saw, report } = this.#context;
    const update = [...(this.#updates.get(group)?.values() ?? [])].find(({ isOpen }) => isOpen);
    const { at = Number.NEGATIVE_INFINITY } = this.#labels.get(group) ?? {};
    if (update === undefined || book.now - at <= labelsMicros) return;
    saw();
    if (version === update.target || version === update.restored) return;
    const message =
      `uses version ${version} of its launch template, which ${update.name} had not noted ` +
      'before';
    report({ subject: group, message });
  }
}
