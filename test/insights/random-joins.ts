// Random joins of a log with itself, in the three languages of random-queries.ts. A row that lacks the field is equal to
// none in all of them.
import fc from 'fast-check';
import { type Asked, condition } from './random-queries.ts';

export const joined: fc.Arbitrary<Asked> = fc
  .tuple(
    fc.constantFrom('inner', 'left'),
    fc.constantFrom('verb', 'agent', 'resource', 'code', 'note'),
    condition,
    fc.integer({ min: 200, max: 210 }),
  )
  .map(([type, key, where, code]): Asked => {
    const without = type === 'left' ? '[[$a.seq, null, null]]' : '[]';
    const pairs = `[$r[] | select(.${key} != null and .${key} == $a.${key}) | [$a.seq, .seq, .took]]`;
    return {
      ours: `filter ${where.ours} | join type=${type} left=a right=b where a.${key} = b.${key} (filter code >= ${code}) | sort a.seq, b.seq | display a.seq, b.seq, b.took`,
      jq: `[$all[] | select(.code >= ${code})] as $r | $all | map(select(${where.jq})) | map(. as $a | ${pairs} | if . == [] then ${without} else . end) | add // []`,
      sql: `select a.seq, b.seq, b.took from (select * from log where ${where.sql}) a ${type} join (select * from log where code >= ${code}) b on a.${key} = b.${key} order by a.seq, b.seq`,
    };
  });
