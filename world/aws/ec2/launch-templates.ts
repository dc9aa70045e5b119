// Launch templates and their numbered versions. Keeps the data as given; never judges whether an
// instance can start from it.
import { defined } from '../../../src/api/defined.ts';
import type { JsonObject } from '../../../src/api/json.ts';
import type { Table } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import { refuse, type Scope, sentence } from '../scope.ts';

export type TemplateRow = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly defaultVersion: number;
  readonly latestVersion: number;
  /** The last assigned number: numbers of deleted versions are not reused. */
  readonly lastNumber?: number;
  readonly tags: Tags;
};

export type TemplateVersionRow = {
  readonly templateId: string;
  readonly version: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly description?: string;
  readonly data: JsonObject;
};

/** A template in a request: by id or by name, with `$Latest`, `$Default` or a number. */
export interface TemplateReference {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
}

const component = 'aws.ec2.launch-templates';

export class LaunchTemplates {
  readonly #scope: Scope;
  readonly #templates: Table<TemplateRow>;
  readonly #versions: Table<TemplateVersionRow>;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#templates = scope.kernel.tables.open<TemplateRow>('aws/ec2/launch-templates');
    this.#versions = scope.kernel.tables.open<TemplateVersionRow>(
      'aws/ec2/launch-template-versions',
    );
  }

  all(): readonly TemplateRow[] {
    return [...this.#templates.values()];
  }

  versions(templateId: string): readonly TemplateVersionRow[] {
    return [...this.#versions.values()].filter((row) => row.templateId === templateId);
  }

  create(request: {
    readonly name: string;
    readonly data: JsonObject;
    readonly createdBy: string;
    readonly tags?: Tags;
    readonly description?: string | undefined;
  }): { readonly template: TemplateRow; readonly version: TemplateVersionRow } {
    if (this.all().some((row) => row.name === request.name)) {
      throw refuse(
        'InvalidLaunchTemplateName.AlreadyExistsException',
        'Launch template name already in use.',
      );
    }
    const template: TemplateRow = {
      id: this.#scope.id(component, 'lt'),
      name: request.name,
      createdAt: this.#scope.now(),
      createdBy: request.createdBy,
      defaultVersion: 1,
      latestVersion: 0,
      tags: request.tags ?? {},
    };
    this.#templates.put(template.id, template);
    const version = this.addVersion(template.id, request);
    return { template: this.#templates.get(template.id) ?? template, version };
  }

  addVersion(
    templateId: string,
    request: {
      readonly data: JsonObject;
      readonly createdBy: string;
      readonly description?: string | undefined;
    },
  ): TemplateVersionRow {
    const template = this.find({ id: templateId });
    const version = Math.max(template.latestVersion, template.lastNumber ?? 0) + 1;
    const row: TemplateVersionRow = {
      templateId,
      version,
      createdAt: this.#scope.now(),
      createdBy: request.createdBy,
      data: request.data,
      ...defined({ description: request.description }),
    };
    this.#versions.put(`${templateId}/${version}`, row);
    this.#templates.put(templateId, { ...template, latestVersion: version, lastNumber: version });
    return row;
  }

  setDefault(templateId: string, version: number): TemplateRow {
    this.version({ id: templateId, version: String(version) });
    const row = { ...this.find({ id: templateId }), defaultVersion: version };
    this.#templates.put(templateId, row);
    return row;
  }

  /** Refuses the default version. */
  deleteVersion(templateId: string, version: number): void {
    this.#versions.delete(`${templateId}/${version}`);
    const template = this.find({ id: templateId });
    const left = this.versions(templateId).map((row) => row.version);
    this.#templates.put(templateId, { ...template, latestVersion: Math.max(...left) });
  }

  setTags(templateId: string, tags: Tags): boolean {
    const row = this.#templates.get(templateId);
    if (row === undefined) return false;
    this.#templates.put(templateId, { ...row, tags });
    return true;
  }

  delete(templateId: string): void {
    for (const row of this.versions(templateId)) {
      this.#versions.delete(`${templateId}/${row.version}`);
    }
    this.#templates.delete(templateId);
  }

  /** Throws EC2's error for a template that does not exist. */
  find(reference: TemplateReference): TemplateRow {
    if (reference.id !== undefined) {
      const row = this.#templates.get(reference.id);
      if (row !== undefined) return row;
      throw refuse(
        'InvalidLaunchTemplateId.NotFound',
        `The specified launch template, with template ID ${reference.id}, does not exist.`,
      );
    }
    const row = this.all().find((template) => template.name === reference.name);
    if (row !== undefined) return row;
    throw refuse(
      'InvalidLaunchTemplateName.NotFoundException',
      `The specified launch template, with template name ${reference.name}, does not exist.`,
    );
  }

  version(reference: TemplateReference): TemplateVersionRow {
    const template = this.find(reference);
    const wanted = reference.version ?? '$Default';
    const number =
      wanted === '$Latest'
        ? template.latestVersion
        : wanted === '$Default'
          ? template.defaultVersion
          : Number(wanted);
    const row = this.#versions.get(`${template.id}/${number}`);
    if (row !== undefined) return row;
    throw refuse(
      'InvalidLaunchTemplateId.VersionNotFound',
      sentence(
        `Could not find the specified version ${wanted} for the launch template with ID`,
        `${template.id}.`,
      ),
    );
  }
}
