/** Processor time that this thread has used so far, in milliseconds: what it waited for a processor does not count. */
export function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
