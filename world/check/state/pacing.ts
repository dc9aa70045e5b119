// When steps of a group's updates may begin, from the group's spec: windows, freezes and condition
// probes. Reads only the forms that the lives use; any other form counts as always open.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { keyOf, microsPerMinute, microsPerSecond, numberOf, objectsOf, textOf } from './read.ts';

export interface Watched {
  /** Namespace and name of a Deployment. */
  readonly deployment: string;
  readonly type: string;
  readonly status: string;
  readonly intervalMicros: number;
}

export interface Pacing {
  readonly since: number;
  /** The group has windows or freezes. */
  readonly isTimed: boolean;
  readonly isOpenAt: (at: number) => boolean;
  readonly probes: readonly Watched[];
}

const timeOf = (value: unknown): number => Date.parse(textOf(value)) * 1000;

/**
 * Minutes of the hour at which a window opens. Undefined if the cron expression has another form
 * than every n minutes of each hour.
 */
const minutesOf = ({ cron, timeZone }: JsonObject): readonly number[] | undefined => {
  const [minute = '', ...rest] = textOf(cron).split(' ');
  if (timeZone !== undefined || rest.join(' ') !== '* * * *') return undefined;
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (step === undefined) return undefined;
  return Array.from({ length: 60 }, (_, one) => one).filter((one) => one % Number(step) === 0);
};

const inWindow = (window: JsonObject, at: number): boolean => {
  const minutes = minutesOf(window);
  if (minutes === undefined) return true;
  const lasts = (numberOf(window.durationSeconds) ?? 0) * microsPerSecond;
  const minute = Math.floor(at / microsPerMinute);
  const oldest = Math.ceil(lasts / microsPerMinute);
  for (let back = 0; back <= oldest; back++) {
    const opens = (minute - back) * microsPerMinute;
    if (minutes.includes((minute - back) % 60) && at - opens < lasts) return true;
  }
  return false;
};

const isOpen = (config: JsonObject, at: number): boolean => {
  const isFrozen = objectsOf(config.freezes).some(
    ({ from, until }) => at >= timeOf(from) && at < timeOf(until),
  );
  if (isFrozen) return false;
  const windows = objectsOf(config.windows);
  if (windows.length === 0) return config.windowDefault !== 'Closed';
  return windows.some((window) => inWindow(window, at));
};

const defaultIntervalSeconds = 30;

const watchedOf = (probe: JsonObject): readonly Watched[] => {
  const { kind, namespace, name, type, status } = objectOr(probe.condition);
  if (kind !== 'Deployment') return [];
  const seconds = numberOf(probe.intervalSeconds) ?? defaultIntervalSeconds;
  return [
    {
      deployment: keyOf(textOf(namespace), textOf(name)),
      type: textOf(type),
      status: textOf(status) || 'True',
      intervalMicros: seconds * microsPerSecond,
    },
  ];
};

export const pacingOf = (group: JsonObject, since: number): Pacing => {
  const config = objectOr(objectOr(group.spec).updateConfig);
  return {
    since,
    isTimed: [config.windows, config.freezes, config.windowDefault].some(
      (one) => one !== undefined,
    ),
    isOpenAt: (at) => isOpen(config, at),
    probes: objectsOf(config.probes).flatMap(watchedOf),
  };
};

/** The parts of a group's spec that determine its Pacing. */
export const pacingText = (group: JsonObject): string => {
  const { windows, freezes, windowDefault, probes } = objectOr(objectOr(group.spec).updateConfig);
  return JSON.stringify([windows, freezes, windowDefault, probes]);
};
