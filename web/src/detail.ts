// Details of one node or update: read once, and again when a row that they depend on has changed, at
// most once a second.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Refused, read } from './connection.ts';

const pauseMs = 1_000;

export interface Detail<T> {
  readonly value: T | undefined;
  /** Why there is none. */
  readonly problem: string;
}

/** `rows`: the rows that it depends on; a new array means that one of them has changed. */
export const useDetail = <T>(
  document: 'node' | 'update',
  name: string,
  rows: readonly unknown[],
): Detail<T> => {
  const detail = useSignal<Detail<T>>({ value: undefined, problem: '' });
  const shown = useRef('');
  const readAt = useRef(0);
  useEffect(() => {
    if (shown.current !== name) {
      shown.current = name;
      readAt.current = 0;
      detail.value = { value: undefined, problem: '' };
    }
    let isGone = false;
    const load = async (): Promise<void> => {
      readAt.current = performance.now();
      try {
        const value = await read<T>(document, { name });
        if (!isGone) detail.value = { value, problem: '' };
      } catch (error) {
        const problem = error instanceof Refused ? error.message : 'no answer from the server';
        if (!isGone) detail.value = { value: detail.peek().value, problem };
      }
    };
    const waitMs = Math.max(0, readAt.current + pauseMs - performance.now());
    const timer = setTimeout(() => void load(), waitMs);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [document, name, ...rows]);
  return detail.value;
};
