// Article 003's user data, rendered from group files: to the byte what stands in rendered/, without
// an error, and on the node what the article's own text makes once its mistakes are mended.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  articleForms,
  renderedDirectory,
  renderedFiles,
  renderForm,
} from '../../scripts/print-article-user-data.ts';
import { lint } from '../../src/core/bootstrap/index.ts';
import { evaluateUserData, exampleFacts } from '../../src/formats/index.ts';

const printed = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'user-data', name), 'utf8');
const rendered = (name: string): string => readFileSync(join(renderedDirectory, name), 'utf8');

const facts = {
  ...exampleFacts,
  kubernetesVersion: '1.29',
  instanceType: 't3.medium',
  cluster: { serviceCidr: '172.20.0.0/16' },
};
const nodeOf = (text: string, instanceType = facts.instanceType) =>
  evaluateUserData(text, { ...facts, instanceType }).node;

describe('the user data of article 003', () => {
  it('is rendered to the byte', () => {
    const files = renderedFiles();
    expect(readdirSync(renderedDirectory).toSorted()).toEqual([...files.keys()].toSorted());
    for (const [name, text] of files) expect(text, name).toBe(rendered(name));
    // Not by chance: another time, the same bytes.
    expect([...renderedFiles()]).toEqual([...files]);
  });

  it.each(articleForms)('$name has no finding', (form) => {
    const { kubernetesVersion, instanceType } = renderForm(form);
    const bytes = readFileSync(join(renderedDirectory, `${form.name}.txt`));
    const { findings, texts } = lint(
      { name: form.name, bytes },
      { kubernetesVersion, instanceType },
    );
    expect(texts).toBe(1);
    expect(findings.map(({ rule, line }) => `${rule}:${line}`)).toEqual([]);
  });
});

describe('what the article prints, with its mistakes fixed', () => {
  const authority = /--b64-cluster-ca (\S+)/.exec(rendered('al2-origin.txt'))?.[1] ?? '';

  it('is the rendered one’s node: AL2 with everything said', () => {
    const mended = printed('al2-origin.txt')
      .replace('certificate-authority', authority)
      .replace('api-server-endpoint', 'https://1111122222.sk1.ap-northeast-2.eks.amazonaws.com')
      .replace('service-cidr.10', '172.20.0.10')
      .replace('my-max-pods-value', '17');
    const [ours, theirs] = [nodeOf(rendered('al2-origin.txt')), nodeOf(mended)];
    expect(theirs.obstacles).toEqual([]);
    expect(ours.files).toEqual(theirs.files);
  });

  it('is the rendered one’s node: AL2 with the cluster’s name alone', () => {
    const mended = printed('al2-least.txt').replace('set -ex', '#!/bin/bash\nset -ex');
    expect(nodeOf(mended).obstacles).toEqual([]);
    expect(nodeOf(rendered('al2-least.txt')).files).toEqual(nodeOf(mended).files);
  });

  it('has the labels and the taint: AL2 with kubelet-extra-args', () => {
    const mended = `#!/bin/bash\n${printed('al2-extra-args.txt')}`
      .replace('cluster_name', 'cluster-name')
      .replace('taint1=true', 'taint1=true:NoSchedule');
    const [ours, theirs] = [nodeOf(rendered('al2-extra-args.txt')), nodeOf(mended)];
    expect(theirs.obstacles).toEqual([]);
    expect(ours.labels).toMatchObject(theirs.labels);
    expect(theirs.labels).toEqual({ something: 'hello', somethingelse: 'bye' });
    expect(ours.taints).toEqual(theirs.taints);
    expect(theirs.taints).toHaveLength(1);
  });

  it('is the rendered one’s kubelet: AL2023 with what EKS injects', () => {
    // One = too many in the certificate’s base64.
    const mended = printed('al2023-injected.txt').replace(
      /certificateAuthority: .*/,
      `certificateAuthority: ${authority}`,
    );
    const [ours, theirs] = [nodeOf(rendered('al2023-injected.txt')), nodeOf(mended)];
    expect(theirs.obstacles).toEqual([]);
    expect(ours.kubelet.effective).toEqual(theirs.kubelet.effective);
    expect(theirs.kubelet.effective).toMatchObject({
      maxPods: 17,
      shutdownGracePeriod: '30s',
      clusterDNS: ['172.20.0.10'],
    });
  });

  it('is the rendered one’s cluster: Bottlerocket', () => {
    const theirs = nodeOf(printed('bottlerocket.toml'), 'm5.large');
    const ours = nodeOf(rendered('bottlerocket.txt'), 'm5.large');
    expect(theirs.obstacles).toEqual([]);
    expect(ours.cluster.certificateAuthority).toBe(theirs.cluster.certificateAuthority);
    expect(ours.cluster.name).toBe(theirs.cluster.name);
    expect(ours.cluster.dns).toEqual(theirs.cluster.dns);
    // The launch template's id and version and the image are EKS' to add, when it makes the
    // template.
    expect(theirs.labels).toMatchObject(ours.labels);
  });

  it('is the ConfigMap that Windows nodes need', () => {
    expect(rendered('amazon-vpc-cni.yaml')).toBe(printed('amazon-vpc-cni.yaml'));
    expect(nodeOf(rendered('windows.txt'), 'm5.large').maxPods).toBe(9);
  });
});
