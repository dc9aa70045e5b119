// Windows nodes: pods of one interface, the parameters of Start-EKSBootstrap.ps1, its tag.
import type { Case, Topic } from '../topic.ts';

interface Given {
  readonly instanceType?: string;
  /** Parameters of the script's call; undefined: `text` is the complete user data. */
  readonly parameters?: readonly string[];
  readonly text?: string;
  /** What the case compares; undefined: the rules. */
  readonly look?: 'maxPods' | 'labels';
}
/** Pods, labels, or the rules whose violation prevents the node from joining. */
type Expected = number | readonly string[] | Readonly<Record<string, string>>;

const pods = (instanceType: string, maxPods: number): Case<Given, Expected> => ({
  name: `${instanceType}: ${maxPods} pods`,
  given: { instanceType, look: 'maxPods' },
  expected: maxPods,
});
const call = (
  name: string,
  parameters: readonly string[],
  ...rules: readonly string[]
): Case<Given, Expected> => ({ name, given: { parameters }, expected: rules });
const text = (name: string, content: string, ...rules: readonly string[]) => ({
  name,
  given: { text: content },
  expected: rules,
});

const args = '-KubeletExtraArgs';
const command = '& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName c';

export const windows: Topic<Given, Expected> = {
  topic: 'Windows',
  upstream: 'EKS user guide: eks-optimized-windows-ami, windows-support; eksctl: windows.go',
  behaviour:
    'One interface: its addresses but one are pods; the script takes named parameters, a value with ' +
    'blanks only in quotes, endpoint and authority only together; nothing outside `<powershell>` runs',
  differences: [
    'prefix delegation is a formula (`drover userdata` asks no cluster for its ConfigMap)',
  ],
  cases: [
    pods('t3.medium', 5),
    pods('m5.large', 9),
    pods('m5.xlarge', 14),
    pods('m5.4xlarge', 29),
    pods('c5.18xlarge', 49),
    pods('p5.48xlarge', 49),
    call('no more than the cluster’s name', []),
    call('two labels in quotes', [`${args} "--node-labels=a=b --v=2"`]),
    call('single quotes', [`${args} '--node-labels=a=b --v=2'`]),
    call('one flag without quotes', [`${args} --node-labels=a=b`]),
    call('two flags without quotes', [`${args} --node-labels=a=b --v=2`], 'WIN001'),
    call('empty taints, as eksctl writes them', [
      `${args} "--node-labels=a=b --register-with-taints="`,
    ]),
    call('a taint without an effect', [`${args} "--register-with-taints=a=b"`], 'TN001'),
    call('a reserved label', [`${args} "--node-labels=node-role.kubernetes.io/x=y"`], 'LB001'),
    call('a flag that no kubelet has', [`${args} "--no-such-flag=1"`], 'FL004'),
    call('a network plugin, which is gone', [`${args} "--network-plugin=cni"`], 'FL002'),
    call(
      'an endpoint without its authority',
      ['-APIServerEndpoint "https://example.com"'],
      'WIN006',
    ),
    call('an authority without its endpoint', ['-Base64ClusterCA "{authority}"'], 'WIN006'),
    call('both of them', [
      '-APIServerEndpoint "https://example.com" -Base64ClusterCA "{authority}"',
    ]),
    call(
      'an endpoint that is no URL',
      ['-APIServerEndpoint "example.com" -Base64ClusterCA "{authority}"'],
      'NC004',
    ),
    call('a service CIDR', ['-ServiceCIDR "10.100.0.0/16"']),
    call('parameters in another case', ['-servicecidr "10.100.0.0/16"']),
    call('a parameter that the script has not', ['-ServiceCDIR "10.100.0.0/16"'], 'WIN006'),
    {
      name: 'labels of the arguments are the node’s',
      given: { parameters: [`${args} "--node-labels=a=b,c=d"`], look: 'labels' },
      expected: { a: 'b', c: 'd' },
    },
    {
      name: 'a number of pods of the arguments wins',
      given: { parameters: [`${args} "--max-pods=144"`], look: 'maxPods' },
      expected: 144,
    },
    text('no tag', `${command}\n`, 'WIN003'),
    text('a tag that is not closed', `<powershell>\n${command}\n`, 'WIN003'),
    text('a tag that calls nothing', '<powershell>\nGet-Service\n</powershell>\n', 'WIN004'),
    text(
      'a call without a name',
      `<powershell>\n${command.replace(/ -EKS.*/, '')}\n</powershell>\n`,
      'WIN006',
    ),
    text('a tag in capitals', `<POWERSHELL>\n${command}\n</POWERSHELL>\n`),
  ],
};
