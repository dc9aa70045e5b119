// Announces to a screen reader what the fleet waits for, at most once in ten seconds.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { connection } from '../connection.ts';
import { headline } from '../derived.ts';

const everyMs = 10_000;
/** Removes the duration, which changes every second and is not announced. */
const withoutTime = (text: string): string => text.replace(/ for [\dhdms ]+\.$/, '.');

export const LiveRegion = () => {
  const said = useSignal('');
  useEffect(() => {
    const timer = setInterval(() => {
      const { wait } = headline.peek();
      const text = connection.peek() === 'live' ? wait : `The connection is ${connection.peek()}.`;
      if (withoutTime(text) !== withoutTime(said.peek())) said.value = text;
    }, everyMs);
    return () => clearInterval(timer);
  }, [said]);
  return (
    <p class="unseen" aria-live="polite">
      {said.value}
    </p>
  );
};
