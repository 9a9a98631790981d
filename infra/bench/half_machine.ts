import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Processes that have a part of this machine's processors between them. */
export interface ProcessorLimit {
  /** Command that starts a program within the limit; it stands before the program's command line. */
  readonly command: readonly string[];
  /** Once the programs have ended. */
  remove(): Promise<void>;
}

const PERIOD_US = 100_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/**
 * Limits the processor time a second of everything that is started within it, on however many processors: one of two is
 * a machine half as fast. It uses a control group of Linux, which needs root.
 */
export function limitProcessors(processors: number): ProcessorLimit {
  const quota = Math.round(processors * PERIOD_US);
  const isVersion1 = existsSync(path.join(VERSION_1, 'cpu.cfs_quota_us'));
  const group = path.join(isVersion1 ? VERSION_1 : VERSION_2, `tocsin-bench-${process.pid}`);
  mkdirSync(group);
  if (isVersion1) {
    writeFileSync(path.join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(path.join(group, 'cpu.cfs_quota_us'), String(quota));
  } else writeFileSync(path.join(group, 'cpu.max'), `${quota} ${PERIOD_US}`);
  return {
    command: ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', group],
    async remove() {
      // What has ended leaves the group a moment later.
      for (let tries = 0; tries < 50; tries += 1) {
        try {
          rmdirSync(group);
          return;
        } catch {
          await delay(100);
        }
      }
    },
  };
}
