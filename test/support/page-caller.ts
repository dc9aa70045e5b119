// A caller of a controller's page over HTTP, as the page in a browser calls it: signs in with a
// token, reads documents, requests an action. Judges no answer.
import { objectOr } from '../../src/api/json.ts';
import type { PageSnapshot, UpdateVerb } from '../../src/api/page.ts';

interface Answer {
  readonly status: number;
  /** The page's reason for a refusal. */
  readonly error: string;
}

const answerOf = async (response: Response): Promise<Answer> => {
  const { error = '' } = objectOr(JSON.parse(await response.text()));
  return { status: response.status, error: String(error) };
};

export class PageCaller {
  readonly #base: string;
  #cookie = '';

  /** `address` as the controller logs it. */
  constructor(address: string) {
    this.#base = `${address}page/v1/`;
  }

  #post(name: string, body: object, token: string): Promise<Response> {
    const headers = {
      'content-type': 'application/json',
      'x-drover-page': '1',
      authorization: `Bearer ${token}`,
      cookie: this.#cookie,
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return fetch(`${this.#base}${name}`, init);
  }

  async signIn(token: string): Promise<Answer> {
    const response = await this.#post('session', {}, token);
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    this.#cookie = cookie;
    return answerOf(response);
  }

  async snapshot(): Promise<PageSnapshot> {
    const headers = { cookie: this.#cookie };
    const response = await fetch(`${this.#base}snapshot`, { headers });
    if (!response.ok) throw new Error(`snapshot: ${response.status} ${await response.text()}`);
    return (await response.json()) as PageSnapshot;
  }

  /** With the plan that the page shows now. */
  async act(name: string, verb: UpdateVerb, token: string): Promise<Answer> {
    const headers = { cookie: this.#cookie };
    const shown = await fetch(`${this.#base}update?name=${name}`, { headers });
    const { actions } = (await shown.json()) as {
      readonly actions: readonly { readonly verb: string; readonly plan: readonly string[] }[];
    };
    const plan = actions.find((action) => action.verb === verb)?.plan ?? [];
    return answerOf(await this.#post('act', { name, verb, plan }, token));
  }
}
