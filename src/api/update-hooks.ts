// Hooks of an update: the user's own work for a node. It runs before the drain, when the node is
// empty, before the termination, and after a new node is Ready. Part of NodeGroup's
// `spec.updateConfig`. Decides nothing.

export const hookKinds = ['preDrain', 'postDrain', 'preTerminate', 'postReady'] as const;
export type HookKind = (typeof hookKinds)[number];

export const hookFailurePolicies = ['Fail', 'Continue'] as const;

export interface JobHook {
  readonly namespace: string;
  /** A CronJob, usually suspended, whose jobTemplate is run, as by `kubectl create job --from`. */
  readonly cronJob: string;
}

export interface WebhookHook {
  /** https without user, query or fragment, as for Kubernetes' own webhooks. */
  readonly url: string;
  /** PEM in base64: the CA of the server's certificate. */
  readonly caBundle?: string;
  readonly bearerTokenSecret?: {
    readonly namespace: string;
    readonly name: string;
    /** Default `token`. */
    readonly key?: string;
  };
}

/** Exactly one of the two. */
export interface NodeHook {
  readonly job?: JobHook;
  readonly webhook?: WebhookHook;
  /** Default 600. */
  readonly timeoutSeconds?: number;
  /** Default Fail: the update fails. */
  readonly onFailure?: (typeof hookFailurePolicies)[number];
}

/** One run of a hook for one instance. */
export interface HookCall {
  readonly kind: HookKind;
  readonly hook: NodeHook;
  readonly instanceId: string;
  readonly nodeName: string;
  /** The name of its Job, or a webhook's idempotency key: the same for the same attempt. */
  readonly name: string;
}

export type UpdateHooks = { readonly [Kind in HookKind]?: NodeHook };

/** From the journal of an update: hooks that run, and failed hooks that were ignored. */
export interface HookStatus {
  readonly hook: HookKind;
  readonly instanceId: string;
  readonly node?: string;
  /** Namespace and name of the Job. */
  readonly job?: string;
  /** Scheme and host of its URL. */
  readonly webhook?: string;
  /** For a webhook: the `id` in the request, a new one for each attempt of a drain. */
  readonly id?: string;
  readonly state: 'Running' | 'Failed';
  /** For a webhook: start of its time limit. */
  readonly since?: string;
  /** For a webhook: number of calls, written when it has doubled or the answer has changed. */
  readonly attempt?: number;
  readonly message?: string;
}

/** Maximum number of hooks in the status. */
export const maxToldHooks = 40;

/** The duration of a completed hook. */
export interface HookTime {
  readonly hook: HookKind;
  readonly seconds: number;
}

/** Number of latest durations that the status keeps; plans use them. */
export const maxHookTimes = 40;

/** Completed webhooks, by their calls' ids: far more than a group has nodes (EKS: 450). */
export const maxDoneWebhooks = 5_000;

export const defaultHookTimeoutSeconds = 600;

/** On the Jobs of hooks: the uid of the update. */
export const hookUpdateLabel = 'drover.dev/update-uid';
/** On the Jobs of hooks: the kind of the hook. */
export const hookKindLabel = 'drover.dev/hook';
/** On the Jobs of hooks: the instance for which it runs. */
export const hookInstanceLabel = 'drover.dev/instance';

/** A webhook's address without its path, which may be secret: `https://ops.example/...`. */
export const shownAddress = (url: string): string =>
  url.replace(/^(\w+:\/\/[^/?#]*)\/?(.*)$/s, (_, origin: string, rest: string) =>
    rest === '' ? origin : `${origin}/...`,
  );
