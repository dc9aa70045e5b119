// The body of one notification for each format. Texts from the cluster are escaped per format, so
// they cannot mention a person, add a link or contain markup.
import { formatTime } from '../../api/brand.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Receiver } from './receiver.ts';
import { type Severity, type Transition, transitionTypes } from './transitions.ts';

export interface Rendered {
  readonly body: string;
  readonly contentType: string;
}

/** Long enough for a budget's sentence; receivers cut or refuse longer ones. */
const longestText = 1_000;

const oneLine = (text: string): string => {
  const plain = text.replaceAll(/\p{C}+|\s+/gu, ' ').trim();
  return plain.length <= longestText ? plain : `${plain.slice(0, longestText - 1)}…`;
};

/** https://docs.slack.dev/messaging/formatting-message-text: only these three are special. */
const forSlack = (text: string): string =>
  oneLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Adaptive Cards: a subset of Markdown. */
const forTeams = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]()#<>|~]/g, '\\$&');

const mark: Readonly<Record<Severity, string>> = {
  info: '',
  warning: 'Warning: ',
  error: 'Error: ',
};

const json = (body: JsonObject, contentType = 'application/json'): Rendered => ({
  body: JSON.stringify(body),
  contentType,
});

const cloudEvent = ({ id, type, at, subject, source, summary, facts }: Transition): Rendered =>
  json(
    {
      specversion: '1.0',
      id,
      source,
      type: `dev.drover.${type}.v1`,
      subject,
      time: formatTime(at),
      datacontenttype: 'application/json',
      data: { ...facts, severity: transitionTypes[type].severity, summary: oneLine(summary) },
    },
    'application/cloudevents+json; charset=utf-8',
  );

const slack = ({ type, summary }: Transition): Rendered =>
  json({ text: `${mark[transitionTypes[type].severity]}${forSlack(summary)}` });

const teams = ({ type, summary }: Transition): Rendered =>
  json({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            {
              type: 'TextBlock',
              wrap: true,
              text: `${mark[transitionTypes[type].severity]}${forTeams(summary)}`,
            },
          ],
        },
      },
    ],
  });

/** PagerDuty's limits: summary 1,024 characters, dedup_key 255. */
const pagerduty = (
  { type, at, subject, episode, summary, facts }: Transition,
  routingKey: string,
): Rendered | undefined => {
  const row: { readonly severity: Severity; readonly incident?: 'begins' | 'ends' } =
    transitionTypes[type];
  if (row.incident === undefined) return undefined;
  const common = { routing_key: routingKey, dedup_key: episode.slice(0, 255) };
  if (row.incident === 'ends') return json({ ...common, event_action: 'resolve' });
  return json({
    ...common,
    event_action: 'trigger',
    payload: {
      summary: oneLine(summary),
      source: subject,
      severity: row.severity,
      timestamp: formatTime(at),
      custom_details: facts,
    },
  });
};

/** Undefined if this receiver ignores transitions of this type. */
export const renderNotification = (
  transition: Transition,
  { format, routingKey = '', types }: Receiver,
): Rendered | undefined => {
  if (types !== undefined && !types.includes(transition.type)) return undefined;
  switch (format) {
    case 'cloudevents':
      return cloudEvent(transition);
    case 'slack':
      return slack(transition);
    case 'teams':
      return teams(transition);
    case 'pagerduty':
      return pagerduty(transition, routingKey);
  }
};
