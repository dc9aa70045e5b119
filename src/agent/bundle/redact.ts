// Removes secrets from texts before they leave the node: tokens, keys, passwords, credentials.
// Prefers removing too much to too little; patterns have no nested repetition, so time is linear.

const gone = '[redacted]';

const patterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, gone],
  // JSON Web Tokens: service accounts, OIDC.
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, gone],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, gone],
  [/\bk8s-aws-v1\.[\w-]+/g, gone],
  // Tokens of kubeadm.
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, gone],
  [/(\bBearer\s+)[\w.~+/=-]+/gi, `$1${gone}`],
  [/(\bAuthorization["']?\s*[:=]\s*["']?)[^\s"']+(?:\s+[^\s"']+)?/gi, `$1${gone}`],
  [
    /((?:secret[_-]?access[_-]?key|session[_-]?token|client-key-data|client-certificate-data|password|passwd|secret|api[_-]?key|token)["']?\s*[:=]\s*["']?)[^\s"',}]{4,}/gi,
    `$1${gone}`,
  ],
  // Credentials in URLs.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi, `$1${gone}@`],
  [/([?&]X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s"']+/gi, `$1${gone}`],
];

export const redactText = (text: string): string =>
  patterns.reduce((so, [pattern, replacement]) => so.replace(pattern, replacement), text);
