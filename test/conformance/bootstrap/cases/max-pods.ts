// The maximum number of pods of a node: the published values of every instance type, and the
// formulas.
import type { MaxPodsOptions } from '../../../../src/formats/node/capacity.ts';
import published from '../facts/eni-max-pods.json' with { type: 'json' };
import type { Case, Topic } from '../topic.ts';

/** The VPC CNI publishes a number for these types, and EKS' images do not know them. */
const unknownToImages = new Set(
  `c7i.32xlarge f1.2xlarge f1.4xlarge f1.16xlarge p3.2xlarge p3.8xlarge p3.16xlarge`.split(' '),
);

const ofType = ([pods, types]: readonly [string, string]): readonly Case<string, number>[] =>
  types.split(' ').map((type) => {
    const expected = unknownToImages.has(type) ? 110 : Number(pods);
    return { name: `${type}: ${expected}`, given: type, expected };
  });

export const maxPodsByType: Topic<string, number> = {
  topic: 'Max pods of every instance type',
  upstream: 'amazon-vpc-cni-k8s: misc/eni-max-pods.txt; amazon-eks-ami: instance-info.jsonl',
  behaviour:
    'The published number of each type, against the one that a NodeConfig’s node of that type gets. ' +
    `Seven types that only the VPC CNI lists (${[...unknownToImages].join(', ')}) ` +
    'get 110, as nodeadm gives where neither its list nor EC2 tells more',
  differences: [
    'a real node asks EC2 for the limits of the seven first; an evaluation offline asks nobody',
  ],
  cases: Object.entries(published).flatMap(ofType),
};

interface Formula {
  readonly type: string;
  readonly options: MaxPodsOptions;
}
const recommended = (
  name: string,
  type: string,
  options: MaxPodsOptions,
  expected: number,
): Case<Formula, number> => ({
  name: `${type}, ${name}: ${expected}`,
  given: { type, options },
  expected,
});

const prefixes: MaxPodsOptions = { isPrefixDelegation: true };

export const maxPodsFormulas: Topic<Formula, number> = {
  topic: 'Max pods by formula',
  upstream: 'amazon-eks-ami: max-pods-calculator.sh; EKS user guide on Windows',
  behaviour:
    'Interfaces times addresses but one, and two; custom networking takes an interface, a prefix is 16 ' +
    'addresses, at most 110 pods up to 30 vCPU and 250 above; Windows uses one interface',
  differences: [],
  cases: [
    recommended('plain', 'm5.large', {}, 29),
    recommended('custom networking', 'm5.large', { isCustomNetworking: true }, 20),
    recommended('custom networking', 't3.nano', { isCustomNetworking: true }, 3),
    recommended('prefixes', 'm5.large', prefixes, 434),
    recommended('prefixes and the cap', 'm5.large', { ...prefixes, cpus: 2 }, 110),
    recommended('prefixes below the cap', 't3.nano', { ...prefixes, cpus: 2 }, 34),
    recommended('prefixes with 30 vCPU', 'm5.8xlarge', { ...prefixes, cpus: 30 }, 110),
    recommended('prefixes with 31 vCPU', 'm5.8xlarge', { ...prefixes, cpus: 31 }, 250),
    recommended(
      'prefixes and custom networking',
      'm5.large',
      { ...prefixes, isCustomNetworking: true },
      290,
    ),
    recommended('two interfaces at most', 'm5.large', { maxInterfaces: 2 }, 20),
    recommended('more interfaces than it has', 'm5.large', { maxInterfaces: 9 }, 29),
    recommended('the cap without prefixes', 'c5.18xlarge', { cpus: 72 }, 250),
  ],
};

interface Expression {
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  readonly expression: string;
}
const expression = (
  text: string,
  [interfaces, addressesPerInterface]: readonly [number, number],
  expected: number | 'fault',
): Case<Expression, number | 'fault'> => ({
  name: `${text} of ${interfaces} x ${addressesPerInterface}: ${expected}`,
  given: { interfaces, addressesPerInterface, expression: text },
  expected,
});

export const maxPodsExpressions: Topic<Expression, number | 'fault'> = {
  topic: 'maxPodsExpression',
  upstream: 'amazon-eks-ami: nodeadm/internal/kubelet/eni_max_pods.go',
  behaviour:
    'CEL over default_enis, ips_per_eni and max_pods; a whole number from 1 to 2147483647, ' +
    'anything else is a warning on the node and the formula’s number',
  differences: ['lint names an expression that fails; the node only logs it'],
  cases: [
    expression('max_pods', [3, 10], 29),
    expression('max_pods + 2', [1, 6], 9),
    expression('(default_enis * ((ips_per_eni - 1) * 16)) + 2', [3, 6], 242),
    expression('(default_enis - 1) * (ips_per_eni - 1) + 2', [3, 10], 20),
    expression('max_pods > 20 ? 20 : max_pods', [3, 10], 20),
    expression('2147483647', [3, 10], 2147483647),
    expression('2147483648', [3, 10], 'fault'),
    expression('0', [3, 10], 'fault'),
    expression('max_pods - 100', [3, 10], 'fault'),
    expression('true', [3, 10], 'fault'),
    expression('1.5', [3, 10], 'fault'),
    expression('"29"', [3, 10], 'fault'),
    expression('max_pods / 0', [3, 10], 'fault'),
    expression('vcpus * 8', [3, 10], 'fault'),
    expression('max_pods +', [3, 10], 'fault'),
  ],
};
