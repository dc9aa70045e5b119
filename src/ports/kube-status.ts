// Converts a Status object of the API server to a KubeError, for every implementation of the port.
// Cases and messages as measured on a real API server.
import { isObject, type JsonObject, objectOr } from '../api/json.ts';
import { KubeError, type KubeErrorCode } from './kube.ts';

const causesOf = (status: JsonObject): readonly JsonObject[] => {
  const causes = objectOr(status.details).causes;
  return Array.isArray(causes) ? causes.filter(isObject) : [];
};

/**
 * Matches the server's complete phrase, because the single word may be part of an object's name.
 */
const preconditionFailed =
  /the (UID|ResourceVersion) in the precondition \(|Precondition failed: (UID|ResourceVersion) in/;

const conflictCode = (status: JsonObject, message: string): KubeErrorCode => {
  if (status.reason === 'AlreadyExists') return 'AlreadyExists';
  return preconditionFailed.test(message) ? 'PreconditionFailed' : 'Conflict';
};

/** Which budget refused, and why: the server's own message contains neither. */
const budgetMessage = (status: JsonObject): string | undefined => {
  const cause = causesOf(status).find(({ reason }) => reason === 'DisruptionBudget');
  if (cause === undefined) return undefined;
  return typeof cause.message === 'string' ? cause.message : '';
};

const tooManyCode = (status: JsonObject): KubeErrorCode => {
  const message = budgetMessage(status);
  // "still being processed" means that the budget's controller lags, not that the budget refuses.
  return message === undefined || /still being processed/.test(message)
    ? 'TooManyRequests'
    : 'DisruptionBudget';
};

/**
 * The code for status 500 and above, by the reason and, for two budgets on one pod, the message.
 */
const serverCode = (httpStatus: number, status: JsonObject, message: string): KubeErrorCode => {
  if (httpStatus === 504 || status.reason === 'ServerTimeout') return 'Timeout';
  return httpStatus === 500 && /more than one PodDisruptionBudget/.test(message)
    ? 'MultipleBudgets'
    : 'ServerError';
};

/** The code for an HTTP status and its Status body. */
export const kubeErrorCode = (httpStatus: number, status: JsonObject): KubeErrorCode => {
  const message = typeof status.message === 'string' ? status.message : '';
  switch (httpStatus) {
    case 401:
      return 'Unauthorized';
    case 403:
      return causesOf(status).some((cause) => cause.reason === 'NamespaceTerminating')
        ? 'NamespaceTerminating'
        : 'Forbidden';
    case 404:
      return 'NotFound';
    case 409:
      return conflictCode(status, message);
    case 410:
      return 'Expired';
    case 422:
      return 'Invalid';
    case 429:
      return tooManyCode(status);
    default:
      // 405, 406, 413, 415 and similar: the request itself is wrong.
      return httpStatus >= 400 && httpStatus < 500
        ? 'BadRequest'
        : serverCode(httpStatus, status, message);
  }
};

/** `what` names the request, e.g. `evict pod demo/n1`. */
export const kubeErrorFrom = (
  what: string,
  httpStatus: number,
  status: JsonObject,
  retryAfterHeader?: string,
): KubeError => {
  const details = objectOr(status.details);
  const asked = Number(retryAfterHeader ?? details.retryAfterSeconds ?? Number.NaN);
  const text = typeof status.message === 'string' ? status.message : `HTTP ${httpStatus}`;
  const budget = budgetMessage(status);
  const message = [what, text, ...(budget === undefined ? [] : [budget])].join(': ');
  return new KubeError(kubeErrorCode(httpStatus, status), message, {
    details,
    ...(Number.isFinite(asked) && asked > 0 ? { retryAfterSeconds: asked } : {}),
  });
};
