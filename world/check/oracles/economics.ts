// The journal's economy: how often a disruption's status is written per episode, heartbeats and
// refreshed blockers apart, and what one drained node costs in requests. Figures first; only what
// is far beyond the target (8 writes) is a violation.
import { type JsonObject, objectOr } from '../../../src/api/json.ts';
import { both, type Oracle } from '../oracle.ts';
import { endsPod, succeeded } from '../state/book.ts';
import { microsPerMinute, objectsOf } from '../state/read.ts';

/** Restarts and late causes write more than the 8 of a smooth drain; three times that is a leak. */
const maxSteps = 24;
/** A heartbeat every ten seconds, and something to tell now and then. */
const refreshesPerMinute = 10;

/** Written again while nothing but time went on. */
const refreshed = new Set([
  'waitingOn',
  'waitingOnTotal',
  'podsRemaining',
  'podsTotal',
  'progressAt',
  'conditions',
  'observedGeneration',
  'message',
  // One write for each leader that takes over, however often that is.
  'leaderEpoch',
]);

const withoutHeartbeats = (hooks: unknown): string =>
  JSON.stringify(objectsOf(hooks).map(({ lastHeartbeatAt: _seen, ...rest }) => rest));

/** True when the write took the journal a step further. */
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
    'a disruption is written few times per episode, its heartbeats and progress only now and ' +
    'then',
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
        // A write of the spec alone: a cause came in.
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
