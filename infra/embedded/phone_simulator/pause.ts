import { setTimeout as wait } from 'node:timers/promises';

/** Lets real time pass, at least one turn of the event loop; never keeps the process alive. */
export async function pause(ms: number): Promise<void> {
  await (ms > 0 ? wait(ms, undefined, { ref: false }) : new Promise((resolve) => setImmediate(resolve)));
}
