// Public entry of the host adapter: a machine's files and systemd, and its metadata service.
export { createHost } from './host.ts';
export { createMetadata, endpointFault } from './metadata.ts';
