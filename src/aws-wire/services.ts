// The services that the world models and how requests identify them, so that routing needs no
// model. services.test.ts checks this table against models/*.json.
import type { Protocol } from './model.ts';

export interface ServiceEntry {
  /** Key of models/*.json and of handlers. */
  readonly name: string;
  /** Service part of the SigV4 credential scope. */
  readonly signingName: string;
  readonly apiVersion: string;
  readonly protocol: Protocol;
  readonly jsonVersion?: '1.0' | '1.1';
  readonly targetPrefix?: string;
  readonly xmlNamespace?: string;
  /** Operations that AWS allows without a signature. */
  readonly unsignedOperations?: readonly string[];
}

const queryNamespace = (host: string, apiVersion: string): string =>
  `http://${host}.amazonaws.com/doc/${apiVersion}/`;

export const SERVICES: readonly ServiceEntry[] = [
  { name: 'eks', signingName: 'eks', apiVersion: '2017-11-01', protocol: 'rest-json' },
  {
    name: 'autoscaling',
    signingName: 'autoscaling',
    apiVersion: '2011-01-01',
    protocol: 'query',
    xmlNamespace: queryNamespace('autoscaling', '2011-01-01'),
  },
  {
    name: 'ec2',
    signingName: 'ec2',
    apiVersion: '2016-11-15',
    protocol: 'ec2',
    xmlNamespace: 'http://ec2.amazonaws.com/doc/2016-11-15',
  },
  {
    name: 'sqs',
    signingName: 'sqs',
    apiVersion: '2012-11-05',
    protocol: 'json',
    jsonVersion: '1.0',
    targetPrefix: 'AmazonSQS',
  },
  {
    name: 'sns',
    signingName: 'sns',
    apiVersion: '2010-03-31',
    protocol: 'query',
    xmlNamespace: queryNamespace('sns', '2010-03-31'),
  },
  {
    name: 'sts',
    signingName: 'sts',
    apiVersion: '2011-06-15',
    protocol: 'query',
    xmlNamespace: 'https://sts.amazonaws.com/doc/2011-06-15/',
    unsignedOperations: ['AssumeRoleWithSAML', 'AssumeRoleWithWebIdentity'],
  },
  {
    name: 'iam',
    signingName: 'iam',
    apiVersion: '2010-05-08',
    protocol: 'query',
    xmlNamespace: 'https://iam.amazonaws.com/doc/2010-05-08/',
  },
  {
    name: 'cloudformation',
    signingName: 'cloudformation',
    apiVersion: '2010-05-15',
    protocol: 'query',
    xmlNamespace: queryNamespace('cloudformation', '2010-05-15'),
  },
  {
    name: 'elbv2',
    signingName: 'elasticloadbalancing',
    apiVersion: '2015-12-01',
    protocol: 'query',
    xmlNamespace: queryNamespace('elasticloadbalancing', '2015-12-01'),
  },
  {
    name: 'elb',
    signingName: 'elasticloadbalancing',
    apiVersion: '2012-06-01',
    protocol: 'query',
    xmlNamespace: queryNamespace('elasticloadbalancing', '2012-06-01'),
  },
  {
    name: 'cloudtrail',
    signingName: 'cloudtrail',
    apiVersion: '2013-11-01',
    protocol: 'json',
    jsonVersion: '1.1',
    targetPrefix: 'com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101',
  },
  {
    name: 'events',
    signingName: 'events',
    apiVersion: '2015-10-07',
    protocol: 'json',
    jsonVersion: '1.1',
    targetPrefix: 'AWSEvents',
  },
  {
    name: 'logs',
    signingName: 'logs',
    apiVersion: '2014-03-28',
    protocol: 'json',
    jsonVersion: '1.1',
    targetPrefix: 'Logs_20140328',
  },
  {
    name: 'service-quotas',
    signingName: 'servicequotas',
    apiVersion: '2019-06-24',
    protocol: 'json',
    jsonVersion: '1.1',
    targetPrefix: 'ServiceQuotasV20190624',
  },
  {
    name: 'ssm',
    signingName: 'ssm',
    apiVersion: '2014-11-06',
    protocol: 'json',
    jsonVersion: '1.1',
    targetPrefix: 'AmazonSSM',
  },
];

/** Services with one signing name have several API versions; the first is the default. */
export function serviceBySigningName(
  signingName: string,
  apiVersion?: string,
): ServiceEntry | undefined {
  const found = SERVICES.filter((service) => service.signingName === signingName);
  return found.find((service) => service.apiVersion === apiVersion) ?? found[0];
}

export function serviceByTargetPrefix(prefix: string): ServiceEntry | undefined {
  return SERVICES.find((service) => service.targetPrefix === prefix);
}

/** The API version identifies a query service: it is unique among those modelled. */
export function serviceByApiVersion(apiVersion: string): ServiceEntry | undefined {
  return SERVICES.find(
    (service) =>
      service.apiVersion === apiVersion &&
      (service.protocol === 'query' || service.protocol === 'ec2'),
  );
}
