import { setTimeout as wait } from 'node:timers/promises';

/** Waits in real time, at least one turn of the event loop. It does not keep the process alive. */
export async function pause(ms: number): Promise<void> {
  await (ms > 0 ? wait(ms, undefined, { ref: false }) : new Promise((resolve) => setImmediate(resolve)));
}
