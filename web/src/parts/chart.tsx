// Completed nodes over time, actual and predicted: the band of the reviewed plan, the steps of
// actual progress, and the range in which the update will end.
import type { PageUpdate } from '../../../src/api/page.ts';
import { now } from '../clock.ts';
import { clockTime, duration } from '../format.ts';

const width = 800;
const height = 150;
const pad = { top: 8, bottom: 2 };

interface Scale {
  readonly x: (ms: number) => number;
  readonly y: (nodes: number) => number;
}

const stairs = (points: readonly (readonly [number, number])[], { x, y }: Scale): string =>
  points
    .map(([at, done], index) => {
      const here = `${x(at).toFixed(1)} ${y(done).toFixed(1)}`;
      const before = points[index - 1];
      return before === undefined ? `M${here}` : `H${x(at).toFixed(1)}V${y(done).toFixed(1)}`;
    })
    .join('');

const Band = ({
  update,
  scale,
  from,
}: {
  readonly update: PageUpdate;
  readonly scale: Scale;
  readonly from: number;
}) => {
  const { predicted, total } = update;
  if (predicted === null || total === null) return null;
  const { x, y } = scale;
  const start = `${x(from)},${y(0)}`;
  const [fast, slow] = [predicted.p50, predicted.p90].map(
    (s) => `${x(from + s * 1_000)},${y(total)}`,
  );
  return (
    <>
      <polygon class="plan" points={`${start} ${fast} ${slow}`} />
      <polyline class="planline" points={`${start} ${fast}`} />
    </>
  );
};

const Ending = ({ update, scale }: { readonly update: PageUpdate; readonly scale: Scale }) => {
  const { eta, total, done, ended } = update;
  if (eta === null || total === null || ended !== null) return null;
  const { x, y } = scale;
  const here = `${x(now.value)},${y(done)}`;
  const [fast, slow] = [eta.p50, eta.p90].map((at) => `${x(Date.parse(at))},${y(total)}`);
  return (
    <>
      <polygon class="eta" points={`${here} ${fast} ${slow}`} />
      <polyline class="etaline" points={`${here} ${fast}`} />
    </>
  );
};

const sentence = ({ done, total, eta, predicted }: PageUpdate): string => {
  const parts = [`${done} of ${total ?? 0} nodes done`];
  if (predicted !== null) parts.push(`the plan predicted ${duration(predicted.p50 * 1_000)}`);
  if (eta !== null) parts.push(`half of such updates end ${clockTime(Date.parse(eta.p50))} UTC`);
  return parts.join('; ');
};

export const Chart = ({ update }: { readonly update: PageUpdate }) => {
  const { started, ended, total, pace, predicted, eta } = update;
  if (started === null || total === null || total === 0) return null;
  const from = Date.parse(started);
  const present = ended === null ? now.value : Date.parse(ended);
  const planEnd = predicted === null ? 0 : from + predicted.p90 * 1_000;
  const etaEnd = eta === null || ended !== null ? 0 : Date.parse(eta.p90);
  const to = Math.max(present, planEnd, etaEnd, from + 60_000);
  const scale: Scale = {
    x: (ms) => ((ms - from) / (to - from)) * width,
    y: (nodes) => height - pad.bottom - (nodes / total) * (height - pad.top - pad.bottom),
  };
  const known = pace.map(({ at, done }) => [Date.parse(at), done] as const);
  const points = [[from, 0] as const, ...known, [present, update.done] as const];
  const middle = from + (to - from) / 2;
  return (
    <figure class="chart">
      <p class="scale num">
        <span>{total} nodes</span>
      </p>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sentence(update)}
      >
        <line class="axis" x1={0} x2={width} y1={scale.y(0)} y2={scale.y(0)} />
        <line class="grid" x1={0} x2={width} y1={scale.y(total)} y2={scale.y(total)} />
        <Band update={update} scale={scale} from={from} />
        <Ending update={update} scale={scale} />
        <path class="actual" d={stairs(points, scale)} />
        {ended === null && (
          <line
            class="nowline"
            x1={scale.x(present)}
            x2={scale.x(present)}
            y1={pad.top}
            y2={scale.y(0)}
          />
        )}
      </svg>
      <p class="scale num">
        <span>{clockTime(from)}</span>
        <span>{clockTime(middle)}</span>
        <span>{clockTime(to)}</span>
      </p>
      <figcaption class="quiet">
        Nodes done over time.
        {predicted !== null && ' Grey: what the plan predicted, half and nine of ten.'}
        {eta !== null && ended === null && ' Blue: when it ends, half and nine of ten.'}
      </figcaption>
    </figure>
  );
};
