// Public entry of the formats: parses external texts to Drover's types and prints them.

export { accessEntryProblems } from './aws-auth/access-entry.ts';
export {
  type AwsAuthChange,
  type AwsAuthData,
  type AwsAuthEntry,
  addNodeRole,
  awsAuthEntries,
  identityOf,
  mappedUser,
  removeNodeRole,
  roleWithoutPath,
  userNamed,
} from './aws-auth/index.ts';
export { authProblems, mapRolesProblems } from './aws-auth/problems.ts';
export { type CertificateRequest, parseCertificateRequest } from './certificate-request.ts';
export { parseTemplateText } from './cloudformation-template.ts';
export * from './cluster-config/index.ts';
export { hexOf } from './der.ts';
export { aRequest, type WantedRequest } from './kubelet-request.ts';
export * from './node/index.ts';
export { parseNotice } from './notices/index.ts';
export type { Position } from './position.ts';
export * from './user-data/index.ts';
