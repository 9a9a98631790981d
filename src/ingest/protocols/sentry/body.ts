import { AppError } from '#kernel/errors.ts';

/** Returns the plain bytes of a body by its Content-Encoding; provided by the caller, bounded. */
export type Inflate = (body: Buffer, contentEncoding: string | undefined) => Promise<Buffer>;

/**
 * The plain bytes of a request, whatever a client did to them. Raven clients name no encoding: they send JSON,
 * gzip, zlib, or base64 of zlib, told apart by the first bytes.
 */
export async function plainBody(body: Buffer, contentEncoding: string | undefined, inflate: Inflate): Promise<Buffer> {
  const declared = await inflate(body, contentEncoding);
  const encoding = hiddenEncoding(declared);
  if (encoding !== null) return inflate(declared, encoding);
  if (declared !== body || startsAsJson(declared)) return declared;
  const decoded = fromBase64(declared);
  return decoded === null ? declared : inflate(decoded, hiddenEncoding(decoded) ?? undefined);
}

function hiddenEncoding(body: Buffer): 'gzip' | 'deflate' | null {
  if (body[0] === 0x1f && body[1] === 0x8b) return 'gzip';
  return body[0] === 0x78 && body.length > 2 && body.readUInt16BE(0) % 31 === 0 ? 'deflate' : null;
}

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** Returns whether the body starts as JSON, after at most a hundred blanks and a byte order mark. */
function startsAsJson(body: Buffer): boolean {
  const first = body.subarray(0, 100).find((byte) => !BLANKS.has(byte));
  return first === undefined || first === 0x7b || first === 0x5b;
}

/** Decodes base64; null if the first hundred characters are not base64. */
function fromBase64(body: Buffer): Buffer | null {
  const head = body.toString('latin1', 0, 100).trim();
  return /^[A-Za-z0-9+/_\-\r\n]+={0,2}$/.test(head) ? Buffer.from(body.toString('latin1'), 'base64') : null;
}

export function notSentry(what: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `the body is no ${what}`, { cause });
}
