// Whether a text is an IP address or a CIDR, as Go's netip reads them, which nodeadm and the
// kubelet go by: no leading zeros, no zone; and which IPv4 addresses a block has.

const isIpv4 = (text: string): boolean => {
  const numbers = text.split('.');
  return (
    numbers.length === 4 &&
    numbers.every((one) => /^(?:0|[1-9]\d{0,2})$/.test(one) && Number(one) <= 255)
  );
};

/** Of the colon-separated groups on one side of `::`; undefined: one is none. */
const groupsIn = (side: string, mayEndAsIpv4: boolean): number | undefined => {
  if (side === '') return 0;
  const groups = side.split(':');
  const last = groups.at(-1) ?? '';
  const isMixed = mayEndAsIpv4 && last.includes('.');
  if (isMixed && !isIpv4(last)) return undefined;
  const plain = isMixed ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return plain.length + (isMixed ? 2 : 0);
};

const isIpv6 = (text: string): boolean => {
  const sides = text.split('::');
  const [head = '', tail] = sides;
  if (sides.length > 2) return false;
  const [left, right] = [groupsIn(head, tail === undefined), groupsIn(tail ?? '', true)];
  if (left === undefined || right === undefined) return false;
  return tail === undefined ? left === 8 : left + right < 8;
};

export const isAddress = (text: string): boolean => isIpv4(text) || isIpv6(text);

export const isCidr = (text: string): boolean => {
  const [, address = '', bits = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  return isIpv4(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
};

const numberOf = (ipv4: string): number =>
  ipv4.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

/** Whether an IPv4 address is one of the block; of anything else: no. */
export const hasAddress = (cidr: string, address: string): boolean => {
  const [first = '', bits = ''] = cidr.split('/');
  if (!isCidr(cidr) || !isIpv4(first) || !isIpv4(address)) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(first) / size) === Math.floor(numberOf(address) / size);
};
