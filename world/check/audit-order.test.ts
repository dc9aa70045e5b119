// Order of an audit log's lines by their effects: a line written last may describe an earlier
// effect.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { inOrderOfEffects } from './audit-order.ts';

interface Line {
  readonly what: string;
  /** Milliseconds into a second at which the request was received. */
  readonly at: number;
  readonly version?: string;
  readonly of?: string;
  readonly resource?: string;
  readonly verb?: string;
  readonly code?: number;
}

const eventOf = ({ at, version, of, resource, verb, code }: Line): JsonObject => ({
  verb: verb ?? 'patch',
  objectRef: { resource: resource ?? 'nodedisruptions' },
  responseStatus: { code: code ?? 200 },
  ...(version === undefined
    ? {}
    : { responseObject: { metadata: { uid: of ?? version, resourceVersion: version } } }),
  requestReceivedTimestamp: `2026-11-22T18:55:13.${String(at).padStart(3, '0')}000Z`,
});

const ordered = (...lines: readonly Line[]): readonly string[] =>
  inOrderOfEffects(lines, eventOf).map(({ what }) => what);

describe('the lines of an audit log', () => {
  const intent: Line = { what: 'intent', at: 549, version: '483' };

  it('are in the order of versions, whichever the server was done with first', () => {
    const deletion: Line = { what: 'deletion', at: 557, version: '484' };
    expect(ordered(deletion, intent)).toEqual(['intent', 'deletion']);
    expect(ordered(intent, deletion)).toEqual(['intent', 'deletion']);
  });

  it('show an effect before its intent where versions say so, whenever the requests came', () => {
    const early: Line = { what: 'deletion', at: 557, version: '482' };
    expect(ordered(early, intent)).toEqual(['deletion', 'intent']);
    expect(ordered(intent, early)).toEqual(['deletion', 'intent']);
  });

  it('let an eviction, whose answer has no version, stand after a write that was under way', () => {
    const during: Line = { what: 'eviction', at: 557 };
    const before: Line = { what: 'eviction', at: 540 };
    expect(ordered(during, intent)).toEqual(['intent', 'eviction']);
    expect(ordered(before, intent)).toEqual(['eviction', 'intent']);
  });

  it('keep a write behind what had happened before it, whatever came while it was under way', () => {
    const mark: Line = { what: 'mark', at: 560, version: '480' };
    expect(ordered({ what: 'eviction', at: 555 }, mark, intent)).toEqual([
      'eviction',
      'mark',
      'intent',
    ]);
  });

  it('are not moved by writes that changed nothing, failed ones, reads and events', () => {
    const last: Line = { what: 'last', at: 500, version: '490' };
    const old = { at: 600, version: '400', of: 'p1' };
    const first: Line = { ...old, what: 'first', at: 400 };
    const still: readonly Line[] = [
      { ...old, what: 'needless' },
      { ...old, what: 'refused', of: 'p2', code: 409 },
      { ...old, what: 'read', of: 'p3', verb: 'get' },
      { ...old, what: 'event', of: 'p4', resource: 'events' },
    ];
    for (const line of still) {
      expect(ordered(first, last, line)).toEqual(['first', 'last', line.what]);
    }
  });
});
