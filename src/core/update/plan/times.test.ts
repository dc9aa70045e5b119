// Durations from the activities of an Auto Scaling group and from earlier updates.
import { describe, expect, it } from 'vitest';
import { measuredTimes } from './times.ts';

const ended = (startedAt: string, endedAt: string, cause: string) => ({
  description: 'Terminating EC2 instance: i-1',
  status: 'Successful',
  startedAt,
  endedAt,
  cause,
});
const launched = (startedAt: string, cause: string) => ({
  description: 'Launching a new EC2 instance: i-2',
  status: 'Successful',
  startedAt,
  cause,
});
const missing = 'an instance was started in response to a difference between desired and actual';
const taken = 'At 2026-01-01T00:00:00Z instance i-1 was taken out of service in response to a user';

describe('measured times', () => {
  it('of terminations are those that were asked for by name', () => {
    const activities = [
      ended('2026-01-01T00:00:00Z', '2026-01-01T00:00:30Z', `${taken} request.`),
      ended('2026-01-01T00:00:00Z', '2026-01-01T00:09:00Z', 'a user request changed the size'),
    ];
    const { terminate, launch } = measuredTimes({ activities, setups: [] });
    expect(terminate).toEqual({ p50: 30, p90: 39, source: 'measured on 1 termination' });
    expect(launch).toBeUndefined();
  });

  it('of launches count from the request, or from the termination before', () => {
    const asked = 'At 2026-01-01T00:01:00Z a user request update of AutoScalingGroup constraints.';
    const activities = [
      ended('2026-01-01T00:00:00Z', '2026-01-01T00:00:30Z', `${taken} request.`),
      launched('2026-01-01T00:00:04Z', `At 2026-01-01T00:00:04Z ${missing}`),
      launched('2026-01-01T00:01:06Z', `${asked} At 2026-01-01T00:01:06Z ${missing}`),
    ];
    const { launch } = measuredTimes({ activities, setups: [] });
    expect(launch).toMatchObject({ p50: 6, source: 'measured on 2 launches' });
  });

  it('of a launch with the group itself say nothing', () => {
    const made = 'At 2026-01-01T00:00:00Z a user request created an AutoScalingGroup.';
    const activities = [launched('2026-01-01T00:00:02Z', `${made} ${missing}`)];
    expect(measuredTimes({ activities, setups: [] })).toEqual({});
  });

  it('of preparation are those of earlier updates', () => {
    const { setup } = measuredTimes({ activities: [], setups: [2, 2, 4] });
    expect(setup).toEqual({ p50: 2, p90: 4, source: 'measured on 3 updates' });
  });
});
