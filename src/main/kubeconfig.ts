// The kubeconfigs of an embedded world. Text only; data-dir.ts writes it.
import type { Pki } from '../adapters/signer/pki.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const renderKubeconfig = (options: {
  readonly pki: Pki;
  readonly port: number;
  readonly clusterName: string;
  readonly region: string;
  /** The user whose certificate is included. */
  readonly as: 'admin' | 'controller';
}): string => {
  const cluster = `${options.clusterName}.${options.region}.drover`;
  const names = { admin: 'kubernetes-admin', controller: 'eks:node-manager' } as const;
  const user = `${names[options.as]}@${cluster}`;
  const { certificate, key } = options.pki[options.as];
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: https://127.0.0.1:${options.port}
    certificate-authority-data: ${base64(options.pki.ca.certificate)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(certificate)}
    client-key-data: ${base64(key)}
contexts:
- name: ${user}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${user}
`;
};
