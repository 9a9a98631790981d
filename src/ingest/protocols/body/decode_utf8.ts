import { isUtf8 } from 'node:buffer';
import { AppError } from '#kernel/errors.ts';

/** Throws `invalid_input` unless the body is UTF-8: replacement characters would make different texts equal. */
export function checkUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new AppError('invalid_input', 'the body is not UTF-8');
}
