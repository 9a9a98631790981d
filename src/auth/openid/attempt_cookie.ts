import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import { isSecretText, newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';

/** Time that a person has at the provider. */
export const ATTEMPT_MINUTES = 10;

/**
 * The cookie that ties an answer of a provider to the browser in which its sign-in was begun. Several tabs share one
 * secret, so that each of them may sign in.
 */
export interface AttemptCookie {
  /** Returns the secret; null without one of the right form. */
  read(header: string | undefined): string | null;
  give(secret: string): string;
}

/**
 * Returns the cookie of an attempt. Over https its name has the prefix by which browsers refuse a cookie of another
 * host or an insecure page.
 */
export function attemptCookieOf(baseUrl: string): AttemptCookie {
  const isSecure = baseUrl.startsWith('https://');
  const name = isSecure ? '__Host-tocsin_provider' : 'tocsin_provider';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}; Max-Age=${ATTEMPT_MINUTES * 60}`;
  return {
    read(header) {
      const pairs = (header ?? '').split(';').map((pair) => pair.trim());
      const secret = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
      return isSecretText(SECRET_PREFIXES.signInAttempt, secret) ? secret : null;
    },
    give: (secret) => `${name}=${secret}; ${attributes}`,
  };
}

export const newAttemptSecret = (): string => newSecretText(SECRET_PREFIXES.signInAttempt);

/** Values of one sign-in that the provider and the browser hand back. */
export interface AttemptKeys {
  readonly state: string;
  readonly nonce: string;
  /** Verifier of PKCE. */
  readonly verifier: string;
}

/**
 * Derives the keys of a sign-in from the secret of its browser and its state. The database holds neither of them, so
 * that whoever reads it can complete no sign-in.
 */
export function attemptKeysOf(secret: string, state: string): AttemptKeys {
  const derive = (purpose: string): string =>
    createHmac('sha256', secret).update(`${purpose}\n${state}`).digest('base64url');
  return { state, nonce: derive('nonce'), verifier: derive('verifier') };
}

/** Returns what the database keeps of the browser of a sign-in. */
export function browserHashOf(secret: string): string {
  return createHash('sha256').update(`browser\n${secret}`).digest('base64url');
}

/** Whether the secret is that of the browser whose hash was kept. */
export function isSameBrowser(secret: string, browserHash: string): boolean {
  const [actual, expected] = [Buffer.from(browserHashOf(secret)), Buffer.from(browserHash)];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
