/** Return value of zlib's synchronous functions with the option `info`. */
interface ResultWithEngine {
  readonly buffer: Buffer;
  readonly engine: { _outBuffer: Buffer | null };
}

/**
 * Runs one of zlib's synchronous functions and detaches the output buffer from its engine. Otherwise the engine keeps the
 * result alive until the next full garbage collection, and that memory brings the collection forward: at a thousand small
 * bodies a second there was one every five seconds, which stopped the process for 100 ms each time.
 */
export function runZlibSync<Options extends object>(
  work: (bytes: Buffer, options: Options) => Buffer,
  bytes: Buffer,
  options: Options,
): Buffer {
  const { buffer, engine } = work(bytes, { ...options, info: true }) as unknown as ResultWithEngine;
  engine._outBuffer = null;
  return buffer;
}
