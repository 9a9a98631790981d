/** Loopback names of this machine: browsers treat them as different origins, people do not. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether a browser says that one of our pages sent the request: a page of the public address or, if that is this
 * machine itself, of the same address under another loopback name.
 */
export function isOwnOrigin(origin: string | undefined, host: string | undefined, baseUrl: string): boolean {
  const base = new URL(baseUrl);
  if (origin === base.origin) return true;
  if (origin === undefined || !LOOPBACK_NAMES.includes(base.hostname) || !URL.canParse(origin)) return false;
  const sender = new URL(origin);
  return LOOPBACK_NAMES.includes(sender.hostname) && sender.origin === origin && origin === `${base.protocol}//${host}`;
}
