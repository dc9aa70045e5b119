// Cost of the journal: status writes of a disruption per episode, without heartbeats and refreshed
// blockers, and API requests per drained node. Mostly reports figures; only a number far above the
// target of 8 writes is a violation.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Oracle } from '../oracle.ts';
import { endsPod, succeeded } from '../state/book.ts';
import { microsPerMinute, objectsOf } from '../state/read.ts';

/**
 * A smooth drain needs 8 writes. Restarts and late causes need more; three times as many is a leak.
 */
const maxSteps = 24;
/** One heartbeat every ten seconds, and occasional progress. */
const refreshesPerMinute = 10;

/** Fields that a refresh rewrites without progress of the drain. */
const refreshed = new Set([
  'waitingOn',
  'waitingOnTotal',
  'podsRemaining',
  'podsTotal',
  'progressAt',
  'conditions',
  'observedGeneration',
  'message',
  // Written once by each new leader.
  'leaderEpoch',
]);

const withoutHeartbeats = (hooks: unknown): string =>
  JSON.stringify(objectsOf(hooks).map(({ lastHeartbeatAt: _seen, ...rest }) => rest));

/** Whether the write records progress of the drain. */
const isStep = (before: JsonObject, after: JsonObject): boolean => {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) {
    if (refreshed.has(key) || before[key] === after[key]) continue;
    if (key === 'hooks') {
      if (withoutHeartbeats(before.hooks) !== withoutHeartbeats(after.hooks)) return true;
    } else if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) return true;
  }
  return false;
};

interface Episode {
  readonly name: string;
  readonly startedAt: number;
  steps: number;
  refreshes: number;
}

export const economics: Oracle = {
  name: 'journal-economics',
  what:
    'a disruption is written few times per episode, heartbeats and progress only ' + 'occasionally',
  strategies: both,
  needs: ['object'],
  watch: ({ book, saw, report, figure }) => {
    const episodes = new Map<string, Episode>();
    let drained = 0;
    let sentAway = 0;
    let requests = 0;
    const judge = (episode: Episode): void => {
      const { name, steps, refreshes } = episode;
      saw();
      figure('journal writes per episode, most', steps);
      figure('journal refreshes per episode, most', refreshes);
      if (steps > maxSteps) report({ subject: name, message: `${steps} journal writes` });
      const minutes = (book.now - episode.startedAt) / microsPerMinute;
      const bound = maxSteps + refreshesPerMinute * minutes;
      if (refreshes > bound) {
        report({ subject: name, message: `${refreshes} refreshes in ${Math.ceil(minutes)} min` });
      }
    };
    return {
      request: (entry) => {
        if (!book.isOurs(entry)) return;
        if (entry.resource !== 'pods' && entry.resource !== 'nodes') return;
        requests++;
        if (endsPod(entry) && succeeded(entry)) sentAway++;
      },
      object: (entry) => {
        const { at } = entry;
        const one = book.disruptionIn(entry);
        if (one === undefined || one.phase === '') return;
        const before = objectOr(objectOr(one.previous).status);
        const after = objectOr(one.object.status);
        // Only the spec changed: a cause was added.
        if (before === after) return;
        const key = `${one.name} episode ${one.episode}`;
        const episode = episodes.get(key) ?? { name: key, startedAt: at, steps: 0, refreshes: 0 };
        episodes.set(key, episode);
        if (isStep(before, after)) episode.steps++;
        else episode.refreshes++;
        if (one.phase !== 'Ended') return;
        if (one.outcome === 'Drained' || one.outcome === 'Forced') drained++;
        judge(episode);
        episodes.delete(key);
      },
      end: () => {
        for (const episode of episodes.values()) judge(episode);
        if (drained === 0) return;
        figure('requests per drained node beyond one per pod', (requests - sentAway) / drained);
      },
    };
  },
};
