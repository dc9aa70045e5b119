// Who may see the page: a credential is exchanged once for a cookie that scripts cannot read and
// other sites cannot send. A world's page takes the key of its link, a controller's page the
// caller's own token. Knows no rights.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

interface Refused {
  readonly kind: 'error';
  readonly status: number;
  readonly message: string;
}
type Opened = { readonly kind: 'ok'; readonly cookie: string } | Refused;

export interface PageAccess {
  /** Whether a request with this cookie may read, now. */
  knows(cookie: string): Promise<boolean>;
  /** Exchanges the credential of `Authorization: Bearer`. */
  open(bearer: string): Promise<Opened>;
  readonly signIn: 'link' | 'token';
  /** How a user signs in. */
  readonly how: string;
}

const derive = (secret: string, purpose: string): string =>
  createHmac('sha256', secret).update(`drover page ${purpose}`).digest('base64url');

const isSame = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};

/** The key for the fragment of the link; nothing else of the secret can be derived from it. */
export const pageKey = (secret: string): string => derive(secret, 'key');

/** By the key of a link. Key and cookie outlive a restart. */
export const keyAccess = (secret: string): PageAccess => {
  const cookie = derive(secret, 'cookie');
  return {
    knows: async (value) => isSame(value, cookie),
    open: async (bearer) =>
      isSame(bearer, pageKey(secret))
        ? { kind: 'ok', cookie }
        : {
            kind: 'error',
            status: 401,
            message: 'the key of this link is not valid: run `drover page`',
          },
    signIn: 'link',
    how: 'open the page by the link that `drover page` prints',
  };
};

/** A session ends after an hour, however its token fares. */
const sessionMs = 3_600_000;
/** A session in use is reviewed this often: rights that were withdrawn end it. */
const reviewEveryMs = 60_000;
const maxSessions = 256;

type Review = (token: string) => Promise<{ readonly kind: 'ok' } | Refused>;

/** The token stays in memory to be reviewed again, and is sent only to the API server. */
interface Session {
  readonly token: string;
  readonly endsAt: number;
  readonly reviewedAt: number;
  /** The newest review; requests that arrive meanwhile wait for it. */
  readonly isAccepted: Promise<boolean>;
}

/** By the caller's own token, which `review` judges. Sessions end with the process. */
export const tokenAccess = (
  review: Review,
  nowMs: () => number = () => performance.now(),
): PageAccess => {
  const sessions = new Map<string, Session>();
  /** If the API server does not answer, accepted sessions stay accepted. */
  const isStillAccepted = async (token: string): Promise<boolean> => {
    const verdict = await review(token);
    return verdict.kind === 'ok' || verdict.status >= 500;
  };
  return {
    knows: async (cookie) => {
      const now = nowMs();
      for (const [known, { endsAt }] of sessions) if (endsAt <= now) sessions.delete(known);
      let session = sessions.get(cookie);
      if (session === undefined) return false;
      if (now - session.reviewedAt >= reviewEveryMs) {
        const isAccepted = isStillAccepted(session.token);
        session = { ...session, reviewedAt: now, isAccepted };
        sessions.set(cookie, session);
      }
      const isAccepted = await session.isAccepted;
      if (!isAccepted) sessions.delete(cookie);
      return isAccepted;
    },
    open: async (bearer) => {
      const verdict = await review(bearer);
      if (verdict.kind === 'error') return verdict;
      const now = nowMs();
      for (const [known, { endsAt }] of sessions) {
        if (endsAt <= now || sessions.size >= maxSessions) sessions.delete(known);
      }
      const cookie = randomBytes(32).toString('base64url');
      const isAccepted = Promise.resolve(true);
      sessions.set(cookie, { token: bearer, endsAt: now + sessionMs, reviewedAt: now, isAccepted });
      return { kind: 'ok', cookie };
    },
    signIn: 'token',
    how: 'sign in with a token of yours: `kubectl create token NAME` prints one',
  };
};

/** `Authorization: Bearer TOKEN`. */
export const bearerOf = ({
  authorization = '',
}: Readonly<Record<string, string>>): string | undefined =>
  /^Bearer (.+)$/.exec(authorization)?.[1];

/** Cookies are shared by all ports of a host: the name has the port. */
const cookieName = (port: number): string => `drover-page-${port}`;

export const cookieOf = (
  { cookie = '' }: Readonly<Record<string, string>>,
  port: number,
): string | undefined => {
  const prefix = `${cookieName(port)}=`;
  const parts = cookie.split(';').map((part) => part.trim());
  return parts.find((part) => part.startsWith(prefix))?.slice(prefix.length);
};

export const setCookie = (cookie: string, port: number): string =>
  `${cookieName(port)}=${cookie}; Path=/page/; HttpOnly; SameSite=Strict`;
