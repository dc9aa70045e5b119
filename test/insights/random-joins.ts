// Random joins of a log with itself and columns put beside each other, in the three languages of
// random-queries.ts. A row that lacks the field of a join is equal to none in all of them.
import fc from 'fast-check';
import { type Asked, condition } from './random-queries.ts';

const matched: fc.Arbitrary<Asked> = fc
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

const appended = fc
  .tuple(condition, fc.integer({ min: 200, max: 210 }), fc.integer({ min: 1, max: 20 }))
  .map(([where, code, max]): Asked => {
    const numbered = 'row_number() over (order by seq) as place';
    return {
      ours: `filter ${where.ours} | sort seq | appendcols max=${max} (filter code >= ${code} | sort seq | display took as other) | display seq, other`,
      jq: `[$all[] | select(.code >= ${code})][:${max}] as $r | $all | map(select(${where.jq})) | to_entries | map([.value.seq, $r[.key].took])`,
      sql: `select a.seq, b.took from (select *, ${numbered} from log where ${where.sql}) a left join (select took, ${numbered} from log where code >= ${code} order by seq limit ${max}) b using (place) order by place`,
    };
  });

export const joined = fc.oneof(matched, appended);
