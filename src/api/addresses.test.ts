// Which texts are addresses and CIDRs, compared with node's own parser of addresses.
import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAddress, isCidr } from './addresses.ts';

describe('an address', () => {
  it.each(['10.100.0.10', '0.0.0.0', '::', '::1', 'fd00:ec2::254', '1::', '::ffff:10.0.0.1'])(
    'is %s',
    (text) => expect(isAddress(text)).toBe(true),
  );
  it.each([
    '300.1.1.10',
    '10.0.0',
    '10.0.0.0.1',
    '010.0.0.1',
    '10.0.0.-1',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    ':1',
    ':::',
    'fd00::g',
    'fe80::1%eth0',
    '10.0.0.1 ',
    '',
  ])('is not %j', (text) => expect(isAddress(text)).toBe(false));

  it('is what node takes for one, zones apart', () => {
    const part = fc.constantFrom('0', '1', 'ff', '256', '255', ':', '::', '.', '10.0.0.1', 'g', '');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 16 }).map((parts) => parts.join('')),
        (text) => {
          expect(isAddress(text)).toBe(isIP(text) !== 0);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a CIDR', () => {
  it.each(['10.100.0.0/16', '0.0.0.0/0', 'fd00:10::/108', '::/128'])('is %s', (text) =>
    expect(isCidr(text)).toBe(true),
  );
  it.each([
    '300.1.1.0/99',
    '10.0.0.0/33',
    '10.0.0.0',
    '10.0.0.0/016',
    '::/129',
    '10.0.0.0/8/8',
    '/8',
  ])('is not %j', (text) => expect(isCidr(text)).toBe(false));
});
