/** Returns the processor time that this thread has used so far, in milliseconds, without waits for a processor. */
export function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
