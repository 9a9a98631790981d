import path from 'node:path';

import { tryToExecute } from './execute.ts';
import { type Report, Unavailable } from './report.ts';

const UNIT = path.resolve(import.meta.dirname, '../tocsin.service');

/** Checks the unit as far as a machine without the service can: known directives, and the rights of the unit. */
export async function checkUnit(report: Report): Promise<void> {
  const analyse = (...args: string[]) =>
    tryToExecute('systemd-analyze', args).catch(() => {
      throw new Unavailable('there is no systemd-analyze on this machine');
    });
  const verified = await analyse('verify', '--man=no', UNIT);
  // The program and the user of the unit are not on this machine.
  const faults = verified.stderr.split('\n').filter((line) => /Unknown|Failed to parse|Invalid|ignoring/i.test(line));
  if (faults.length > 0) throw new Error(`the systemd unit has faults: ${faults.join('; ')}`);
  const security = await analyse('security', '--offline=true', UNIT);
  const exposure = /Overall exposure level[^:]*:\s*([\d.]+)/.exec(security.stdout)?.[1];
  if (exposure === undefined) throw new Unavailable('this systemd-analyze cannot judge a unit that is not loaded');
  report.figure('systemd unit, exposure (0 best, 10 worst)', exposure);
  if (Number(exposure) > 2) throw new Error(`the systemd unit may do too much: exposure ${exposure}`);
}
