// Small parts that every view uses: names, times, states, the block with a row's blocker. Text from
// the cluster is always inserted as plain text.
import type { ComponentChildren } from 'preact';
import type { PageIssue, PageWait } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { clockTime, dayAndTime, duration, shortNode, timePattern, visible } from '../format.ts';
import { link } from '../route.ts';
import type { Tone } from '../words.ts';

export const NodeLink = ({ name }: { readonly name: string }) => (
  <a class="name" href={link('node', name)} title={visible(name)}>
    <bdi>{shortNode(name)}</bdi>
  </a>
);

export const GroupLink = ({ name }: { readonly name: string | null }) =>
  name === null || name === '' ? (
    <span class="quiet">no group</span>
  ) : (
    <a class="name" href={link('group', name)} title={visible(name)}>
      <bdi>{visible(name)}</bdi>
    </a>
  );

export const UpdateLink = ({ id }: { readonly id: string }) => (
  <a class="name mono" href={link('update', id)} title={visible(id)}>
    <bdi>{visible(id.split('-').at(-1) ?? id)}</bdi>
  </a>
);

/** A text from the server. Its times are shown as times of day, with the full time as title. */
export const Text = ({ text }: { readonly text: string }) => (
  <span dir="auto">
    {visible(text)
      .split(timePattern)
      .map((part, at) => (at % 2 === 1 ? <At key={`${at} ${part}`} at={part} /> : part))}
  </span>
);

/** How long ago. */
export const Since = ({ at }: { readonly at: string | null }) => {
  if (at === null) return <span class="quiet">-</span>;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={`${dayAndTime(ms)} UTC`}>
      {duration(now.value - ms)}
    </time>
  );
};

/** `in 4m 10s`, or `overdue by 12s`. */
export const Until = ({ at }: { readonly at: string }) => {
  const ms = Date.parse(at);
  const left = ms - now.value;
  return (
    <time dateTime={at} title={`${dayAndTime(ms)} UTC`}>
      {left >= 0 ? `in ${duration(left)}` : `overdue by ${duration(-left)}`}
    </time>
  );
};

export const At = ({ at }: { readonly at: string }) => (
  <time class="num" dateTime={at} title={`${dayAndTime(Date.parse(at))} UTC`}>
    {clockTime(Date.parse(at))}
  </time>
);

export const Tag = ({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => <span class={`tag ${tone}`}>{children}</span>;

const endWords = { force: 'pods are deleted', fail: 'the drain fails', none: 'ends' } as const;

/** The elapsed share of the wait as a bar, if the wait has an end. */
const WaitBar = ({ since, until }: { readonly since: string; readonly until: string }) => {
  const from = Date.parse(since);
  const to = Date.parse(until);
  const share = to <= from ? 1 : Math.min(1, Math.max(0, (now.value - from) / (to - from)));
  return (
    <span class="waitbar" aria-hidden="true">
      <span style={{ inlineSize: `${share * 100}%` }} />
    </span>
  );
};

export const WaitTimes = ({ wait }: { readonly wait: PageWait }) => (
  <span class="waittimes">
    {wait.since !== null && (
      <span>
        for <Since at={wait.since} />
      </span>
    )}
    {wait.until !== null && (
      <span>
        {endWords[wait.atEnd ?? 'none']}
        {Date.parse(wait.until) < now.value && ','} <Until at={wait.until} />
      </span>
    )}
    {wait.until === null && wait.cause !== 'progress' && <span>no deadline</span>}
    {wait.more > 0 && <span>and {wait.more} more</span>}
  </span>
);

/** The blocker of a row, with its start and end. */
export const Wait = ({ wait }: { readonly wait: PageWait | null }) => {
  if (wait === null) return <span class="quiet">nothing</span>;
  const isWork = wait.cause === 'progress';
  return (
    <span class={isWork ? 'waitbox moves' : 'waitbox'}>
      <span class="waittext">
        <Text text={wait.text} />
      </span>
      <WaitTimes wait={wait} />
      {wait.since !== null && wait.until !== null && !isWork && (
        <WaitBar since={wait.since} until={wait.until} />
      )}
    </span>
  );
};

/** Health issues with their remedies. */
export const Issues = ({ issues }: { readonly issues: readonly PageIssue[] }) => (
  <>
    {issues.map(({ code, message, remedy }) => (
      <div key={code + message} class="issue">
        <p>
          <Tag tone="bad">{visible(code)}</Tag> <Text text={message} />
        </p>
        {remedy !== null && <p class="quiet">Remedy: {visible(remedy)}</p>}
      </div>
    ))}
  </>
);

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);

/** The command that does or shows the same; copies itself. */
export const Command = ({ text }: { readonly text: string }) => (
  <button
    type="button"
    class="command mono"
    title="Copy"
    onClick={() => void navigator.clipboard?.writeText(text)}
  >
    <span class="unseen">Copy </span>
    <span aria-hidden="true">$ </span>
    {visible(text)}
  </button>
);
