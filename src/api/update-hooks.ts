// Hooks of an update: work of people's own that runs for a node before it is drained, when it is
// empty and before it is terminated, and after a new one is Ready. Part of NodeGroup's
// `spec.updateConfig`. Decides nothing.

export const hookKinds = ['preDrain', 'postDrain', 'preTerminate', 'postReady'] as const;
export type HookKind = (typeof hookKinds)[number];

export const hookFailurePolicies = ['Fail', 'Continue'] as const;

export interface JobHook {
  readonly namespace: string;
  /**
   * A CronJob, a suspended one as a rule, whose jobTemplate is run, as `kubectl create job --from`
   * does.
   */
  readonly cronJob: string;
}

export interface WebhookHook {
  /** https, no user, query or fragment, as of Kubernetes' own webhooks. */
  readonly url: string;
  /** PEM in base64: who signs the server's certificate. */
  readonly caBundle?: string;
  readonly bearerTokenSecret?: {
    readonly namespace: string;
    readonly name: string;
    /** Default `token`. */
    readonly key?: string;
  };
}

/** One of the two. */
export interface NodeHook {
  readonly job?: JobHook;
  readonly webhook?: WebhookHook;
  /** Default 600. */
  readonly timeoutSeconds?: number;
  /** Default Fail: the update ends. */
  readonly onFailure?: (typeof hookFailurePolicies)[number];
}

/** One run of a hook for one instance. */
export interface HookCall {
  readonly kind: HookKind;
  readonly hook: NodeHook;
  readonly instanceId: string;
  readonly nodeName: string;
  /** Of its Job, and a webhook's idempotency key: the same for the same try, whoever asks. */
  readonly name: string;
}

export type UpdateHooks = { readonly [Kind in HookKind]?: NodeHook };

/** Of the journal of an update: hooks that run, and those that failed and were gone on without. */
export interface HookStatus {
  readonly hook: HookKind;
  readonly instanceId: string;
  readonly node?: string;
  /** Namespace and name of the Job. */
  readonly job?: string;
  /** Scheme and host of its URL. */
  readonly webhook?: string;
  /** Of a webhook: the `id` that it is asked with, another for each try of a drain. */
  readonly id?: string;
  readonly state: 'Running' | 'Failed';
  /** Of a webhook: its time counts from then. */
  readonly since?: string;
  /** Of a webhook: how often it was asked, told when that has doubled or the answer is another. */
  readonly attempt?: number;
  readonly message?: string;
}

/** The status tells no more of them. */
export const maxToldHooks = 40;

/** How long one took that was done. */
export interface HookTime {
  readonly hook: HookKind;
  readonly seconds: number;
}

/** The status keeps the last of them: plans go by them. */
export const maxHookTimes = 40;

/** Webhooks that are over, by their calls' ids: far more than a group has nodes (EKS: 450). */
export const maxDoneWebhooks = 5_000;

export const defaultHookTimeoutSeconds = 600;

/** On the Jobs of hooks: the uid of the update. */
export const hookUpdateLabel = 'drover.dev/update-uid';
/** Which of its hooks. */
export const hookKindLabel = 'drover.dev/hook';
/** For which instance. */
export const hookInstanceLabel = 'drover.dev/instance';

/** A webhook's address without its path, which may be a secret: `https://ops.example/...`. */
export const shownAddress = (url: string): string =>
  url.replace(/^(\w+:\/\/[^/?#]*)\/?(.*)$/s, (_, origin: string, rest: string) =>
    rest === '' ? origin : `${origin}/...`,
  );
