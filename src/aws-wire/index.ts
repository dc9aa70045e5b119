// Public entry of the AWS wire protocols.
export { AwsError, notImplemented } from './aws-error.ts';
export { listCoverage, type ServiceCoverage } from './coverage.ts';
export { md5Hex } from './digest.ts';
export {
  type AwsCallContext,
  type AwsCallRecord,
  type AwsCredential,
  type AwsHandler,
  type AwsHandlers,
  type AwsPrincipal,
  createAwsDispatcher,
} from './dispatcher.ts';
export {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  textMap,
  texts,
} from './input.ts';
