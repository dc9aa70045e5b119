// SQS moved from query to JSON but keeps its old error codes in `x-amzn-query-error`
// (awsQueryCompatible). botocore's model no longer carries them; these are the facts of the
// awsQueryError trait in @aws-sdk/client-sqs 3.1169.0. Only SQS errors, nothing else.

export interface SqsError {
  readonly shape: string;
  readonly code: string;
  readonly httpStatus: number;
}

const LEGACY = 'AWS.SimpleQueueService.';

const TABLE: readonly (readonly [shape: string, code: string, httpStatus: number])[] = [
  ['BatchEntryIdsNotDistinct', `${LEGACY}BatchEntryIdsNotDistinct`, 400],
  ['BatchRequestTooLong', `${LEGACY}BatchRequestTooLong`, 400],
  ['EmptyBatchRequest', `${LEGACY}EmptyBatchRequest`, 400],
  ['InvalidAddress', 'InvalidAddress', 404],
  ['InvalidBatchEntryId', `${LEGACY}InvalidBatchEntryId`, 400],
  ['InvalidSecurity', 'InvalidSecurity', 403],
  ['KmsAccessDenied', 'KMS.AccessDeniedException', 400],
  ['KmsDisabled', 'KMS.DisabledException', 400],
  ['KmsInvalidKeyUsage', 'KMS.InvalidKeyUsageException', 400],
  ['KmsInvalidState', 'KMS.InvalidStateException', 400],
  ['KmsNotFound', 'KMS.NotFoundException', 400],
  ['KmsOptInRequired', 'KMS.OptInRequired', 403],
  ['KmsThrottled', 'KMS.ThrottlingException', 400],
  ['MessageNotInflight', `${LEGACY}MessageNotInflight`, 400],
  ['OverLimit', 'OverLimit', 403],
  ['PurgeQueueInProgress', `${LEGACY}PurgeQueueInProgress`, 403],
  ['QueueDeletedRecently', `${LEGACY}QueueDeletedRecently`, 400],
  ['QueueDoesNotExist', `${LEGACY}NonExistentQueue`, 400],
  ['QueueNameExists', 'QueueAlreadyExists', 400],
  ['ReceiptHandleIsInvalid', 'ReceiptHandleIsInvalid', 404],
  ['RequestThrottled', 'RequestThrottled', 403],
  ['ResourceNotFoundException', 'ResourceNotFoundException', 404],
  ['TooManyEntriesInBatchRequest', `${LEGACY}TooManyEntriesInBatchRequest`, 400],
  ['UnsupportedOperation', `${LEGACY}UnsupportedOperation`, 400],
];

/** By either name, because handlers may use both. */
export function sqsErrorByCode(code: string): SqsError | undefined {
  const row = TABLE.find(([shape, legacy]) => shape === code || legacy === code);
  return row === undefined ? undefined : { shape: row[0], code: row[1], httpStatus: row[2] };
}
