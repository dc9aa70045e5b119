// Public entry of the host adapter: a machine's files and systemd, and its metadata service.
export { createBundleFile, removeOldBundles } from './bundle-file.ts';
export { createHost } from './host.ts';
export { createMetadata, endpointFault } from './metadata.ts';
export { createNodeHost } from './node-host.ts';
