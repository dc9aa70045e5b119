// Progress of long commands in eksctl's format: time, mark, sentence. Only prints.
import type { CliContext } from './context.ts';

const marks = { info: 'ℹ', done: '✔', warning: '!', failed: '✖' } as const;

export interface Progress {
  info(text: string): void;
  done(text: string): void;
  warning(text: string): void;
  failed(text: string): void;
}

/** `2022-09-25 12:58:38 [ℹ]  text`, in UTC. */
export const progressOf = (context: Pick<CliContext, 'out' | 'clock'>): Progress => {
  const line = (mark: keyof typeof marks) => (text: string) => {
    const time = new Date(context.clock.now()).toISOString().slice(0, 19).replace('T', ' ');
    context.out(`${time} [${marks[mark]}]  ${text}`);
  };
  return {
    info: line('info'),
    done: line('done'),
    warning: line('warning'),
    failed: line('failed'),
  };
};
