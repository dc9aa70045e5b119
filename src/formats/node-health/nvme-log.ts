// The log page of an EBS volume's NVMe controller (0xD0 of Amazon's controllers): how long the
// volume or its instance was throttled. Layout as published with amazon-ec2-utils.

export const ebsLogPage = 0xd0;
/** Number of bytes to request: contains all fields read here. */
export const ebsLogLength = 96;
const magic = 0x3c23b510;

/** Microseconds since the volume was attached. */
export interface EbsLimits {
  readonly volumeIops: number;
  readonly volumeThroughput: number;
  readonly instanceIops: number;
  readonly instanceThroughput: number;
}

const offsets = {
  volumeIops: 56,
  volumeThroughput: 64,
  instanceIops: 72,
  instanceThroughput: 80,
} as const;

/** Undefined for a page of another vendor, or a truncated one. */
export const parseEbsLimits = (bytes: Uint8Array): EbsLimits | undefined => {
  if (bytes.length < ebsLogLength) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== magic) return undefined;
  const at = (name: keyof EbsLimits): number => Number(view.getBigUint64(offsets[name], true));
  return {
    volumeIops: at('volumeIops'),
    volumeThroughput: at('volumeThroughput'),
    instanceIops: at('instanceIops'),
    instanceThroughput: at('instanceThroughput'),
  };
};
