// A certificate authority that signs nothing: for samples, tests and worlds without outside
// clients. A real X.509 certificate (Ed25519, valid until 9999) whose key was never stored.
const lines = [
  'MIH9MIGwoAMCAQICAQEwBQYDK2VwMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwIBcN',
  'MjAwMTAxMDAwMDAwWhgPOTk5OTEyMzEyMzU5NTlaMBUxEzARBgNVBAMMCmt1YmVy',
  'bmV0ZXMwKjAFBgMrZXADIQAZ6bI8ryViavRuDuwSq6M6WxWbG9hz+LO/hUuWea/+',
  'T6MjMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwBQYDK2VwA0EA',
  'gc2r+oBmIalyZhVS5E65peikbvXu/ILYg2i9Bj2h6zSV8IDAld5ICFaTMpJ+hNN1',
  'CpWLjkVExcu0+CzxIpl1DQ==',
];

const frame = (word: string): string => `-----${word} CERTIFICATE-----`;

/** As PEM. */
export const exampleAuthorityPem = [frame('BEGIN'), ...lines, frame('END'), ''].join('\n');

/** As a cluster returns it: PEM in base64. */
export const exampleAuthority = btoa(exampleAuthorityPem);
