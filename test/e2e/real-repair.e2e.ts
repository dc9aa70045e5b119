// A repair on a real API server, from a line in a log to a new node. A real `drover agent` with a
// token of its node reports the condition under its admission policies, `drover controller` repairs
// in a world that is the cloud. Other writers' conditions outlive the agent's patch.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { agentAccount, agentGrants, agentPolicies } from '../../src/api/agent-rights.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { Node } from '../../src/api/kube.ts';
import type { NodeRepair } from '../../src/api/node-repair.ts';
import { inArrangement, type Stage } from '../support/arrangements.ts';
import { eventually, missing } from '../support/demo-world.ts';
import { whyNoStage } from '../support/given-reasons.ts';
import { drover } from '../support/program.ts';
import { type Steps, stepsOf } from '../support/steps.ts';
import { skipWhen } from '../support/stories.ts';

const whyNot =
  (await missing('kubectl', ['version', '--client'])) ?? (await whyNoStage({ fence: true }));
/** A replaced node takes about two minutes. */
const patienceMs = 600_000;
const { namespace, name: account } = agentAccount;
/** A single line of this kind at boot is normal. */
const lines = '{"level":"error","msg":"Unable to reach API Server"}\n'.repeat(3);

interface Config {
  readonly users: readonly { readonly name: string; readonly user: object }[];
}

class Story {
  readonly #stage: Stage;
  readonly kubectl: Steps;

  constructor(stage: Stage) {
    this.#stage = stage;
    const { world } = stage;
    this.kubectl = stepsOf('kubectl', (args, input) =>
      input === undefined ? world.kubectl(...args) : world.kubectlInput(input, ...args),
    );
  }

  async json<T>(what: string): Promise<T> {
    return JSON.parse(await this.kubectl.ok(`get ${what} -o json`)) as T;
  }

  async nodesOf(group: string): Promise<readonly Node[]> {
    const selector = `nodes -l eks.amazonaws.com/nodegroup=${group}`;
    const { items } = await this.json<{ readonly items: readonly Node[] }>(selector);
    return items;
  }

  async condition(node: string, type: string): Promise<string> {
    const { status } = await this.json<Node>(`node ${node}`);
    const found = status.conditions?.find((one) => one.type === type);
    return `${found?.status} ${found?.reason}`;
  }

  patchStatus(node: string, type: 'strategic' | 'merge', conditions: unknown): Promise<string> {
    const body = JSON.stringify({ status: { conditions } });
    const words = `patch node ${node} --subresource=status --type=${type} -p`;
    return this.kubectl.ok(words, body);
  }

  setReady(node: string, status: 'True' | 'Unknown'): Promise<string> {
    const reason = status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown';
    return this.patchStatus(node, 'strategic', [{ type: 'Ready', status, reason }]);
  }

  /** Path of a kubeconfig with a token of the agent's account that is bound to the node. */
  async credentialsOf(node: Node, directory: string): Promise<string> {
    const { name, uid } = node.metadata;
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], boundObjectRef: { apiVersion: 'v1', kind: 'Node', name, uid } },
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const answer = await this.kubectl.okWith(JSON.stringify(request), `create --raw ${path} -f -`);
    const { token } = (JSON.parse(answer) as { readonly status: { readonly token: string } })
      .status;
    const view = await this.kubectl.ok('config view --minify --flatten --raw -o json');
    const config = JSON.parse(view) as Config;
    const users = config.users.map((one) => ({ ...one, user: { token } }));
    const file = join(directory, 'agent.kubeconfig');
    await writeFile(file, JSON.stringify({ ...config, users }), { mode: 0o600 });
    return file;
  }

  async install(): Promise<void> {
    const serviceAccount: JsonObject = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: account, namespace },
    };
    const grants = agentGrants('drover-agent', agentAccount);
    await this.#stage.make([serviceAccount, ...grants]);
    await this.#stage.make(agentPolicies('drover-agent', agentAccount));
    const rules = [{ condition: 'NetworkingReady', waitSeconds: 20 }];
    const nodeRepair = { rules, healthyDelaySeconds: 10, drainTimeoutSeconds: 60 };
    const spec = { nodeRepairConfig: { enabled: true }, nodeRepair };
    await this.kubectl.ok('patch nodegroup demo-ng --type=merge -p', JSON.stringify({ spec }));
  }
}

/** A directory as the root of the node, with the log of its CNI alone. */
const hostRoot = async (directory: string): Promise<string> => {
  const log = join(directory, 'var', 'log', 'aws-routed-eni');
  await mkdir(log, { recursive: true });
  await writeFile(join(log, 'ipamd.log'), '');
  return join(log, 'ipamd.log');
};

const startAgent = (node: string, directory: string, kubeconfig: string): ChildProcess => {
  const record = join(directory, 'record.json');
  const words = ['--node', node, '--host-root', directory, '--record-file', record];
  return spawn(process.execPath, [drover, 'agent', ...words, '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DROVER_LOG: 'warn' },
  });
};

const ended = async (child: ChildProcess): Promise<unknown> => {
  if (child.exitCode !== null) return undefined;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return exit;
};

/** What an agent does that writes the whole list which it has read before. */
const losesUpdate = async (story: Story, node: string): Promise<void> => {
  const { status } = await story.json<Node>(`node ${node}`);
  await story.setReady(node, 'Unknown');
  await story.patchStatus(node, 'merge', status.conditions);
  assert.equal(await story.condition(node, 'Ready'), 'True KubeletReady');
};

const repairs = async (stage: Stage, directory: string): Promise<void> => {
  const story = new Story(stage);
  await story.install();
  const [sick] = await story.nodesOf('demo-ng');
  const [other] = await story.nodesOf('ng1-public-ssh');
  assert.ok(sick !== undefined && other !== undefined);
  const { name } = sick.metadata;
  await losesUpdate(story, other.metadata.name);

  const log = await hostRoot(directory);
  const kubeconfig = await story.credentialsOf(sick, directory);
  const agent = startAgent(name, directory, kubeconfig);
  try {
    await eventually('the agent has saved its record', async () => {
      const text = await readFile(join(directory, 'record.json'), 'utf8').catch(() => undefined);
      return text === undefined ? undefined : true;
    });
    // The kubelet falls silent between the agent's read of its Node and its patch.
    await story.setReady(name, 'Unknown');
    await appendFile(log, lines);
    await eventually('the agent reports the line', async () => {
      const said = await story.condition(name, 'NetworkingReady');
      return said === 'False IPAMDNotReady' ? true : undefined;
    });
    assert.equal(await story.condition(name, 'Ready'), 'Unknown NodeStatusUnknown');
    await story.setReady(name, 'True');

    const done = await eventually(
      'the node is replaced',
      async () => {
        const { items } = await story.json<{ readonly items: readonly NodeRepair[] }>(
          'noderepairs',
        );
        return items.find(({ status }) => status?.phase === 'Succeeded');
      },
      patienceMs,
    );
    assert.equal(done.spec.node?.name, name);
    assert.equal(done.status?.attempts?.[0]?.action, 'Replace');
    const conditions = done.status?.findings?.map(({ condition }) => condition) ?? [];
    assert.ok(conditions.includes('NetworkingReady'), conditions.join());
    const waitedMs =
      Date.parse(done.status?.attempts?.[0]?.startedAt ?? '') -
      Date.parse(
        done.status?.findings?.find((one) => one.condition === 'NetworkingReady')?.since ?? '',
      );
    assert.ok(waitedMs >= 20_000, `repaired after ${waitedMs} ms`);
    const nodes = await story.nodesOf('demo-ng');
    assert.ok(!nodes.some(({ metadata }) => metadata.uid === sick.metadata.uid));
    assert.equal(nodes.length, 1);
  } finally {
    await ended(agent);
  }
};

describe('a repair on a real API server', {
  skip: skipWhen('a repair on a real API server', whyNot),
  timeout: 900_000,
}, () => {
  it('follows the line in a log that the agent reports, and no update of Ready is lost', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'drover-real-repair-'));
    try {
      await inArrangement({ arrangement: 'a real API server', judged: undefined }, (stage) =>
        repairs(stage, directory),
      );
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
