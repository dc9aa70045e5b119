// MD5 in hex, for the MD5OfBody fields that SQS clients verify. Not for security.
import { createHash } from 'node:crypto';

export function md5Hex(data: string | Uint8Array): string {
  return createHash('md5').update(data).digest('hex');
}
