// Checks the kubelet, containerd and systemd's units.
import { parseTime } from '../../api/brand.ts';
import { objectOr } from '../../api/json.ts';
import { parseJson } from '../../api/parse-json.ts';
import { parseUnits, unitProperties } from '../../formats/node-health/index.ts';
import { NodeHostError } from '../../ports/index.ts';
import {
  type Check,
  type CheckContext,
  limitOf,
  listIfThere,
  outputText,
  type Results,
  runProgram,
  whyNoOutput,
} from './check.ts';

const unitReasons = ['{unit}RepeatedRestart', 'KubeletFailed', 'FabricManagerNotRunning'];

/** Compares each unit’s restarts with those of the previous look. */
export const createUnits = (): Check => {
  const before = new Map<string, number>();
  return {
    name: 'units',
    title: 'systemd units that restart or fail',
    look: async (context, results) => {
      const words = ['show', '*.service', `--property=${unitProperties.join(',')}`];
      const outcome = await runProgram(context, 'systemctl', words);
      const why = whyNoOutput('systemctl', outcome);
      if (why !== undefined) {
        results.lacks(unitReasons, why);
        return;
      }
      const units = parseUnits(outputText(outcome));
      results.saw(`${units.length} services`);
      const limit = limitOf(context, '{unit}RepeatedRestart', 3);
      for (const { name, restarts } of units) {
        const earlier = before.get(name);
        before.set(name, restarts);
        if (earlier === undefined || restarts <= earlier || restarts <= limit) continue;
        const unit = name.replace(/\.service$/, '');
        results.found('{unit}RepeatedRestart', { unit, before: earlier, after: restarts });
      }
      const kubelet = units.find(({ name }) => name === 'kubelet.service');
      if (kubelet?.active === 'failed') results.found('KubeletFailed');
      const fabric = units.find(({ name }) => name === 'nvidia-fabricmanager.service');
      const devices = await listIfThere(context.host, '/dev');
      if (!devices.some((name) => name.startsWith('nvidia-nvswitch'))) return;
      if (fabric?.active !== 'active') {
        results.found('FabricManagerNotRunning', { active: fabric?.active ?? 'not there' });
      }
    },
  };
};

const healthz = 'http://127.0.0.1:10248/healthz';
const healthTimeoutMs = 5_000;

/**
 * A node that never had a kubelet, such as a workstation, is healthy; one whose kubelet stopped is
 * not.
 */
export const createKubelet = (): Check => {
  let wasThere = false;
  return {
    name: 'kubelet',
    title: 'the kubelet’s health endpoint',
    look: async ({ host }, results) => {
      try {
        const { status, body } = await host.httpGet(healthz, healthTimeoutMs);
        wasThere = true;
        results.saw(`${healthz} answers ${status}`);
        if (status !== 200) {
          const [line = ''] = body.trim().split('\n');
          results.found('KubeletUnhealthy', { detail: `${status} ${line}`.trim() });
        }
      } catch (error) {
        if (!(error instanceof NodeHostError)) throw error;
        const isExpected = wasThere || (await listIfThere(host, '/var/lib/kubelet')).length > 0;
        results.saw(isExpected ? `${healthz} does not answer` : 'no kubelet');
        if (isExpected) results.found('KubeletUnhealthy', { detail: error.message });
      }
    },
  };
};

export const createContainerd = (): Check => {
  let wasThere = false;
  return {
    name: 'containerd',
    title: 'whether containerd answers',
    look: async (context, results) => {
      const reason = 'ContainerRuntimeUnhealthy';
      const files = await listIfThere(context.host, '/run/containerd');
      if (!files.includes('containerd.sock')) {
        results.saw(wasThere ? 'containerd’s socket is gone' : 'no containerd');
        if (wasThere) results.found(reason, { detail: '/run/containerd/containerd.sock is gone' });
        return;
      }
      const outcome = await runProgram(context, 'ctr', ['--connect-timeout', '5s', 'version']);
      if (outcome.kind === 'missing') return results.lacks([reason], 'ctr is not installed');
      wasThere = true;
      const why = whyNoOutput('ctr version', outcome);
      results.saw(why === undefined ? 'containerd answers' : 'containerd does not answer');
      if (why !== undefined) results.found(reason, { detail: why });
    },
  };
};

/** Requests to containerd within this time count. */
const recentMs = 3_600_000;

const recentDeprecations = (context: CheckContext, results: Results, text: string): void => {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    results.lacks(['DeprecatedContainerdConfiguration'], 'ctr does not print JSON');
    return;
  }
  const warnings = Array.isArray(value) ? value : [];
  results.saw(`${warnings.length} deprecations`);
  for (const one of warnings) {
    const { id, lastOccurrence, message } = objectOr(one);
    const at = parseTime(typeof lastOccurrence === 'string' ? lastOccurrence : undefined);
    if (at === undefined || context.now - at > recentMs) continue;
    results.found('DeprecatedContainerdConfiguration', {
      id: String(id ?? ''),
      detail: String(message ?? ''),
    });
  }
};

export const containerdDeprecations: Check = {
  name: 'containerd-deprecations',
  title: 'what containerd was asked for and is to lose',
  look: async (context, results) => {
    const files = await listIfThere(context.host, '/run/containerd');
    if (!files.includes('containerd.sock')) return results.saw('no containerd');
    const outcome = await runProgram(context, 'ctr', ['deprecations', 'list', '--format=json']);
    const why = whyNoOutput('ctr deprecations', outcome);
    // The command exists only from containerd 1.7.12 on.
    if (why !== undefined) return results.lacks(['DeprecatedContainerdConfiguration'], why);
    recentDeprecations(context, results, outputText(outcome));
  },
};
