// Real output of the kernel and its tools, and arbitrary text in its place.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isRuleOfInterest,
  maxLineLength,
  parseEbsLimits,
  parseFileHandles,
  parseInterfaceCounters,
  parseJournalEntry,
  parseKernelRecord,
  parseMounts,
  parseNftRules,
  parsePodAddresses,
  parsePressure,
  parseProcessStat,
  parseRouteRules,
  parseRoutes,
  parseSavedRules,
  parseThreadCount,
  parseUnits,
} from './index.ts';

describe('kernel records', () => {
  it('give facility, level, sequence, time and text', () => {
    const record =
      '6,344,883001991,-;traps: ud2[18703] trap invalid opcode ip:55e8331ad12d\n SUBSYSTEM=block\n DEVICE=b7:0\n';
    expect(parseKernelRecord(record)).toEqual({
      facility: 0,
      level: 6,
      sequence: 344,
      micros: 883001991,
      text: 'traps: ud2[18703] trap invalid opcode ip:55e8331ad12d',
    });
  });

  it('of user space carry another facility than the kernel’s', () => {
    expect(parseKernelRecord('12,345,1,-;BUG: forged')?.facility).toBe(1);
    expect(parseKernelRecord('30,345,1,-;systemd[1]: Started x')?.facility).toBe(3);
  });

  it.each([
    '',
    'no record',
    ';',
    'a,b,c;x',
    '6,1;x',
    '6,1,2',
    '-1,2,3,-;x',
    '99999999999999999,1,1,-;x',
  ])('that are none are left out: %j', (text) => expect(parseKernelRecord(text)).toBeUndefined());

  it('have their bytes back and are cut', () => {
    expect(parseKernelRecord('6,1,2,-;a\\x0ab\\x5cc')?.text).toBe('a\nb\\c');
    expect(parseKernelRecord(`6,1,2,-;${'x'.repeat(3_000_000)}`)?.text).toHaveLength(maxLineLength);
  });
});

describe('journal entries', () => {
  const of = (fields: object): string =>
    JSON.stringify({ __CURSOR: 's=1', __REALTIME_TIMESTAMP: '1700000000000001', ...fields });

  it('give cursor, time, unit and text', () => {
    const entry = of({
      MESSAGE: 'hi',
      _SYSTEMD_UNIT: 'kubelet.service',
      SYSLOG_IDENTIFIER: 'kubelet',
    });
    expect(parseJournalEntry(entry)).toEqual({
      cursor: 's=1',
      micros: 1700000000000001,
      unit: 'kubelet.service',
      identifier: 'kubelet',
      facility: undefined,
      text: 'hi',
    });
  });

  it('may hold bytes, or several texts, for one', () => {
    expect(parseJournalEntry(of({ MESSAGE: 'x', SYSLOG_FACILITY: '3' }))?.facility).toBe(3);
    expect(parseJournalEntry(of({ MESSAGE: [104, 195, 164, 255] }))?.text).toBe('hä\ufffd');
    expect(parseJournalEntry(of({ MESSAGE: ['first', 'second'] }))?.text).toBe('first');
    expect(parseJournalEntry(of({ MESSAGE: [[104, 105], 'x'] }))?.text).toBe('hi');
  });

  it.each(['', '{', '[]', '1', of({}), of({ MESSAGE: null }), of({ MESSAGE: 'x', __CURSOR: 1 })])(
    'that are none are left out: %j',
    (line) => expect(parseJournalEntry(line)).toBeUndefined(),
  );
});

describe('files of /proc', () => {
  it('name processes whatever is in a name', () => {
    expect(parseProcessStat('42 (tmux: server) S 1 42')).toEqual({
      pid: 42,
      name: 'tmux: server',
      state: 'S',
    });
    expect(parseProcessStat('7 (a) Z (b)) Z 1 7')).toEqual({
      pid: 7,
      name: 'a) Z (b)',
      state: 'Z',
    });
    expect(parseProcessStat('')).toBeUndefined();
    expect(parseProcessStat('x (y) S')).toBeUndefined();
  });

  it('count threads, files and stalls', () => {
    expect(parseThreadCount('5.75 2.80 1.17 9/138 14336\n')).toBe(138);
    expect(parseThreadCount('nothing')).toBeUndefined();
    expect(parseFileHandles('790\t0\t2466174\n')).toEqual({ allocated: 790, max: 2466174 });
    expect(parseFileHandles('790')).toBeUndefined();
    const pressure =
      'some avg10=11.45 avg60=4.15 avg300=1.43 total=7544374\nfull avg10=0.00 avg60=0.04 avg300=0.16 total=2338809\n';
    expect(parsePressure(pressure)).toEqual({ fullAverage60: 0.04, fullMicros: 2338809 });
    expect(parsePressure('some avg10=1')).toBeUndefined();
  });

  it('list mounts with both kinds of options', () => {
    const text =
      '36 35 98:0 /mnt1 /mnt\\040two rw,noatime master:1 - ext4 /dev/loop0 rw,emergency_ro,errors=remount-ro\nnonsense\n';
    expect(parseMounts(text)).toEqual([
      {
        point: '/mnt two',
        device: '98:0',
        source: '/dev/loop0',
        type: 'ext4',
        options: ['rw', 'noatime'],
        superOptions: ['rw', 'emergency_ro', 'errors=remount-ro'],
      },
    ]);
  });
});

describe('what tools print', () => {
  it('of an interface are its counters', () => {
    const text =
      'NIC statistics:\n     bw_in_allowance_exceeded: 12\n     queue_0_tx_cnt: 3\n     x: y\n';
    expect([...parseInterfaceCounters(text)]).toEqual([
      ['bw_in_allowance_exceeded', 12],
      ['queue_0_tx_cnt', 3],
    ]);
    expect(parseInterfaceCounters('no stats available\n').size).toBe(0);
  });

  it('of units is one block each', () => {
    const text =
      'Id=kubelet.service\nLoadState=loaded\nActiveState=failed\nNRestarts=7\n\nId=a.service\nNRestarts=x\n';
    expect(parseUnits(text)).toEqual([
      { name: 'kubelet.service', load: 'loaded', active: 'failed', restarts: 7 },
      { name: 'a.service', load: '', active: '', restarts: 0 },
    ]);
  });

  it('of routes are rules, routes and addresses of pods', () => {
    const rules =
      '[{"priority":0,"src":"all","table":"local"},{"priority":512,"src":"all","dst":"10.0.0.5","table":"main"},{"x":1}]';
    expect(parseRouteRules(rules)).toEqual([
      { priority: 0, source: 'all', destination: 'all', table: 'local' },
      { priority: 512, source: 'all', destination: '10.0.0.5', table: 'main' },
    ]);
    expect(parseRoutes('[{"dst":"default","table":2},{"dst":"10.0.0.5"},7]')).toEqual([
      { destination: 'default', table: '2' },
      { destination: '10.0.0.5', table: 'main' },
    ]);
    expect(parseRoutes('Error: x')).toBeUndefined();
    const checkpoint = '{"version":"v1","allocations":[{"ipv4":"10.0.0.5"},{"ipv6":"fd00::5"},{}]}';
    expect(parsePodAddresses(checkpoint)).toEqual(['10.0.0.5', 'fd00::5']);
  });

  it('of an EBS volume is a page of Amazon’s', () => {
    const page = new Uint8Array(512);
    const view = new DataView(page.buffer);
    view.setUint32(0, 0x3c23b510, true);
    view.setBigUint64(56, 1_500_000n, true);
    view.setBigUint64(80, 7n, true);
    expect(parseEbsLimits(page)).toEqual({
      volumeIops: 1_500_000,
      volumeThroughput: 0,
      instanceIops: 0,
      instanceThroughput: 7,
    });
    expect(parseEbsLimits(new Uint8Array(512))).toBeUndefined();
    expect(parseEbsLimits(page.subarray(0, 80))).toBeUndefined();
  });
});

const saved = `# Generated by iptables-save v1.8.9
*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:KUBE-FORWARD - [0:0]
-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP
-A KUBE-FORWARD -m conntrack --ctstate INVALID -m nfacct --nfacct-name ct_invalid -j DROP
-A INPUT -m comment --comment "a \\"quoted\\" -j DROP" -j ACCEPT
-A X -p tcp -m tcp --dport 22 -j LOG
COMMIT
*nat
-A PREROUTING -p tcp -m tcp --dport 10250 -j DNAT --to-destination 10.0.0.1:80
-A PREROUTING -p tcp -m multiport --dports 80,10000:11000 -j DNAT --to-destination 10.0.0.1
-A PREROUTING -p tcp ! --dport 10250 -j DNAT --to-destination 10.0.0.1
COMMIT
`;

describe('iptables-save', () => {
  it('gives what drops, rejects or redirects, and policies that drop', () => {
    const rules = parseSavedRules(saved);
    expect(rules.map(({ table, chain, verdict }) => `${table}/${chain} ${verdict}`)).toEqual([
      'filter/FORWARD policy',
      'filter/OUTPUT drop',
      'filter/KUBE-FORWARD drop',
      'nat/PREROUTING dnat',
      'nat/PREROUTING dnat',
      'nat/PREROUTING dnat',
    ]);
    expect(rules[1]?.text).toBe('-A OUTPUT -d 169.254.169.254/32 -p tcp -j DROP');
    expect(rules.map(({ destinationPorts }) => destinationPorts)).toEqual([
      [],
      [],
      [],
      [{ from: 10250, to: 10250 }],
      [
        { from: 80, to: 80 },
        { from: 10000, to: 11000 },
      ],
      [],
    ]);
  });

  it('is the same when only lines of interest are kept', () => {
    const kept = saved.split('\n').filter(isRuleOfInterest).join('\n');
    expect(kept).not.toContain('LOG');
    expect(parseSavedRules(kept)).toEqual(parseSavedRules(saved));
  });
});

describe('nft -j', () => {
  const nft = (...entries: object[]): string => JSON.stringify({ nftables: entries });
  const payload = (field: string, right: unknown, protocol = 'tcp') => ({
    match: { op: '==', left: { payload: { protocol, field } }, right },
  });

  it('gives rules in nft’s words, and policies that drop', () => {
    const rule = {
      family: 'inet',
      table: 't',
      chain: 'c',
      handle: 2,
      expr: [
        { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } },
        payload('daddr', { prefix: { addr: '169.254.0.0', len: 16 } }, 'ip'),
        { counter: { packets: 0, bytes: 0 } },
        { drop: null },
      ],
    };
    const chain = { family: 'inet', table: 't', name: 'c', hook: 'input', policy: 'drop' };
    const found = parseNftRules(nft({ metainfo: {} }, { chain }, { rule }));
    expect(found?.map(({ verdict, text }) => [verdict, text])).toEqual([
      ['policy', 'inet t c: hook input; policy drop'],
      ['drop', 'inet t c: meta l4proto tcp ip daddr 169.254.0.0/16 drop'],
    ]);
  });

  it('gives redirected ports, sets and ranges of them', () => {
    const rule = (right: unknown) => ({
      rule: { expr: [payload('dport', right), { dnat: { addr: '10.0.0.1', port: 80 } }] },
    });
    const found = parseNftRules(
      nft(rule(10250), rule({ set: [80, { range: [10000, 11000] }] }), rule({ range: [1, 2] })),
    );
    expect(found?.map(({ destinationPorts }) => destinationPorts)).toEqual([
      [{ from: 10250, to: 10250 }],
      [
        { from: 80, to: 80 },
        { from: 10000, to: 11000 },
      ],
      [{ from: 1, to: 2 }],
    ]);
    expect(found?.[0]?.text).toContain('tcp dport 10250 dnat to 10.0.0.1:80');
  });

  it('leaves out rules that let through, and whatever is no such document', () => {
    expect(parseNftRules(nft({ rule: { expr: [{ accept: null }] } }))).toEqual([]);
    expect(parseNftRules('Error: syntax')).toBeUndefined();
    expect(parseNftRules('{"nftables": 1}')).toBeUndefined();
  });
});

describe('no text', () => {
  const parsers = {
    parseKernelRecord,
    parseJournalEntry,
    parseProcessStat,
    parseThreadCount,
    parseFileHandles,
    parsePressure,
    parseMounts,
    parseInterfaceCounters,
    parseUnits,
    parseRouteRules,
    parseRoutes,
    parsePodAddresses,
    parseSavedRules,
    parseNftRules,
  };
  const fragments = fc.constantFrom(
    ...[
      '6,1,2,-;',
      '(',
      ')',
      '"',
      '\\',
      ' - ',
      '-A ',
      '*filter',
      ':X DROP',
      '\n',
      ',',
      '{"nftables":[{"rule":{"expr":[{"drop":null}]}}]}',
    ],
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.oneof(fragments, fc.string({ maxLength: 5 }))).map((parts) => parts.join('')),
    fc.json(),
  );

  it.each(Object.entries(parsers))('makes %s throw', (_name, parse) => {
    fc.assert(
      fc.property(texts, (text) => {
        parse(text);
      }),
      { numRuns: 300 },
    );
  });

  it('makes a record’s text longer than its bound', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40 }),
        fc.integer({ min: 0, max: 5000 }),
        (text, count) => {
          const record = parseKernelRecord(`6,1,2,-;${text.repeat(count)}`);
          expect(record?.text.length ?? 0).toBeLessThanOrEqual(maxLineLength);
        },
      ),
      { numRuns: 200 },
    );
  });
});
