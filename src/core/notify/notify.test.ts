// Transitions, outbox and bodies as tables: ids are stable, nothing is sent twice or lost while the
// cursor says so, and no text from a cluster can mention or link anything.
import { type CloudEvent, HTTP } from 'cloudevents';
import { describe, expect, it } from 'vitest';
import { epochMs, formatTime } from '../../api/brand.ts';
import type { NodeDisruption, NodeDisruptionStatus } from '../../api/disruption.ts';
import {
  advanced,
  type Cursor,
  drainTransitions,
  maxPending,
  outboxOf,
  parseReceiver,
  type Receiver,
  renderNotification,
  repairTransitions,
  type Transition,
  testTransition,
  transitionTypes,
  updateTransitions,
} from './index.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const at = (seconds: number): string => formatTime(epochMs(start + seconds * 1000));

const drain = (status: Partial<NodeDisruptionStatus>, name = 'i-1'): NodeDisruption => ({
  apiVersion: 'drover.dev/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: at(0) },
  spec: {
    instanceId: name,
    nodeGroup: 'web',
    causes: [
      { kind: 'Manual', id: 'm', receivedAt: at(0), onDeadline: 'fail', followUp: 'Release' },
    ],
  },
  status: { episode: 1, phase: 'Draining', node: { name: 'n1', uid: 'u' }, ...status },
});

describe('transitions', () => {
  it('of a drain: its beginning, its deadline and its end, with ids that only it decides', () => {
    const told = drainTransitions(
      drain({
        phase: 'Ended',
        outcome: 'Forced',
        markedAt: at(1),
        forcingSince: at(900),
        endedAt: at(960),
        message: '1 pod was deleted',
      }),
    );
    expect(told.map(({ id, type }) => [id, type])).toEqual([
      ['uid-i-1/1/node.drain.started', 'node.drain.started'],
      ['uid-i-1/1/node.drain.forcing', 'node.drain.forcing'],
      ['uid-i-1/1/node.drain.forced', 'node.drain.forced'],
    ]);
    expect(told[2]).toMatchObject({
      subject: 'n1',
      summary: 'n1: drained by force: 1 pod was deleted',
      facts: { node: 'n1', nodeGroup: 'web', causes: ['Manual'], outcome: 'Forced' },
    });
  });

  it('of a second episode include the end of the first, with the id that it had', () => {
    const end = { outcome: 'Failed', endedAt: at(9), startedAt: at(0) } as const;
    const first = drainTransitions(drain({ phase: 'Ended', ...end }));
    const second = drainTransitions(drain({ episode: 2, previous: { episode: 1, ...end } }));
    expect(first.map(({ id }) => id)).toEqual(['uid-i-1/1/node.drain.failed']);
    expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  });

  it('of an update and a repair', () => {
    const metadata = { name: 'x', uid: 'ux', resourceVersion: '1' };
    const update = (status: object) =>
      updateTransitions({ metadata, spec: { nodeGroup: 'web' }, status } as never).map(
        ({ type, summary }) => [type, summary],
      );
    const errors = [{ code: 'PodEvictionFailure', message: 'a/b', resourceIds: [] }];
    expect(update({ status: 'Failed', startedAt: at(0), endedAt: at(5), errors })).toEqual([
      ['nodegroup.update.started', 'web: update started'],
      ['nodegroup.update.failed', 'web: update failed: PodEvictionFailure: a/b'],
    ]);
    expect(
      update({ status: 'Successful', phase: 'Applied', startedAt: at(0), endedAt: at(0) }),
    ).toEqual([]);
    const spec = { nodeGroup: 'web', instanceId: 'i-1', condition: 'Ready', reason: 'KubeletStop' };
    const attempts = [
      { action: 'Reboot', startedAt: at(1) },
      { action: 'Replace', startedAt: at(2) },
    ];
    const repair = (status: object) =>
      repairTransitions({ metadata, spec, status } as never).map(({ id }) => id);
    expect(repair({ phase: 'Succeeded', attempts, endedAt: at(3) })).toEqual([
      'ux/node.repair.started/0',
      'ux/node.repair.started/1',
      'ux/node.repair.succeeded',
    ]);
    expect(repair({ phase: 'Cancelled', attempts: [], endedAt: at(3) })).toEqual([]);
  });
});

const numbered = (count: number): readonly Transition[] =>
  Array.from({ length: count }, (_, i) =>
    drainTransitions(drain({ markedAt: at(i) }, `i-${i}`)),
  ).flat();

describe('the outbox', () => {
  const from: Cursor = { through: epochMs(start - 1), sent: [] };

  it('sends in order, never what the cursor covers, and what is written late', () => {
    const all = numbered(5);
    const { pending } = outboxOf(all.toReversed(), from);
    expect(pending).toEqual(all);
    const done = pending.slice(0, 2);
    const open = pending.slice(2);
    const now = epochMs(start + 10_000);
    const cursor = advanced(from, { done, open, transitions: all, now });
    expect(outboxOf(all, cursor).pending).toEqual(open);
    // Its time is before that of transitions already sent, but less than a minute ago.
    const late = drainTransitions(drain({ markedAt: at(0.5) }, 'i-late'));
    expect(outboxOf([...all, ...late], cursor).pending[0]).toEqual(late[0]);
  });

  it('forgets ids after a minute and still repeats nothing', () => {
    const all = numbered(5);
    const now = epochMs(start + 3_600_000);
    const cursor = advanced(from, { done: all, open: [], transitions: all, now });
    expect(cursor).toEqual({ through: now - 60_000, sent: [] });
    expect(outboxOf(all, cursor).pending).toEqual([]);
  });

  it('does not move past what is undelivered, however long that takes', () => {
    const all = numbered(3);
    const open = all.slice(0, 1);
    const now = epochMs(start + 3_600_000);
    const cursor = advanced(from, { done: all.slice(1), open, transitions: all, now });
    expect(outboxOf(all, cursor).pending).toEqual(open);
  });

  it('gives up the oldest of too many', () => {
    const all = numbered(maxPending + 3);
    const { pending, dropped } = outboxOf(all, from);
    expect(pending).toHaveLength(maxPending);
    expect(dropped).toEqual(all.slice(0, 3));
  });
});

const url = 'https://hooks.example.com/x';
const ok = (data: Readonly<Record<string, string>>): Receiver => {
  const parsed = parseReceiver(data);
  if (parsed.kind === 'ok') return parsed.receiver;
  throw new Error(parsed.why);
};
const hostile =
  '<!channel> <https://evil.example|click> [a](http://b) *x* \u001b[31m\nsecond & third';
const failed = (): Transition => {
  const [told] = drainTransitions(
    drain({ phase: 'Ended', outcome: 'Failed', endedAt: at(9), message: hostile }),
  );
  if (told === undefined) throw new Error('no transition');
  return told;
};

describe('a body', () => {
  it('is a CloudEvent that the SDK of CloudEvents accepts', () => {
    const rendered = renderNotification(failed(), ok({ url }));
    const headers = { 'content-type': rendered?.contentType ?? '' };
    const event = HTTP.toEvent({ headers, body: rendered?.body ?? '' }) as CloudEvent<object>;
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      id: 'uid-i-1/1/node.drain.failed',
      type: 'dev.drover.node.drain.failed.v1',
      source: '/apis/drover.dev/v1alpha1/nodedisruptions/i-1',
      subject: 'n1',
      data: { severity: 'error', nodeGroup: 'web' },
    });
  });

  it('for Slack mentions nobody and links nowhere', () => {
    const { text } = JSON.parse(
      renderNotification(failed(), ok({ url, format: 'slack' }))?.body ?? '',
    );
    expect(text).toMatch(/^Error: n1: drain failed: &lt;!channel&gt; /);
    expect(text).not.toMatch(/[<>\n]|\p{Cc}/u);
    expect(text).toContain('second &amp; third');
  });

  it('for Teams has no markup', () => {
    const body = renderNotification(failed(), ok({ url, format: 'teams' }))?.body ?? '';
    const { text } = JSON.parse(body).attachments[0].content.body[0];
    expect(text).toContain('\\[a\\]\\(http://b\\) \\*x\\*');
    expect(text.replaceAll(/\\./g, '')).not.toMatch(/[<>[\]*_`]/);
  });

  it('for PagerDuty opens and resolves one incident, and says nothing else', () => {
    const receiver = ok({ format: 'pagerduty', routingKey: 'r' });
    expect(receiver.url).toBe('https://events.pagerduty.com/v2/enqueue');
    const told = drainTransitions(
      drain({
        phase: 'Ended',
        outcome: 'Forced',
        markedAt: at(0),
        forcingSince: at(1),
        endedAt: at(2),
      }),
    ).map((one) => renderNotification(one, receiver)?.body);
    const bodies = told.map((body) => (body === undefined ? undefined : JSON.parse(body)));
    expect(bodies.map((body) => body?.event_action)).toEqual([undefined, 'trigger', 'resolve']);
    expect(bodies[1].dedup_key).toBe(bodies[2].dedup_key);
    expect(bodies[1].payload.severity).toBe('warning');
  });

  it('is left out for types that were not asked for', () => {
    const receiver = ok({ url, types: 'nodegroup.update, node.drain.failed' });
    expect(receiver.types).toHaveLength(5);
    expect(renderNotification(failed(), receiver)).toBeDefined();
    const [begun] = drainTransitions(drain({ markedAt: at(0) }));
    expect(begun && renderNotification(begun, receiver)).toBeUndefined();
    expect(Object.keys(transitionTypes)).toHaveLength(15);
  });
});

describe('a Secret', () => {
  const sound = { url, signingKey: `whsec_${btoa('k'.repeat(32))}` };
  it('with a signing key is used without its prefix', () => {
    expect(ok(sound).signingKey).toBe(btoa('k'.repeat(32)));
  });

  it.each([
    [{}, /url/],
    [{ url: 'hooks' }, /url/],
    [{ url, format: 'discord' }, /format/],
    [{ url, signingKey: 'hunter2' }, /whsec_/],
    [{ format: 'pagerduty' }, /routingKey/],
    [{ url, types: 'node.drained' }, /types/],
    [{ url, token: 'hunter2' }, /unknown key token/],
  ])('%j is refused without a value being repeated', (data, why) => {
    const parsed = parseReceiver(data as Readonly<Record<string, string>>);
    expect(parsed).toEqual({ kind: 'unusable', why: expect.stringMatching(why) });
    expect(JSON.stringify(parsed)).not.toMatch(/hunter2|hooks\.example/);
  });
});

it('a test event has a form for every format, and pages nobody', () => {
  const event = testTransition(epochMs(start));
  for (const format of ['cloudevents', 'slack', 'teams', 'pagerduty'] as const) {
    const receiver = { format, url: 'https://h.example', routingKey: 'r' };
    expect(renderNotification(event, receiver)?.body).toBeDefined();
    if (format !== 'pagerduty') continue;
    expect(renderNotification(event, receiver)?.body).toContain('"event_action":"resolve"');
  }
});
