// The panel of the guided tour: one step at a time, completed when the page observes its effect.
// The address holds the current step.
import { useRef } from 'preact/hooks';
import { choose, route } from '../route.ts';
import { askWorld, worldIsBusy } from './ask.ts';
import { type Chapter, chapters, type Step } from './chapters.ts';

const place = (): { readonly chapter: number; readonly step: number } | undefined => {
  const text = route.value.query.get('tour');
  if (text === null) return undefined;
  const [chapter = 1, step = 1] = text.split('.').map(Number);
  const within = Math.min(Math.max(1, chapter || 1), chapters.length);
  const steps = chapters[within - 1]?.steps.length ?? 1;
  return { chapter: within, step: Math.min(Math.max(1, step || 1), steps) };
};

export const tourIsOpen = (): boolean => place() !== undefined;
export const toggleTour = (): void => choose('tour', tourIsOpen() ? undefined : '1.1');

const goTo = (chapter: number, step: number): void => choose('tour', `${chapter}.${step}`);

const Asks = ({ step }: { readonly step: Step }) => {
  const { ask, ahead, look } = step;
  return (
    <p class="buttons">
      {ask !== undefined && (
        <button
          type="button"
          class="primary"
          disabled={worldIsBusy.value || step.isSeen()}
          onClick={() => void askWorld('tour', { act: ask.act })}
        >
          {ask.label}
        </button>
      )}
      {ahead !== undefined && (
        <button
          type="button"
          disabled={worldIsBusy.value}
          onClick={() => void askWorld('advance', { seconds: ahead.seconds })}
        >
          {ahead.label}
        </button>
      )}
      {look !== undefined && (
        <a class="button" href={look.at()}>
          {look.label}
        </a>
      )}
    </p>
  );
};

const Chapters = ({ at }: { readonly at: number }) => (
  <ol class="chapters">
    {chapters.map(({ title }, index) => (
      <li key={title}>
        <button
          type="button"
          aria-current={index + 1 === at ? 'step' : undefined}
          title={title}
          aria-label={`${index + 1}: ${title}`}
          onClick={() => goTo(index + 1, 1)}
        >
          {index + 1}
        </button>
      </li>
    ))}
  </ol>
);

const Moves = ({ chapter, step, of }: { chapter: number; step: number; of: Chapter }) => {
  const isLast = step === of.steps.length;
  const isEnd = isLast && chapter === chapters.length;
  return (
    <p class="buttons moves">
      <button
        type="button"
        disabled={chapter === 1 && step === 1}
        onClick={() => {
          const before = chapters[chapter - 2];
          if (step > 1) goTo(chapter, step - 1);
          else if (before !== undefined) goTo(chapter - 1, before.steps.length);
        }}
      >
        Back
      </button>
      <button
        type="button"
        onClick={() => {
          if (isEnd) toggleTour();
          else if (isLast) goTo(chapter + 1, 1);
          else goTo(chapter, step + 1);
        }}
      >
        {isEnd ? 'Close the tour' : isLast ? 'Next chapter' : 'Next'}
      </button>
    </p>
  );
};

export const Tour = () => {
  const root = useRef<HTMLElement>(null);
  const here = place();
  const chapter = here === undefined ? undefined : chapters[here.chapter - 1];
  const step = here === undefined ? undefined : chapter?.steps[here.step - 1];
  if (here === undefined || chapter === undefined || step === undefined) return null;
  const isSeen = step.isSeen();
  return (
    <aside class="tour" aria-label="Guided tour" ref={root}>
      <header>
        <Chapters at={here.chapter} />
        <span class="quiet num">
          step {here.step} of {chapter.steps.length}
        </span>
        <button type="button" class="plainlink" onClick={toggleTour}>
          Close
        </button>
      </header>
      <h2>{chapter.title}</h2>
      <p>{step.text}</p>
      <Asks step={step} />
      <p class={isSeen ? 'sight seen' : 'sight'} role="status">
        {isSeen ? `Seen: ${step.waits}` : `Waits for ${step.waits}`}
      </p>
      <Moves chapter={here.chapter} step={here.step} of={chapter} />
    </aside>
  );
};
