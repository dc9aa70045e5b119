// Public entry of identity: which node roles are authorized, and what a change would lose.
export {
  type AwsAuthMap,
  type AwsAuthPlan,
  addedRolesOf,
  awsAuthName,
  awsAuthRequest,
  isAdmitted,
  planAdmission,
  planDisowning,
  planRemoval,
} from './aws-auth.ts';
export {
  type Backup,
  type BackupsMap,
  backupsIn,
  backupsName,
  differenceOf,
  planBackup,
  planRestore,
} from './backups.ts';
export {
  approvalWindowMs,
  decideCertificate,
  type InstanceRecord,
  type KubeletRequest,
  kubeletSigners,
  nodeNameOf,
  type RequestFacts,
  type WaitingReason,
} from './certificates.ts';
export { identityFindings, type RoleUser } from './findings.ts';
