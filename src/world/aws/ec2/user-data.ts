// What an instance's user data makes of it: node labels, taints, and whether it joins a cluster at
// all. Reads the kubelet flags of a shell bootstrap; never runs anything.

export interface Bootstrap {
  /** True when the user data starts a kubelet (bootstrap.sh, nodeadm or Bottlerocket settings). */
  readonly joins: boolean;
  /** As it is written there; undefined where it is put together when the script runs. */
  readonly clusterName?: string;
  readonly endpoint?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: string;
  }[];
  readonly maxPods?: number;
}

const decode = (base64: string): string => {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return base64;
  }
};

/** UTF-8 text as base64, the form that EC2 takes and gives. */
export const encodeBase64 = (text: string): string => {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
};

const joinMarks = [
  /\/etc\/eks\/bootstrap\.sh\s/,
  /kind:\s*NodeConfig/,
  /^\[settings\.kubernetes\]|^settings\.kubernetes\./m,
  /Start-EKSBootstrap|EKSBootstrapScriptFile/,
];

const name = '["\'`]?([0-9A-Za-z][0-9A-Za-z_-]*)';
/** One per way of bootstrap, as in `joinMarks`. */
const clusterPatterns = [
  new RegExp(`/etc/eks/bootstrap\\.sh\\s+(?:\\\\\\n\\s*)?${name}`),
  new RegExp(`^\\s*cluster:\\s*\\n(?:[ \\t]+[^\\n]*\\n)*?[ \\t]+name:\\s*${name}`, 'm'),
  new RegExp(`^\\s*(?:settings\\.kubernetes\\.)?cluster-name\\s*=\\s*${name}`, 'm'),
  new RegExp(`-EKSClusterName\\s+${name}`),
];
const url = '["\'`]?(https?://[^\\s"\'`\\\\]+)';
const endpointPatterns = [
  new RegExp(`--apiserver-endpoint[= ]${url}`),
  new RegExp(`^\\s*apiServerEndpoint:\\s*${url}`, 'm'),
  new RegExp(`^\\s*(?:settings\\.kubernetes\\.)?api-server\\s*=\\s*${url}`, 'm'),
  new RegExp(`-APIServerEndpoint\\s+${url}`),
];

const firstMatch = (text: string, patterns: readonly RegExp[]): string | undefined => {
  for (const pattern of patterns) {
    const [, found] = pattern.exec(text) ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
};

const flag = (text: string, name: string): string | undefined =>
  new RegExp(`--${name}[= ]([^\\s'"\`\\\\]+)`).exec(text)?.[1];

/** `userData` in base64; `instance` fills what the script would ask the metadata service for. */
export const readUserData = (
  userData: string | undefined,
  instance: { readonly instanceId: string; readonly lifecycle: 'on-demand' | 'spot' },
): Bootstrap => {
  if (userData === undefined) return { joins: false, labels: {}, taints: [] };
  const text = decode(userData)
    .replaceAll(/\$\{?INSTANCE_ID\}?/g, instance.instanceId)
    .replaceAll(/\$\{?INSTANCE_LIFECYCLE\}?/g, instance.lifecycle);
  const clusterName = firstMatch(text, clusterPatterns);
  const endpoint = firstMatch(text, endpointPatterns);
  const maxPods = flag(text, 'max-pods') ?? /(?:^|\.)max-pods\s*=\s*"?(\d+)/m.exec(text)?.[1];
  return {
    joins: joinMarks.some((mark) => mark.test(text)),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(endpoint === undefined ? {} : { endpoint }),
    labels: {
      ...Object.fromEntries(settingsOf(text, 'node-labels')),
      ...Object.fromEntries(
        (flag(text, 'node-labels') ?? '')
          .split(',')
          .filter((pair) => pair.includes('='))
          .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
      ),
    },
    taints: [
      ...(flag(text, 'register-with-taints') ?? '').split(','),
      ...settingsOf(text, 'node-taints').map(([key, value]) => `${key}=${value}`),
    ].flatMap(readTaint),
    ...(maxPods === undefined ? {} : { maxPods: Number(maxPods) }),
  };
};

/** Keys with a text or a list of texts, as a table of their own or one dotted key per line. */
const settingsOf = (text: string, name: string): readonly (readonly [string, string])[] => {
  const value = `\\s*=\\s*(\\[[^\\]]*\\]|'[^']*'|"[^"]*")`;
  const path = `settings\\.kubernetes\\.${name}`;
  const dotted = new RegExp(`^${path}\\.['"]([^'"]+)['"]${value}`, 'gm');
  const table = new RegExp(`^\\[${path}\\]\\s*\\n((?:(?!\\[).*\\n?)*)`, 'm').exec(text)?.[1] ?? '';
  const line = new RegExp(`^\\s*['"]?([^'"\\s=]+)['"]?${value}`, 'gm');
  return [...text.matchAll(dotted), ...table.matchAll(line)].flatMap(([, key = '', texts = '']) =>
    [...texts.matchAll(/'([^']*)'|"([^"]*)"/g)].map(
      ([, single, double]) => [key, single ?? double ?? ''] as const,
    ),
  );
};

const readTaint = (text: string): Bootstrap['taints'] => {
  const match = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text);
  if (match === null) return [];
  const [, key = '', value, effect = ''] = match;
  return [{ key, effect, ...(value === undefined || value === '' ? {} : { value }) }];
};
