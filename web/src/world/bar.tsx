// The embedded world's bar: its time and speed, its faults, and the tour. A real cluster has no
// bar.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { speed } from '../clock.ts';
import { visible } from '../format.ts';
import {
  askWorld,
  type Fault,
  refreshWorld,
  worldFaults,
  worldIsBusy,
  worldMessage,
} from './ask.ts';
import { FaultDialog } from './faults.tsx';
import { toggleTour, tourIsOpen } from './tour.tsx';

const speeds = [1, 10, 60] as const;
const steps = [
  ['1 min', 60],
  ['15 min', 900],
  ['1 h', 3_600],
] as const;

const Speeds = () => (
  <fieldset class="segments">
    <legend class="unseen">Speed of the world</legend>
    {speeds.map((factor) => (
      <button
        key={factor}
        type="button"
        aria-pressed={speed.value === factor}
        onClick={() => void askWorld('speed', { speed: factor })}
      >
        ×{factor}
      </button>
    ))}
  </fieldset>
);

const Steps = () => (
  <fieldset class="segments">
    <legend class="unseen">Run ahead</legend>
    {steps.map(([name, seconds]) => (
      <button
        key={name}
        type="button"
        disabled={worldIsBusy.value}
        onClick={() => void askWorld('advance', { seconds })}
      >
        +{name}
      </button>
    ))}
  </fieldset>
);

const faultText = ({ kind, target = {} }: Fault): string =>
  [kind, ...Object.values(target)].map(visible).join(' ');

export const WorldBar = () => {
  const isOpen = useSignal(false);
  useEffect(() => {
    void refreshWorld();
  }, []);
  const faults = worldFaults.value;
  return (
    <section class="worldbar" aria-label="Embedded world">
      <b>World</b>
      <Speeds />
      <Steps />
      <button
        type="button"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        Inject a fault
      </button>
      {faults.length > 0 && (
        <button type="button" class="on" onClick={() => void askWorld('clear', {})}>
          Clear{' '}
          {faults.length === 1 && faults[0] ? faultText(faults[0]) : `${faults.length} faults`}
        </button>
      )}
      <button type="button" aria-pressed={tourIsOpen()} onClick={toggleTour}>
        Tour
      </button>
      <span class="worldmessage" role="status">
        {worldMessage.value === ''
          ? worldIsBusy.value && 'running ahead'
          : visible(worldMessage.value)}
      </span>
      {isOpen.value && (
        <FaultDialog
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </section>
  );
};
