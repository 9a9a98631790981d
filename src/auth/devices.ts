import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

import { newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';

/** Lifetime of the cookie; browsers keep none for longer. */
const LIFETIME_SECONDS = 400 * 24 * 60 * 60;
/** Accounts that one browser is known to, the latest first. */
const ACCOUNTS_MAX = 5;

/**
 * The cookie by which a browser in which somebody has signed in before is known, also after the session has ended. It opens
 * nothing: guesses from elsewhere do not keep such a browser out, and its own attempts have a limit of their own.
 */
export interface DeviceCookie {
  /** Returns the id by which the account knows the browser; null if nobody has signed in to the account there. */
  read(header: string | undefined, email: string): string | null;
  /** The `Set-Cookie` by which the browser is known to the account, and to those that it was known to before. */
  give(header: string | undefined, email: string): string;
}

/** The key is derived (HKDF, RFC 5869) from APP_SECRET for this purpose alone. */
export function deviceCookieOf(baseUrl: string, appSecret: string): DeviceCookie {
  const key = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'devices', 32));
  const isSecure = baseUrl.startsWith('https://');
  const name = isSecure ? '__Host-tocsin_device' : 'tocsin_device';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}; Max-Age=${LIFETIME_SECONDS}`;
  const seal = (email: string, id: string): string =>
    createHmac('sha256', key).update(`${email.toLowerCase()}\n${id}`).digest('base64url');
  const readPairs = (header: string | undefined): (readonly [id: string, seal: string])[] => {
    const pairs = (header ?? '').split(';').map((pair) => pair.trim());
    const sealedPair = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
    const entries = sealedPair.split('.').slice(0, ACCOUNTS_MAX);
    return entries.flatMap((entry) => {
      const [id = '', sealed = '', ...rest] = entry.split('~');
      return id === '' || rest.length > 0 ? [] : [[id, sealed] as const];
    });
  };
  const isOf = (email: string, [id, sealed]: readonly [string, string]): boolean => {
    const [signature, expected] = [Buffer.from(sealed), Buffer.from(seal(email, id))];
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };
  return {
    read: (header, email) => readPairs(header).find((entry) => isOf(email, entry))?.[0] ?? null,
    give(header, email) {
      const before = readPairs(header);
      const earlier = before.find((entry) => isOf(email, entry));
      const id = earlier?.[0] ?? newSecretText(SECRET_PREFIXES.device);
      const others = before.filter((entry) => entry !== earlier).slice(0, ACCOUNTS_MAX - 1);
      const entries = [[id, seal(email, id)] as const, ...others];
      return `${name}=${entries.map((entry) => entry.join('~')).join('.')}; ${attributes}`;
    },
  };
}
