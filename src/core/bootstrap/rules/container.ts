// Rules on the container of user data: MIME, encodings, size, suppressions.
import type { Rule } from '../rule.ts';
import {
  bootstrapCall,
  config,
  lines,
  mime,
  nodeConfig,
  part,
  settings,
  shell,
} from './samples.ts';

const nodeType = 'application/node.eks.aws';
const shellType = 'text/x-shellscript';
const lost = 'nodeadm reads nothing of the user data; the instance runs and no node appears.';

export const containerRules: readonly Rule[] = [
  {
    id: 'MIME001',
    title: 'No blank line between the headers of a part and its body',
    severity: 'error',
    consequence: `cloud-init reads on, nodeadm ends with "malformed MIME header". ${lost}`,
    fix: 'Put an empty line after the last header of the part.',
    source: 'awslabs/amazon-eks-ami#2318',
    bad: { text: mime(`--B\nContent-Type: ${nodeType}\n${nodeConfig()}`) },
    good: { text: mime(part(nodeType, nodeConfig())) },
  },
  {
    id: 'MIME002',
    title: 'Content after the closing boundary',
    severity: 'error',
    consequence: 'Everything after `--BOUNDARY--` is ignored without a word, by every reader.',
    fix: 'Separate parts with `--BOUNDARY`; write `--BOUNDARY--` once, at the end.',
    source: 'article 003, eksctl-io/eksctl#7749',
    bad: {
      text: `${mime(part(nodeType, nodeConfig()))}${part(nodeType, config('maxPods: 20'))}--B--\n`,
    },
    good: { text: mime(part(nodeType, nodeConfig()), part(nodeType, config('maxPods: 20'))) },
  },
  {
    id: 'MIME003',
    title: 'The boundary of the header and of the parts differ',
    severity: 'error',
    consequence: `No part is found ("NextPart: EOF"). ${lost}`,
    fix: 'Write the same boundary in the header and, after two dashes, before each part.',
    source: 'Go, mime/multipart',
    bad: { text: mime(part(nodeType, nodeConfig())).replace('"B"', '"C"') },
    good: { text: mime(part(nodeType, nodeConfig())) },
  },
  {
    id: 'FAM001',
    title: 'User data for another family than the image',
    severity: 'error',
    consequence: 'Nothing on the image reads it: the machine runs, and no node appears.',
    fix: 'Write what the image reads, or launch the image that the user data is for.',
    source: 'EKS user guide, launch templates and AL2023',
    bad: { text: bootstrapCall(), options: { family: 'al2023' } },
    good: { text: nodeConfig(), options: { family: 'al2023' } },
  },
  {
    id: 'MIME004',
    title: 'A MIME document for a family that reads none',
    severity: 'error',
    consequence:
      'Bottlerocket ends with a TOML parse error, EC2Launch runs nothing: no node appears.',
    fix: 'Write the TOML settings, or the <powershell> tag, without anything around it.',
    source: 'terraform-aws-modules/terraform-aws-eks#3476',
    bad: { text: mime(part('text/plain', settings())), options: { family: 'bottlerocket' } },
    good: { text: settings() },
  },
  {
    id: 'MIME005',
    title: 'A part of a type that nothing on the node reads',
    severity: 'warning',
    consequence: 'The part is ignored; cloud-init logs an unhandled type.',
    fix: `Use ${nodeType} for a NodeConfig, ${shellType} for a script, text/cloud-config.`,
    source: 'cloud-init, user-data formats',
    bad: { text: mime(part(nodeType, nodeConfig()), part('application/x-sh', shell('true'))) },
    good: { text: mime(part(nodeType, nodeConfig()), part(shellType, shell('true'))) },
  },
  {
    id: 'MIME006',
    title: 'The MIME headers do not begin the document, or no blank line ends them',
    severity: 'error',
    consequence: `nodeadm takes the whole document for one YAML NodeConfig and fails on it. ${lost}`,
    fix:
      'Begin with MIME-Version or Content-Type in column 1; put an empty line after the ' +
      'headers.',
    source: 'awslabs/amazon-eks-ami#1701',
    bad: { text: `\n${mime(part(nodeType, nodeConfig()))}` },
    good: { text: mime(part(nodeType, nodeConfig())) },
  },
  {
    id: 'MIME007',
    title: 'Content-Type says multipart and names no boundary',
    severity: 'error',
    consequence: lost,
    fix: 'Add the parameter: Content-Type: multipart/mixed; boundary="BOUNDARY".',
    source: 'RFC 2046, 5.1.1',
    bad: { text: mime(part(nodeType, nodeConfig())).replace('; boundary="B"', '') },
    good: { text: mime(part(nodeType, nodeConfig())) },
  },
  {
    id: 'MIME008',
    title: 'The closing boundary is missing',
    severity: 'error',
    consequence:
      'cloud-init reads the last part all the same, nodeadm ends with "unexpected EOF". ' +
      `${lost}`,
    fix: 'End the document with `--BOUNDARY--` on a line of its own.',
    source: 'Go, mime/multipart',
    bad: { text: mime(part(nodeType, nodeConfig())).replace('--B--\n', '') },
    good: { text: mime(part(nodeType, nodeConfig())) },
  },
  {
    id: 'MIME009',
    title: 'The closing boundary is missing, and only cloud-init reads the document',
    severity: 'warning',
    consequence:
      'cloud-init reads the last part to the end of the text. What merges user data (EKS ' +
      'for a managed ' +
      'group, Karpenter) reads as Go does and refuses it.',
    fix: 'End the document with `--BOUNDARY--` on a line of its own.',
    source: 'Go, mime/multipart; Python, email.feedparser',
    bad: {
      text: mime(part(shellType, bootstrapCall())).replace('--B--\n', ''),
      options: { family: 'al2' },
    },
    good: { text: mime(part(shellType, bootstrapCall())), options: { family: 'al2' } },
  },
  {
    id: 'ENC001',
    title: 'An encoding that the family’s readers do not undo',
    severity: 'error',
    consequence: 'The readers see other characters than were meant, or none: no node appears.',
    fix: 'Save the text as UTF-8 without a byte order mark; use gzip only for Linux families.',
    source: 'EC2 user guide, user data; EC2Launch v2',
    bad: { text: `\uFEFF${nodeConfig()}` },
    good: { text: nodeConfig() },
  },
  {
    id: 'SIZE001',
    title: 'More than 16,384 bytes',
    severity: 'error',
    consequence: 'EC2 refuses the launch: "User data is limited to 16384 bytes".',
    fix: 'Compress with gzip (Linux families), or fetch the larger part from elsewhere.',
    source: 'EC2 user guide; kubernetes/kops#10202',
    bad: { text: `${nodeConfig()}${`# ${'x'.repeat(78)}\n`.repeat(220)}` },
    good: { text: nodeConfig() },
  },
  {
    id: 'IGN001',
    title: 'A suppression that gives no reason, or names no rule',
    severity: 'error',
    consequence: 'It has no effect: the finding stays.',
    fix: 'Write `# drover:ignore RULE because ...` on the line or above it, or drover:ignore-file.',
    source: 'Drover',
    bad: { text: lines('# drover:ignore NC001') + nodeConfig() },
    good: {
      text: lines('# drover:ignore-file NC001 read by our own agent') + nodeConfig('  extra: 1'),
    },
  },
  {
    id: 'IGN002',
    title: 'A suppression that suppresses nothing',
    severity: 'warning',
    consequence: 'None; it would hide a later finding.',
    fix: 'Take the comment away.',
    source: 'Drover',
    bad: { text: lines('# drover:ignore-file NC001 read by our own agent') + nodeConfig() },
    good: { text: nodeConfig() },
  },
  {
    id: 'SEC001',
    title: 'What looks like a secret',
    severity: 'warning',
    consequence:
      'User data is no secret: who may describe the instance reads it, and every pod that ' +
      'reaches ' +
      'the metadata service (hop limit 2).',
    fix: 'Fetch it on the node with the instance’s role, from Secrets Manager or Parameter Store.',
    source: 'EC2 user guide, user data; reference of nodeadm’s logs',
    bad: {
      text: shell(
        'export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        '/etc/eks/bootstrap.sh my-cluster',
      ),
    },
    good: { text: shell('/etc/eks/bootstrap.sh my-cluster') },
  },
];
