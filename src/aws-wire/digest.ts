// MD5 in hex, for the MD5OfBody fields by which SQS clients check what they got. Not for security.
import { createHash } from 'node:crypto';

export function md5Hex(data: string | Uint8Array): string {
  return createHash('md5').update(data).digest('hex');
}
