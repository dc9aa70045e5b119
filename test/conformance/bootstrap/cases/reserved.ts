// Resources that a node reserves: CPU by its cores, memory by its maximum pods, and which maximum
// counts.
import type { JsonObject } from '../../../../src/api/json.ts';
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly cpus?: number;
  readonly instanceType?: string;
  readonly kubelet?: JsonObject;
}
interface Reserved {
  readonly cpu: string;
  readonly memory: string;
}

const cores = (cpus: number, cpu: string): Case<Given, Reserved> => ({
  name: `${cpus} cores: ${cpu}`,
  given: { cpus },
  expected: { cpu, memory: '574Mi' },
});
const pods = (maxPods: number, memory: string): Case<Given, Reserved> => ({
  name: `${maxPods} pods by an expression: ${memory}`,
  given: { kubelet: { maxPodsExpression: String(maxPods) } },
  expected: { cpu: '70m', memory },
});

export const reserved: Topic<Given, Reserved> = {
  topic: 'Reserved resources',
  upstream: 'amazon-eks-ami: nodeadm/internal/kubelet/config.go',
  behaviour:
    'cpu: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest, each ' +
    'rounded down; memory: 11 MiB a pod and 255 MiB, by the computed number of pods, ' +
    'never by the one that the user sets',
  differences: [
    'user data that Drover writes sets the values of the pods in force itself ' +
      '(amazon-eks-ami#1698); `--upstream-reserved` leaves them to the image',
  ],
  cases: [
    cores(1, '60m'),
    cores(2, '70m'),
    cores(3, '75m'),
    cores(4, '80m'),
    cores(8, '90m'),
    cores(16, '110m'),
    cores(32, '150m'),
    cores(48, '190m'),
    cores(64, '230m'),
    cores(96, '310m'),
    cores(128, '390m'),
    cores(192, '550m'),
    pods(1, '266Mi'),
    pods(4, '299Mi'),
    pods(17, '442Mi'),
    pods(29, '574Mi'),
    pods(44, '739Mi'),
    pods(58, '893Mi'),
    pods(60, '915Mi'),
    pods(100, '1355Mi'),
    pods(110, '1465Mi'),
    pods(250, '3005Mi'),
    pods(737, '8362Mi'),
    {
      name: 'maxPods of the user’s configuration does not count',
      given: { kubelet: { config: { maxPods: 110 } } },
      expected: { cpu: '70m', memory: '574Mi' },
    },
    {
      name: '--max-pods does not count',
      given: { kubelet: { flags: ['--max-pods=110'] } },
      expected: { cpu: '70m', memory: '574Mi' },
    },
    {
      name: 'an expression that fails leaves the formula’s number',
      given: { kubelet: { maxPodsExpression: 'true' } },
      expected: { cpu: '70m', memory: '574Mi' },
    },
    {
      name: 'a type that nobody knows has 110 pods',
      given: { instanceType: 'zz9.plural', cpus: 2 },
      expected: { cpu: '70m', memory: '1465Mi' },
    },
  ],
};
