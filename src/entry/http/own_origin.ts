/** The names of this machine for itself: browsers take them for different places, people do not. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether a browser says that a page of ours sent the request: one of the public address, or, where that is this machine
 * for itself, one of the very address that was asked under another of its names.
 */
export function isOwnOrigin(origin: string | undefined, host: string | undefined, baseUrl: string): boolean {
  const own = new URL(baseUrl);
  if (origin === own.origin) return true;
  if (origin === undefined || !LOOPBACK_NAMES.includes(own.hostname) || !URL.canParse(origin)) return false;
  const sender = new URL(origin);
  return LOOPBACK_NAMES.includes(sender.hostname) && sender.origin === origin && origin === `${own.protocol}//${host}`;
}
