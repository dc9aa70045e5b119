// A timeline as rows: time, a bar or dot on a common time axis, and text. A span that has not ended
// reaches to the present and is dashed.
import type { PageMoment } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { dayAndTime, duration } from '../format.ts';
import { At, Text } from './basics.tsx';

const recentMs = 6 * 3_600_000;

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * From the first displayed moment to the present; an old creation time would compress everything
 * else.
 */
const spanOf = (moments: readonly PageMoment[], present: number): Span => {
  const times = moments.map(({ at }) => Date.parse(at));
  const ends = moments.map(({ at, until, isOpen }) => (isOpen ? present : Date.parse(until ?? at)));
  const to = Math.max(...ends, ...times);
  const from = Math.min(...times);
  return { from, to: to === from ? to + 1 : to };
};

const Row = ({ moment, span }: { readonly moment: PageMoment; readonly span: Span }) => {
  const { at, until, isOpen, what, tone } = moment;
  const start = Date.parse(at);
  const end = isOpen ? now.value : until === null ? start : Date.parse(until);
  const place = (ms: number): number =>
    Math.min(100, Math.max(0, ((ms - span.from) / (span.to - span.from)) * 100));
  const isSpan = isOpen || until !== null;
  return (
    <li class={`moment ${tone}${isOpen ? ' open' : ''}`}>
      <At at={at} />
      <span class="rail" aria-hidden="true" title={`${dayAndTime(start)} UTC`}>
        <i
          class={isSpan ? 'bar' : 'dot'}
          style={{
            insetInlineStart: `${place(start)}%`,
            ...(isSpan ? { inlineSize: `${Math.max(0.4, place(end) - place(start))}%` } : {}),
          }}
        />
      </span>
      <span class="momenttext">
        <Text text={what} />
        {isSpan && (
          <span class="quiet num">
            {' '}
            {isOpen ? 'for ' : ''}
            {duration(end - start)}
          </span>
        )}
      </span>
    </li>
  );
};

/** The axis starts with the recent moments: an old creation would leave no room for the rest. */
export const Timeline = ({ moments }: { readonly moments: readonly PageMoment[] }) => {
  const present = now.value;
  const recent = moments.filter(({ at }) => present - Date.parse(at) < recentMs);
  const scope = recent.length >= 2 ? recent : moments;
  if (moments.length === 0) return null;
  const span = spanOf(scope, present);
  return (
    <ol class="timeline">
      {moments.map((moment) => (
        <Row key={`${moment.at} ${moment.what}`} moment={moment} span={span} />
      ))}
    </ol>
  );
};
