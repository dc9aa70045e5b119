// Canaries of the oracle about certificates.

import { describe, expect, it } from 'vitest';
import { defined } from '../../../src/api/defined.ts';
import { aRequest, type WantedRequest } from '../../../src/formats/index.ts';
import { i1, judge, kubectl, Story } from '../../../test/builders/world-check.ts';
import { certificates } from './certificates.ts';

const n1 = 'ip-10-0-0-1.ec2.internal';
const own = { commonName: `system:node:${n1}`, dnsNames: [n1], ipAddresses: ['10.0.0.1'] };

const asked = (
  wanted: WantedRequest,
  how: {
    readonly user?: string;
    readonly by?: string;
    readonly condition?: string;
    readonly state?: string;
  } = {},
): Story => {
  const { user = own.commonName, by, condition = 'Approved', state = 'running' } = how;
  const story = new Story({ settled: true });
  const record = { privateDnsName: n1, addresses: ['10.0.0.1'] };
  story.add({ kind: 'instance', at: story.micros, instanceId: i1, state: 'running', ...record });
  story.at(5).add({ kind: 'instance', at: story.micros, instanceId: i1, state });
  return story
    .at(10)
    .object('certificatesigningrequests', {
      metadata: { name: 'csr-1', uid: 'c' },
      spec: { request: btoa(aRequest(wanted)), username: user },
    })
    .request({
      verb: 'patch',
      resource: 'certificatesigningrequests',
      subresource: 'approval',
      name: 'csr-1',
      ...defined({ by }),
      body: { status: { conditions: [{ type: condition }] } },
    });
};

describe('certificates-name-their-instance', () => {
  it('accepts what is the instance’s own', () => {
    expect(judge(certificates, asked(own))).toEqual({ said: [], saw: 1 });
  });

  it.each([
    ['an address of somebody else', { ...own, ipAddresses: ['10.0.0.2'] }, {}, /10\.0\.0\.2 is no/],
    ['a foreign name', { ...own, dnsNames: [`${n1}.example.com`] }, {}, /is no name of/],
    ['somebody who is not the node', own, { user: 'ann' }, /ann asked to be/],
    [
      'a node that no instance is',
      { ...own, commonName: 'system:node:n2' },
      {
        user: 'system:node:n2',
      },
      /no living instance is n2/,
    ],
    ['an instance that has ended', own, { state: 'terminated' }, /no living instance/],
    ['a subject that is no node', { ...own, commonName: 'admin' }, {}, /admin is no node/],
    ['a denial', own, { condition: 'Denied' }, /was denied/],
  ] as const)('finds %s', (_, wanted, how, words) => {
    expect(judge(certificates, asked(wanted, how)).said.join()).toMatch(words);
  });

  it('leaves approvals of others alone', () => {
    const foreign = asked({ ...own, ipAddresses: ['10.0.0.2'] }, { by: kubectl });
    expect(judge(certificates, foreign)).toEqual({ said: [], saw: 0 });
  });
});
