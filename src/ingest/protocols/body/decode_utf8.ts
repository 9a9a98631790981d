import { isUtf8 } from 'node:buffer';
import { AppError } from '#kernel/errors.ts';

/** The body as text; `invalid_input` when it is no UTF-8, since replaced bytes would make different texts equal. */
export function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw new AppError('invalid_input', 'the body is not UTF-8');
  return body.toString('utf8');
}
