// The resources of `drover setup aws`, in the values of one output language. Prints nothing.
import type { JsonObject } from '../../api/json.ts';
import {
  controllerPolicy,
  eventRules,
  type Place,
  podIdentityTrust,
  queuePolicy,
  serviceAccountTrust,
} from '../../core/setup/index.ts';

export interface SetupOptions {
  readonly queue: string;
  readonly role: string;
  readonly nodeRole: string;
  readonly createsGroups: boolean;
  readonly groupTag: { readonly key: string; readonly value: string } | undefined;
  /** The OIDC issuer for IRSA, without `https://`; undefined: EKS Pod Identity. */
  readonly issuer: string | undefined;
}

export interface SetupResources {
  readonly queuePolicy: JsonObject;
  readonly rules: ReturnType<typeof eventRules>;
  readonly controllerPolicy: JsonObject;
  readonly trust: JsonObject;
}

export const resourcesOf = (options: SetupOptions, place: Place): SetupResources => {
  const { queue, issuer } = options;
  return {
    queuePolicy: queuePolicy(place, queue),
    rules: eventRules(queue),
    controllerPolicy: controllerPolicy({ ...options, place }),
    trust: issuer === undefined ? podIdentityTrust() : serviceAccountTrust(place, issuer),
  };
};
