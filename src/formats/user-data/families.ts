// The image families whose user data is supported, their names in other tools, and how to detect a
// family from a text. Does not parse the texts.

export const families = [
  'al2',
  'al2023',
  'bottlerocket',
  'windows',
  'ubuntu',
  'cloud-init',
] as const;
export type Family = (typeof families)[number];

/** `amiFamily` of eksctl and `amiType` of EKS; a family's own name is valid too. */
const names: readonly (readonly [RegExp, Family])[] = [
  [/^(?:al2023|amazonlinux2023|AL2023_.*|amazon-linux-2023)$/i, 'al2023'],
  [/^(?:al2|amazonlinux2|AL2_.*|amazon-linux-2)$/i, 'al2'],
  [/^bottlerocket(?:_.*)?$/i, 'bottlerocket'],
  [/^windows(?:server.*|_.*)?$/i, 'windows'],
  [/^ubuntu.*$/i, 'ubuntu'],
  [/^(?:cloud-?init|kubeadm)$/i, 'cloud-init'],
];

/** Undefined for an unknown name. */
export const familyCalled = (name: string): Family | undefined =>
  names.find(([pattern]) => pattern.test(name))?.[1];

/** The family that the text's markers indicate; undefined when unrecognized. */
export const guessFamily = (text: string): Family | undefined => {
  if (/application\/node\.eks\.aws|\bnode\.eks\.aws\/v1/i.test(text)) return 'al2023';
  if (/<powershell>|EKSBootstrapScriptFile|Start-EKSBootstrap/i.test(text)) return 'windows';
  if (/^[ \t]*\[+[ \t]*settings\b|^[ \t]*settings\.[\w-]/m.test(text)) return 'bottlerocket';
  if (/\/etc\/eks\/bootstrap\.sh/.test(text)) return 'al2';
  if (/^[ \t]*kind:[ \t]*["']?NodeConfig\b/m.test(text)) return 'al2023';
  if (/^#cloud-config/m.test(text) || /\bkubeadm\s+join\b/.test(text)) return 'cloud-init';
  if (/^Content-Type:[ \t]*multipart\//im.test(text) || text.startsWith('#!')) return 'al2';
  return undefined;
};
