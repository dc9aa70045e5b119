import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { addController, createPki } from './index.ts';

it('a world of an earlier version gets its controller certificate from the authority it has', async () => {
  const { controller: first, ...earlier } = await createPki(Date.now());
  const { controller, ...others } = await addController(earlier, Date.now());
  expect(others).toEqual(earlier);
  expect(controller.key).not.toBe(first.key);
  const authority = new X509Certificate(earlier.ca.certificate);
  for (const { certificate, key } of [first, controller]) {
    const issued = new X509Certificate(certificate);
    expect(issued.subject).toBe('CN=eks:node-manager');
    expect(issued.verify(authority.publicKey)).toBe(true);
    expect(issued.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(issued.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  }
});
