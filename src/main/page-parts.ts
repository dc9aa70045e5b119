// Parts of the page's wiring that the embedded world and the controller share: the built files,
// details, and requests to updates under the operator's own rights.
import { join } from 'node:path';
import type { JsonObject } from '../api/json.ts';
import { type UpdateVerb, updateVerbs } from '../api/page.ts';
import { actRights, judge, type Operator, type PageHub } from '../page/index.ts';
import type { KubeApi } from '../ports/index.ts';
import { type PageFile, readPageFiles } from '../serve/index.ts';

/** Beside `src/` in a checkout, beside `lib/` in the packed release. */
const pageDirectory = join(import.meta.dirname, '..', '..', 'web', 'dist');

/** Read once they exist: `npm run build:page` may follow the start. */
export const builtPage = (): (() => ReadonlyMap<string, PageFile> | undefined) => {
  let files: ReadonlyMap<string, PageFile> | undefined;
  return () => {
    files ??= readPageFiles(pageDirectory);
    return files;
  };
};

const isVerb = (verb: unknown): verb is UpdateVerb => updateVerbs.some((one) => one === verb);

interface Acting {
  readonly hub: PageHub;
  /** Reviews tokens. */
  readonly kube: KubeApi;
  /** The API server with the operator's own rights; `token` is theirs. */
  readonly as: (operator: Operator, token: string) => Promise<Pick<KubeApi, 'patch'>>;
}

/** POST /page/v1/act: a request to an update, with the plan that its operator confirmed. */
export const actWith =
  ({ hub, kube, as }: Acting) =>
  async (input: JsonObject, token: string | undefined): ReturnType<PageHub['act']> => {
    const { name, verb, plan } = input;
    if (typeof name !== 'string' || !isVerb(verb) || !Array.isArray(plan)) {
      const verbs = updateVerbs.join(', ');
      const message = `a request names an update, one of ${verbs}, and the plan that was shown`;
      return { kind: 'error', status: 400, message };
    }
    const verdict = await judge(kube, token, actRights(name));
    if (verdict.kind === 'error') return verdict;
    const { operator } = verdict;
    const own = await as(operator, token ?? '');
    return hub.act(name, verb, { by: operator.username, seen: plan.map(String), as: own });
  };

export const detailsOf = (hub: PageHub) => ({
  node: (query: URLSearchParams) => hub.node(query.get('name') ?? ''),
  update: (query: URLSearchParams) => hub.update(query.get('name') ?? ''),
});
