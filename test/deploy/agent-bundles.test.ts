// The agent of deploy/agent with a directory for log bundles: as a DaemonSet, and as a systemd unit
// with its file of options. Both start the command with the flag that the chart gives it.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { deployFiles } from '../../scripts/print-deploy.ts';
import { exampleBundleDirectory } from '../../src/api/agent-rights.ts';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import type { AgentOptions } from '../../src/cli/context.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { helpOnlyContext } from '../builders/help-only-context.ts';

const fileOf = (name: string): string => deployFiles()[`agent/${name}`] ?? '';

const podOf = (name: string): JsonObject =>
  objectOr(objectOr(objectOr(objectOr(parse(fileOf(name))).spec).template).spec);
const containerOf = (pod: JsonObject): JsonObject =>
  (pod.containers as readonly JsonObject[])[0] ?? {};

/** What the agent is started with. */
const started = async (words: readonly string[]): Promise<AgentOptions> => {
  let given: AgentOptions | undefined;
  const agent = async (options: AgentOptions): Promise<void> => {
    given = options;
  };
  const program = buildProgram({ ...helpOnlyContext, agent }, '0');
  await program.parseAsync([...words], { from: 'user' });
  if (given === undefined) throw new Error('no agent was started');
  return given;
};

describe('daemonset-bundles.yaml', () => {
  const plain = podOf('daemonset.yaml');
  const pod = podOf('daemonset-bundles.yaml');

  it('starts the agent with a directory of the node at its own path', async () => {
    const { args, volumeMounts } = containerOf(pod);
    const { bundleDirectory } = await started(args as readonly string[]);
    expect(bundleDirectory).toBe(exampleBundleDirectory);
    expect(volumeMounts).toContainEqual({
      name: 'bundles',
      mountPath: bundleDirectory,
      mountPropagation: 'HostToContainer',
    });
    expect(pod.volumes).toContainEqual({
      name: 'bundles',
      hostPath: { path: bundleDirectory, type: 'DirectoryOrCreate' },
    });
  });

  it('is otherwise daemonset.yaml, which has no directory', async () => {
    const { bundleDirectory } = await started(containerOf(plain).args as readonly string[]);
    expect(bundleDirectory).toBeUndefined();
    const without = fileOf('daemonset-bundles.yaml')
      .replace(/ +- --bundle-directory\n +- .*\n/, '')
      .replace(/ +- name: bundles\n +mountPath: .*\n +mountPropagation: .*\n/, '')
      .replace(/ +- name: bundles\n +hostPath:\n +path: .*\n +type: .*\n/, '');
    expect(without).toBe(fileOf('daemonset.yaml'));
  });
});

describe('drover-agent.service', () => {
  /** As systemd does: `$NAME` becomes the words of its value, none if it is not set. */
  const commandWith = (options: string): readonly string[] => {
    const [, , line = ''] = /^(ExecStart=\S+) (.*)$/m.exec(fileOf('drover-agent.service')) ?? [];
    const words = line.split(' ').flatMap((word) => {
      if (word !== '$DROVER_AGENT_OPTIONS') return [word];
      return options.split(' ').filter(Boolean);
    });
    return words;
  };

  it('takes the directory from its file of options, which need not exist', async () => {
    expect(fileOf('drover-agent.service')).toContain('EnvironmentFile=-/etc/default/drover-agent');
    const { bundleDirectory } = await started(commandWith('--bundle-directory /mnt/b'));
    expect(bundleDirectory).toBe('/mnt/b');
    expect((await started(commandWith(''))).bundleDirectory).toBeUndefined();
  });
});
