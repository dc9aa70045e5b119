// What the server needs for one kind: its paths, its verbs and subresources, and its strategy (what
// is set, kept and checked on create and update). Types and the empty strategy only.
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { Random } from '../../../src/ports/index.ts';
import type { UserInfo } from '../../contracts.ts';
import type { Micros } from '../../kernel/index.ts';
import type { Stored } from './objects.ts';
import type { FieldReader } from './selectors.ts';
import type { FieldError } from './status.ts';
import type { Store } from './store.ts';

/** What a strategy may use while it prepares an object. */
export interface WriteContext {
  readonly now: Micros;
  readonly time: string;
  readonly random: Random;
  readonly user: UserInfo;
  readonly store: Store;
  readonly serviceCidr: string;
  /** Pods mount the token of their service account, which must exist. */
  readonly accountVolumes: boolean;
}

type Prepare = (object: JsonObject, context: WriteContext) => JsonObject;
type PrepareUpdate = (next: JsonObject, old: Stored, context: WriteContext) => JsonObject;

export interface Strategy {
  /** Admission and defaults that depend on the world; status is already dropped. */
  readonly prepareForCreate?: Prepare;
  /** Checks on create, in addition to `validate`. */
  readonly validateCreate?: (object: JsonObject) => readonly FieldError[];
  readonly validate?: (object: JsonObject, context: WriteContext) => readonly FieldError[];
  readonly prepareForUpdate?: PrepareUpdate;
  readonly validateUpdate?: (next: JsonObject, old: Stored) => readonly FieldError[];
  /** Create keeps the status in the body. */
  readonly keepsStatus?: boolean;
  /** Status of a new object, for kinds whose server sets one. */
  readonly initialStatus?: (object: JsonObject, context: WriteContext) => Json;
}

export type NameRule = 'subdomain' | 'label' | 'label1035' | 'path';

export interface SubresourceDefinition {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly SubresourceDefinition[];
  /** Has /status: the main resource never writes status, and /status never writes spec. */
  readonly hasStatus: boolean;
  /**
   * `spec`: raised by spec changes; `annotations`: also by annotations; `none`: has no generation.
   */
  readonly generation: 'none' | 'spec' | 'annotations' | 'content';
  /** The metadata that a write through /status may change. */
  readonly statusMetadata: 'labels' | 'annotations' | 'none';
  readonly nameRule: NameRule;
  /** Whether a PUT may omit resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** PUT of a missing object creates it. */
  readonly createOnUpdate: boolean;
  /** Deletion has a grace period: only pods. */
  readonly graceful: boolean;
  /** DELETE returns the deleted object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly fields: Readonly<Record<string, FieldReader>>;
  readonly strategy: Strategy;
  /** Where the objects of this view are stored, and how to convert them. */
  readonly storage: {
    readonly group: string;
    readonly resource: string;
    readonly fromStored?: (object: Stored) => Stored;
    readonly toStored?: (object: JsonObject) => JsonObject;
  };
  /** The openAPIV3Schema of a custom resource's version; undefined for built-in kinds. */
  readonly custom: JsonObject | undefined;
}

export const apiVersionOf = (of: { readonly group: string; readonly version: string }): string =>
  of.group === '' ? of.version : `${of.group}/${of.version}`;
