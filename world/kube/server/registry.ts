// The kinds that are currently served: the built-in table and the kinds of
// CustomResourceDefinitions. Looks up only; custom-kinds.ts creates the definitions of custom
// kinds.
import type { GroupResource } from '../../contracts.ts';
import type { ResourceDefinition } from './definition.ts';
import { resourceKey } from './store.ts';

const versionedKey = (group: string, version: string, resource: string): string =>
  `${group}/${version}/${resource}`;

export class Registry {
  readonly #byVersion = new Map<string, ResourceDefinition>();
  readonly #preferred = new Map<string, ResourceDefinition>();
  #generation = 0;

  constructor(builtIn: readonly ResourceDefinition[]) {
    for (const definition of builtIn) this.add(definition);
  }

  /** Raised by every change: a key for cached discovery documents. */
  get generation(): number {
    return this.#generation;
  }

  add(definition: ResourceDefinition): void {
    const { group, version, resource } = definition;
    this.#generation++;
    this.#byVersion.set(versionedKey(group, version, resource), definition);
    if (!this.#preferred.has(resourceKey(definition))) {
      this.#preferred.set(resourceKey(definition), definition);
    }
  }

  /** Removes every version of a custom resource. */
  remove(of: GroupResource): void {
    this.#generation++;
    this.#preferred.delete(resourceKey(of));
    for (const [key, definition] of this.#byVersion) {
      if (resourceKey(definition) === resourceKey(of)) this.#byVersion.delete(key);
    }
  }

  find(group: string, version: string, resource: string): ResourceDefinition | undefined {
    return this.#byVersion.get(versionedKey(group, version, resource));
  }

  findKind(of: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }): ResourceDefinition | undefined {
    return this.all().find(
      ({ group, version, kind }) =>
        group === of.group && version === of.version && kind === of.kind,
    );
  }

  preferred(of: GroupResource): ResourceDefinition | undefined {
    return this.#preferred.get(resourceKey(of));
  }

  all(): readonly ResourceDefinition[] {
    return [...this.#byVersion.values()];
  }
}
