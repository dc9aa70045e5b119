// Aggregates the rules of labelled ClusterRoles into others, such as admin, edit and view.
// Upstream: pkg/controller/clusterroleaggregation (1.32). Writes only the rules of aggregating
// roles.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import type { KubeObject } from '../../../src/api/kube.ts';
import { selectorMatches } from '../../../src/api/selectors.ts';
import type { WorldClient } from '../../contracts.ts';
import {
  metaOf,
  nameOfKey,
  type Outcome,
  resources,
  type Selector,
  type Worker,
} from '../actors/index.ts';
import { type Controller, type ControllerContext, controllerClient, newWorker } from './context.ts';

type Role = KubeObject & JsonObject;

const selectorsOf = (role: Role): readonly Selector[] =>
  (objectOr(role.aggregationRule).clusterRoleSelectors ?? []) as readonly Selector[];

const rulesOf = (role: Role): readonly JsonObject[] => (role.rules ?? []) as readonly JsonObject[];

export class RoleAggregation implements Controller {
  readonly #context: ControllerContext;
  readonly #client: WorldClient;
  readonly #worker: Worker;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#client = controllerClient(context, 'clusterrole-aggregation-controller').client;
    this.#worker = newWorker(context, 'role-aggregation', (key) => this.#reconcile(key));
    context.kube.onChange(resources.clusterroles, () => this.resume());
  }

  /** Any role may match any of the few aggregating ones, so all of these are reconciled. */
  resume(): void {
    for (const role of this.#context.kube.readAll(resources.clusterroles)) {
      if (selectorsOf(role).length > 0) this.#worker.mark(role.metadata.name);
    }
  }

  #reconcile(key: string): Outcome {
    const role = this.#context.kube.read(resources.clusterroles, nameOfKey(key));
    if (role === undefined || selectorsOf(role).length === 0) return undefined;
    const rules = this.#gather(role);
    if (JSON.stringify(rules) === JSON.stringify(rulesOf(role))) return undefined;
    const body = { metadata: { uid: role.metadata.uid }, rules };
    const patch = { type: 'merge', body } as const;
    const patched = this.#client.patch(resources.clusterroles, { name: key }, patch);
    return patched.kind === 'ok' || patched.status.code === 404 ? undefined : 'retry';
  }

  /** The rules of all selected roles in order of name, without duplicates. */
  #gather(role: Role): readonly JsonObject[] {
    const rules = new Map<string, JsonObject>();
    for (const selector of selectorsOf(role)) {
      for (const other of this.#context.kube.readAll(resources.clusterroles)) {
        if (other.metadata.name === role.metadata.name) continue;
        if (!selectorMatches(selector, metaOf(other).labels)) continue;
        for (const rule of rulesOf(other)) rules.set(JSON.stringify(rule), rule);
      }
    }
    return [...rules.values()];
  }
}
