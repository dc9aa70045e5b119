// Every topic of the bootstrap's conformance, in the order of docs/conformance.md.
import { callers, roleArns } from './cases/arns.ts';
import { bottlerocket } from './cases/bottlerocket.ts';
import { certificates } from './cases/certificates.ts';
import { cloudConfigs, joinConfigurations } from './cases/cloud-init.ts';
import { clusterDns } from './cases/cluster-dns.ts';
import { dropIns } from './cases/drop-ins.ts';
import { labels } from './cases/labels.ts';
import { maxPodsByType, maxPodsExpressions, maxPodsFormulas } from './cases/max-pods.ts';
import { merging } from './cases/merging.ts';
import { mimeDocuments } from './cases/mime.ts';
import { reserved } from './cases/reserved.ts';
import { windows } from './cases/windows.ts';

export const topics = {
  merging,
  mimeDocuments,
  dropIns,
  reserved,
  clusterDns,
  maxPodsByType,
  maxPodsFormulas,
  maxPodsExpressions,
  bottlerocket,
  windows,
  cloudConfigs,
  joinConfigurations,
  labels,
  roleArns,
  callers,
  certificates,
} as const;
