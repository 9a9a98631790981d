import { AppError } from '#kernel/errors.ts';

/** Refuses a body over the limit, as `payload_too_large`. */
export function checkBodySize(body: Buffer, bytesMax: number): void {
  if (body.length > bytesMax) {
    throw new AppError('payload_too_large', `the body has ${body.length} bytes, at most ${bytesMax} are taken`);
  }
}
