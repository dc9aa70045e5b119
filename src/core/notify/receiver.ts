// The receiver of notifications, from the Secret that names it. Refuses what could not work, and
// says why without repeating a value.
import { isObject, type Json } from '../../api/json.ts';
import { type TransitionType, transitionTypes } from './transitions.ts';

export const receiverFormats = ['cloudevents', 'slack', 'teams', 'pagerduty'] as const;
export type ReceiverFormat = (typeof receiverFormats)[number];

export interface Receiver {
  readonly format: ReceiverFormat;
  readonly url: string;
  /** Base64, without its prefix. */
  readonly signingKey?: string;
  /** PagerDuty's integration key. */
  readonly routingKey?: string;
  /** Only these types; absent: all. */
  readonly types?: readonly TransitionType[];
}

export type ParsedReceiver =
  | { readonly kind: 'ok'; readonly receiver: Receiver }
  | { readonly kind: 'unusable'; readonly why: string };

const pagerduty = 'https://events.pagerduty.com/v2/enqueue';
const keys = new Set(['url', 'format', 'signingKey', 'routingKey', 'types']);
const unusable = (why: string): ParsedReceiver => ({ kind: 'unusable', why });

const isFormat = (text: string): text is ReceiverFormat =>
  receiverFormats.some((format) => format === text);

/** Types that begin with one of the words, such as `node.drain` or `nodegroup.update.failed`. */
const typesOf = (words: readonly string[]): readonly TransitionType[] =>
  (Object.keys(transitionTypes) as TransitionType[]).filter((type) =>
    words.some((word) => type === word || type.startsWith(`${word}.`)),
  );

/** Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
const keyPattern = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;

/** `data`: the decoded keys of the Secret. */
export const parseReceiver = (data: Readonly<Record<string, string>>): ParsedReceiver => {
  const unknown = Object.keys(data).filter((key) => !keys.has(key));
  if (unknown.length > 0) {
    return unusable(`unknown key ${unknown.join(', ')}; known are ${[...keys].join(', ')}`);
  }
  const format = data.format?.trim() ?? 'cloudevents';
  if (!isFormat(format)) return unusable(`key format is one of ${receiverFormats.join(', ')}`);
  const url = data.url?.trim() ?? (format === 'pagerduty' ? pagerduty : undefined);
  if (url === undefined || !URL.canParse(url)) return unusable('key url is not a URL');
  const { signingKey: signed, routingKey } = data;
  const key = signed === undefined ? undefined : keyPattern.exec(signed.trim())?.[1];
  if (signed !== undefined && key === undefined) {
    return unusable('key signingKey is not whsec_ and 24 to 64 bytes in base64');
  }
  if (format === 'pagerduty' && (routingKey?.trim() ?? '') === '') {
    return unusable('format pagerduty needs key routingKey, its integration key');
  }
  const words = data.types?.split(/[\s,]+/).filter((word) => word !== '');
  const types = words === undefined ? undefined : typesOf(words);
  const odd = words?.find((word) => typesOf([word]).length === 0);
  if (odd !== undefined) return unusable('key types has a word that matches no type');
  return {
    kind: 'ok',
    receiver: {
      format,
      url,
      ...(key === undefined ? {} : { signingKey: key }),
      ...(routingKey === undefined ? {} : { routingKey: routingKey.trim() }),
      ...(types === undefined ? {} : { types }),
    },
  };
};

const decoded = (data: Json | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isObject(data) ? data : {}).map(([name, value]) => {
      try {
        return [name, atob(String(value).replaceAll(/\s/g, ''))];
      } catch {
        return [name, ''];
      }
    }),
  );

/** `secret`: as the API server returns it; undefined: it does not exist. */
export const receiverOf = (secret: { readonly data?: Json } | undefined): ParsedReceiver =>
  secret === undefined ? unusable('it does not exist') : parseReceiver(decoded(secret.data));
