// The account of the credentials, from a server that answers as STS does.
import { afterEach, describe, expect, it } from 'vitest';
import { provisioningBefore } from '../../../test/builders/adapters-aws.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const apiWith = async (status: number, xml: string) => {
  const before = await provisioningBefore((response) => {
    response.writeHead(status, { 'content-type': 'text/xml' }).end(xml);
  });
  cleanups.push(before.end);
  return before;
};

const answer = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <GetCallerIdentityResult>
    <Arn>arn:aws:iam::111122223333:user/ada</Arn>
    <UserId>AIDA</UserId>
    <Account>111122223333</Account>
  </GetCallerIdentityResult>
</GetCallerIdentityResponse>`;
const refusal = `<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>
  <Message>The security token included in the request is expired</Message></Error></ErrorResponse>`;

describe('the account of the credentials', () => {
  it('is asked for by the query protocol, signed for STS', async () => {
    const { api, asked } = await apiWith(200, answer);
    expect(await api.callerAccount()).toBe('111122223333');
    const [{ headers, body } = { headers: {}, body: '' }] = asked;
    expect(body).toBe('Action=GetCallerIdentity&Version=2011-06-15');
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(headers.authorization).toMatch(/Credential=AKIA\/\d{8}\/eu-west-1\/sts\/aws4_request, /);
  });

  it('is an error of the cloud where STS refuses', async () => {
    const { api } = await apiWith(403, refusal);
    const refused = api.callerAccount();
    await expect(refused).rejects.toMatchObject({ name: 'CloudError', code: 'AccessDenied' });
    await expect(refused).rejects.toThrow(/^GetCallerIdentity: The security token .* is expired/);
  });
});
