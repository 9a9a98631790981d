import type { ConfigurationFile, ScheduleInFile } from '#modules/configuration/decide/file.ts';
import type { MovedItem } from '#modules/moving_in/decide/ledger.ts';
import type { Moved, ScheduleToProve } from '#modules/moving_in/decide/moved.ts';
import { ourShifts } from '#modules/moving_in/decide/our_shifts.ts';
import { type Proof, proofOf, proofWindows, tile } from '#modules/moving_in/decide/proof.ts';

/** Report of what was read, what became of it, and whether the schedules say the same. */
export interface MoveInReport {
  /** Numbers of what was read, by kind; `items` has as many of each. */
  readonly read: Readonly<Record<string, number>>;
  readonly items: readonly MovedItem[];
  readonly proof: readonly Proof[];
}

/** Share of the 90 days from which on a rendered timeline needs no walk beside it. */
const RENDERED_ENOUGH_MS = 80 * 86_400_000;

/** Proves the schedules, passes the last verdicts, and returns the file with its report. */
export function finish(moved: Moved): { readonly file: ConfigurationFile; readonly report: MoveInReport } {
  const file = moved.file();
  const schedules = new Map((file.schedules ?? []).map((schedule) => [schedule.key, schedule]));
  const proof = moved.proofs.flatMap((toProve) => {
    const schedule = schedules.get(toProve.key);
    return schedule === undefined ? [] : proofsOf(moved, toProve, schedule);
  });
  for (const { scheduleId, minutes, equal, from, to } of proof) {
    if (equal === minutes) continue;
    const reason = `${minutes - equal} of ${minutes} minutes differ between ${from} and ${to}; the proof lists them.`;
    moved.ledger.judge('schedule', scheduleId, 'compiled', reason, 'Compare the differences before you rely on it.');
  }
  return { file, report: { read: moved.ledger.counts(), items: moved.ledger.items(), proof } };
}

function proofsOf(moved: Moved, toProve: ScheduleToProve, schedule: ScheduleInFile): Proof[] {
  const clock = moved.clock(schedule.timezone);
  const facts = {
    clock,
    people: moved.people,
    nameOf: (key: string): string => moved.names.get(key) ?? key,
    refused: toProve.refused,
    horizon: toProve.horizon,
  };
  const proofs = toProve.rendered.map((rendered) => {
    const theirs = tile(rendered.stretches, rendered);
    return proofOf(
      toProve,
      'rendered timeline',
      rendered,
      theirs,
      ourShifts(schedule, clock, rendered.from, rendered.to),
      facts,
    );
  });
  if (toProve.rendered.some(({ from, to }) => to - from >= RENDERED_ENOUGH_MS)) return proofs;
  for (const window of proofWindows(clock, moved.time.now, moved.time.proofFrom)) {
    const theirs = tile(toProve.walk(window.from, window.to), window);
    proofs.push(
      proofOf(toProve, 'independent walk', window, theirs, ourShifts(schedule, clock, window.from, window.to), facts),
    );
  }
  return proofs;
}
