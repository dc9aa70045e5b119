// Prints test/articles/rendered: the user data of article 003's forms, rendered from the group
// files in test/articles/groups, and the ConfigMap of its Windows group. A test compares, to the
// byte.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type GroupUserData, groupUserData } from '../src/core/bootstrap/index.ts';

const articles = join(import.meta.dirname, '..', 'test', 'articles');
const groups = join(articles, 'groups');
export const renderedDirectory = join(articles, 'rendered');

/** The certificate in the article's Bottlerocket example, the only real one in the article. */
const printed = readFileSync(join(articles, 'user-data', 'bottlerocket.toml'), 'utf8');
const certificateAuthority = /cluster-certificate = '([^']+)'/.exec(printed)?.[1] ?? '';

export interface ArticleForm {
  readonly name: string;
  /** Section of the article. */
  readonly section: string;
  /** The launch template's own user data. */
  readonly own?: string;
}

export const articleForms: readonly ArticleForm[] = [
  { name: 'al2-origin', section: 'Customized AMI Launch Template Userdata, Origin' },
  { name: 'al2-least', section: 'the same, with only what is required' },
  { name: 'al2-extra-args', section: 'kubelet-extra-args' },
  { name: 'al2023-required', section: 'Amazon Linux 2023, Requirement Configuration' },
  { name: 'al2023-injected', section: 'Example and Injected Userdata', own: 'al2023-mine.txt' },
  { name: 'bottlerocket', section: 'Bottlerocket, ng-bottlerocket.yaml' },
  { name: 'windows', section: 'EKS Windows node, Creation' },
];

export const renderForm = ({ name, own }: ArticleForm): GroupUserData => {
  const file = `${name}.yaml`;
  const text = readFileSync(join(groups, file), 'utf8');
  const made = groupUserData({
    file,
    text: text.replace('CERTIFICATE_AUTHORITY', certificateAuthority),
    group: undefined,
    family: undefined,
    instanceType: undefined,
    kubernetesVersion: '1.29',
    cluster: {
      endpoint: 'https://1111122222.sk1.ap-northeast-2.eks.amazonaws.com',
      certificateAuthority,
      serviceCidr: '172.20.0.0/16',
    },
    isUpstreamReserved: false,
    userData: own === undefined ? undefined : readFileSync(join(groups, own), 'utf8'),
  });
  if (made.kind === 'faults') throw new Error(made.faults.join('\n'));
  return made.result;
};

/** File name to content. */
export const renderedFiles = (): ReadonlyMap<string, string> =>
  new Map(
    articleForms.flatMap((form) => {
      const { written, objects } = renderForm(form);
      if (written.kind === 'fault') throw new Error(written.message);
      return [
        [`${form.name}.txt`, written.text] as const,
        ...objects.map((object) => ['amazon-vpc-cni.yaml', stringify(object)] as const),
      ];
    }),
  );

if (import.meta.main) {
  for (const [name, text] of renderedFiles()) writeFileSync(join(renderedDirectory, name), text);
}
