/** What zlib's synchronous functions return when they are asked for their engine, too. */
interface Done {
  readonly buffer: Buffer;
  readonly engine: { _outBuffer: Buffer | null };
}

/**
 * Runs one of zlib's synchronous functions and has its engine let go of the memory that it wrote to, which is also
 * that of the result. Engines live until V8 looks through the whole heap, and it does so the sooner the more memory
 * they hold: with a thousand small bodies a second every five seconds, a tenth of a second each time.
 */
export function letGo<Options extends object>(
  work: (bytes: Buffer, options: Options) => Buffer,
  bytes: Buffer,
  options: Options,
): Buffer {
  const { buffer, engine } = work(bytes, { ...options, info: true }) as unknown as Done;
  engine._outBuffer = null;
  return buffer;
}
