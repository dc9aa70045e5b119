// A question to the authorizers of the API server, and their answer. Types only.

export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Of a list or watch, as text. */
  readonly fieldSelector?: string;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly reason: string;
}
