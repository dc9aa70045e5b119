// Parsers for what a node's kernel, files and tools report about its health. Never judges health.
export * from './ip-routes.ts';
export { type JournalEntry, parseJournalEntry } from './journal-entry.ts';
export { kernelFacility, maxLineLength, parseKernelRecord } from './kernel-record.ts';
export { type NftRule, parseNftRules } from './nft-rules.ts';
export { type EbsLimits, ebsLogLength, ebsLogPage, parseEbsLimits } from './nvme-log.ts';
export { type FilterRule, isRuleOfInterest, parseSavedRules } from './packet-filter.ts';
export {
  type Mount,
  parseFileHandles,
  parseInterfaceCounters,
  parseMounts,
  parsePressure,
  parseProcessStat,
  parseThreadCount,
} from './proc.ts';
export { parseUnits, unitProperties } from './units.ts';
