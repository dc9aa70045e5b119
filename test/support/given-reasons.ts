// Why stories cannot run on the cluster in DROVER_E2E_KUBECONFIG: what it lacks, or which existing
// objects would conflict. Checks before any story; deletes the objects that it creates for the
// checks.
import { randomUUID } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { objectOr } from '../../src/api/json.ts';
import { eventually, type Ran, run } from './demo-world.ts';
import {
  definitions,
  type Given,
  givenCluster,
  stageLabel,
  stageNamespace,
} from './given-cluster.ts';
import { whyNoRealCluster } from './real-cluster.ts';

type Kubectl = (args: readonly string[], input?: string) => Promise<Ran>;

const user = 'eks:node-manager';
const policies = 'validatingadmissionpolicies.v1.admissionregistration.k8s.io';
const patienceMs = 30_000;

interface StageNeeds {
  /** Admission policies. */
  readonly fence?: boolean;
}

/** Drover's own objects in an installation. */
const installed = [
  ['clusterrole', 'drover-controller'],
  ['-n', 'kube-system', 'serviceaccount', 'drover-controller'],
  ['-n', 'kube-system', 'lease', 'drover-controller'],
  ['-n', 'kube-system', 'configmap', 'drover-aws-auth-backups'],
  ['validatingadmissionpolicy', 'drover-leader'],
] as const;

const firstLine = ({ stderr, stdout }: Ran): string =>
  `${stderr}${stdout}`.trim().split('\n', 1)[0] ?? '';

const noAnswer = async (kubectl: Kubectl): Promise<string | undefined> => {
  const ran = await kubectl(['get', '--raw', '/readyz', '--request-timeout=10s']);
  return ran.code === 0 ? undefined : `it does not answer: ${firstLine(ran)}`;
};

const noRights = async (kubectl: Kubectl): Promise<string | undefined> => {
  const everything = await kubectl(['auth', 'can-i', '*', '*', '--all-namespaces']);
  if (everything.code !== 0) return "its user has not all rights (kubectl auth can-i '*' '*')";
  const as = await kubectl(['get', '--raw', '/version', '--as', user]);
  return as.code === 0 ? undefined : `its user may not act as ${user}: ${firstLine(as)}`;
};

/** If another story uses the cluster, the check waits for its end; any other use is a conflict. */
const inUse = async (kubectl: Kubectl): Promise<string | undefined> => {
  const label = Object.entries(stageLabel).map(([key, value]) => `${key}=${value}`)[0] ?? '';
  const ofStory = await kubectl(['get', 'namespaces', '-l', label, '-o', 'name']);
  if (ofStory.stdout.trim() !== '') return undefined;
  const found: string[] = [];
  const look = async (args: readonly string[]): Promise<void> => {
    const ran = await kubectl(['get', ...args, '--ignore-not-found', '-o', 'name']);
    if (ran.code === 0) found.push(...ran.stdout.split('\n').filter(Boolean));
  };
  await look(['namespace', stageNamespace]);
  for (const one of [...installed, ...definitions.map((name) => [name])]) await look(one);
  return found.length === 0 ? undefined : `it is in use: it has ${found.slice(0, 5).join(', ')}`;
};

/** The cluster has other definitions, which the story would change. */
const otherDefinitions = async (kubectl: Kubectl): Promise<string | undefined> => {
  const file = new URL('../../deploy/crds/', import.meta.url).pathname;
  const ran = await kubectl(['get', 'crd', ...definitions, '--ignore-not-found', '-o', 'name']);
  if (ran.stdout.trim() === '') return undefined;
  const diff = await kubectl(['diff', '-f', file]);
  return diff.code === 0 ? undefined : 'its definitions of drover.dev are of another version';
};

/** A request of the check must appear in the audit log, with its body. */
const noAudit = async (kubectl: Kubectl, path: string): Promise<string | undefined> => {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    return `DROVER_E2E_AUDIT_LOG: ${path} cannot be read`;
  }
  const before = statSync(path).size;
  const mark = `drover-${randomUUID()}`;
  await kubectl(['create', 'configmap', mark, '--dry-run=server', '-o', 'name']);
  const entry = async (): Promise<string | undefined> =>
    readFileSync(path)
      .subarray(before)
      .toString('utf8')
      .split('\n')
      .find((line) => line.includes(mark));
  try {
    const line = await eventually('it stands in the log', entry, patienceMs);
    const { requestObject, responseObject } = JSON.parse(line) as Record<string, unknown>;
    if (requestObject !== undefined && responseObject !== undefined) return undefined;
    return 'its audit log is not of level RequestResponse';
  } catch {
    return `DROVER_E2E_AUDIT_LOG: requests to it do not come to ${path}`;
  }
};

/**
 * What the control plane lacks. Creates a pod that fits no node: a controller must have made its
 * service account, and a scheduler must set its condition.
 */
const noControllers = async (kubectl: Kubectl): Promise<string | undefined> => {
  const name = `drover-look-${randomUUID().slice(0, 8)}`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: name },
    spec: {
      nodeSelector: { 'drover.dev/stage': 'nowhere' },
      containers: [{ name: 'c', image: 'example/none:1' }],
    },
  };
  const step = async (what: string, holds: () => Promise<boolean>): Promise<string | undefined> => {
    const look = async () => ((await holds()) ? true : undefined);
    return eventually(what, look, patienceMs).then(
      () => undefined,
      () => what,
    );
  };
  const made = await kubectl(['create', 'namespace', name]);
  if (made.code !== 0) return firstLine(made);
  try {
    const noManager = await step('no kube-controller-manager acts in it', async () => {
      const ran = await kubectl(['create', '-f', '-'], JSON.stringify(pod));
      return ran.code === 0;
    });
    if (noManager !== undefined) return noManager;
    return await step('no kube-scheduler acts in it', async () => {
      const ran = await kubectl(['get', 'pod', name, '-n', name, '-o', 'json']);
      const { status } = JSON.parse(ran.stdout) as { readonly status: unknown };
      return JSON.stringify(objectOr(status as never).conditions ?? []).includes('PodScheduled');
    });
  } finally {
    await kubectl([
      'delete',
      'pod',
      name,
      '-n',
      name,
      '--force',
      '--grace-period=0',
      '--wait=false',
    ]);
    await kubectl(['delete', 'namespace', name, `--timeout=${patienceMs}ms`]);
  }
};

const noFence = async (kubectl: Kubectl): Promise<string | undefined> => {
  const ran = await kubectl(['get', policies]);
  return ran.code === 0 ? undefined : `it does not serve ${policies}`;
};

const reasonOf = async (
  given: Given | undefined,
  needs: StageNeeds,
): Promise<string | undefined> => {
  if (given === undefined) return 'DROVER_E2E_AUDIT_LOG names no audit log of it';
  const env = { ...process.env, KUBECONFIG: given.kubeconfigPath };
  const kubectl: Kubectl = (args, input) =>
    run('kubectl', args, input === undefined ? { env } : { env, input });
  const looks: readonly (() => Promise<string | undefined>)[] = [
    () => noAnswer(kubectl),
    () => noRights(kubectl),
    ...(needs.fence === true ? [() => noFence(kubectl)] : []),
    () => inUse(kubectl),
    () => otherDefinitions(kubectl),
    () => noAudit(kubectl, given.auditLogPath),
    () => noControllers(kubectl),
  ];
  for (const look of looks) {
    const reason = await look();
    if (reason !== undefined) return reason;
  }
  return undefined;
};

/** Whether stories run on an existing cluster. */
export const isGiven = (process.env.DROVER_E2E_KUBECONFIG ?? '') !== '';

/** Why no story can run on a real API server, own or existing; undefined when it can. */
export const whyNoStage = async (needs: StageNeeds = {}): Promise<string | undefined> => {
  if (!isGiven) return whyNoRealCluster({ scheduler: true });
  const reason = await reasonOf(givenCluster(), needs);
  return reason && `on the cluster of DROVER_E2E_KUBECONFIG: ${reason}`;
};
