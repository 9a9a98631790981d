const BYTES = 16;

/**
 * Returns an idempotency key for one request, so that the server carries it out once however often it arrives. Works
 * over plain HTTP, too.
 */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
