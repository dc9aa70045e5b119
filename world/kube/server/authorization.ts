// A request to the API server's authorizers and their answer. Types only.

export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Field selector of a list or watch, as text. */
  readonly fieldSelector?: string;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
}
