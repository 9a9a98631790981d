import { isUtf8 } from 'node:buffer';
import { AppError } from '#kernel/errors.ts';

/** `invalid_input` when the body is no UTF-8, since replaced bytes would make different texts equal. */
export function checkUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new AppError('invalid_input', 'the body is not UTF-8');
}
