// The families of images whose user data is read here, with the names that others have for them,
// and how a family is told from a text. Knows nothing of what the texts say.

export const families = [
  'al2',
  'al2023',
  'bottlerocket',
  'windows',
  'ubuntu',
  'cloud-init',
] as const;
export type Family = (typeof families)[number];

/** `amiFamily` of eksctl and `amiType` of EKS; a family's own name is one too. */
const names: readonly (readonly [RegExp, Family])[] = [
  [/^(?:al2023|amazonlinux2023|AL2023_.*|amazon-linux-2023)$/i, 'al2023'],
  [/^(?:al2|amazonlinux2|AL2_.*|amazon-linux-2)$/i, 'al2'],
  [/^bottlerocket(?:_.*)?$/i, 'bottlerocket'],
  [/^windows(?:server.*|_.*)?$/i, 'windows'],
  [/^ubuntu.*$/i, 'ubuntu'],
  [/^(?:cloud-?init|kubeadm)$/i, 'cloud-init'],
];

/** Undefined for a name that is none. */
export const familyCalled = (name: string): Family | undefined =>
  names.find(([pattern]) => pattern.test(name))?.[1];

/** Who reads the text first: what decides how it must be made. */
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
