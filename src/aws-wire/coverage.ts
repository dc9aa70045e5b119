// Which of AWS' operations the world implements, per service: input of docs and of a test.
import type { AwsHandlers } from './dispatcher.ts';
import { loadModel, type Protocol } from './model.ts';
import { SERVICES } from './services.ts';

export interface ServiceCoverage {
  readonly service: string;
  readonly fullName: string;
  readonly apiVersion: string;
  readonly protocol: Protocol;
  /** `botocore 1.43.11` */
  readonly source: string;
  readonly implemented: readonly string[];
  /** Parsed and validated, answered with NotImplemented. */
  readonly modelled: readonly string[];
  /** Known by name only, answered with NotImplemented. */
  readonly omitted: readonly string[];
  /** Handlers that match no operation: a spelling mistake. */
  readonly misnamed: readonly string[];
}

export async function listCoverage(handlers: AwsHandlers): Promise<readonly ServiceCoverage[]> {
  const unknown = Object.keys(handlers).filter(
    (name) => !SERVICES.some((service) => service.name === name),
  );
  if (unknown.length > 0) throw new Error(`handlers of unknown services: ${unknown.join(', ')}`);
  return Promise.all(
    SERVICES.map(async (service): Promise<ServiceCoverage> => {
      const model = await loadModel(service.name);
      const handled = Object.keys(handlers[service.name] ?? {}).sort();
      const modelled = Object.keys(model.operations).sort();
      return {
        service: service.name,
        fullName: model.metadata.serviceFullName,
        apiVersion: model.metadata.apiVersion,
        protocol: model.metadata.protocol,
        source: `${model.source.package} ${model.source.version}`,
        implemented: handled.filter((name) => modelled.includes(name)),
        modelled: modelled.filter((name) => !handled.includes(name)),
        omitted: [...model.omittedOperations].sort(),
        misnamed: handled.filter((name) => !modelled.includes(name)),
      };
    }),
  );
}
