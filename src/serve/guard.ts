// Admits requests to a loopback listener: the right Host (no DNS rebinding) and no foreign Origin
// (browsers send form-encoded AWS calls without preflight). Checks no credentials.

export type Verdict = { readonly kind: 'ok' } | { readonly kind: 'refused'; readonly why: string };

const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]']);

const hostOf = (authority: string): { name: string; port: string } => {
  const colon = authority.lastIndexOf(':');
  const bracket = authority.lastIndexOf(']');
  return colon > bracket
    ? { name: authority.slice(0, colon).toLowerCase(), port: authority.slice(colon + 1) }
    : { name: authority.toLowerCase(), port: '' };
};

/** Checks the headers of one request that arrived on loopback port `port`. */
export const checkHostAndOrigin = (
  headers: Readonly<Record<string, string>>,
  port: number,
): Verdict => {
  const host = headers.host;
  if (host === undefined) return { kind: 'refused', why: 'the Host header is missing' };
  const { name, port: asked } = hostOf(host);
  if (!loopbackNames.has(name) || asked !== String(port)) {
    return {
      kind: 'refused',
      why: `Host ${JSON.stringify(host)} is not this listener: ask 127.0.0.1:${port}`,
    };
  }
  const origin = headers.origin;
  if (origin !== undefined) {
    const own = [...loopbackNames].some(
      (loopback) =>
        origin === `http://${loopback}:${port}` || origin === `https://${loopback}:${port}`,
    );
    if (!own) {
      const why = `Origin ${JSON.stringify(origin)} is foreign: only pages of this listener may call it`;
      return { kind: 'refused', why };
    }
  }
  if (headers['sec-fetch-site'] === 'cross-site') {
    return { kind: 'refused', why: 'the request comes from another site' };
  }
  return { kind: 'ok' };
};
