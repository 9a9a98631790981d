import type { RequestOrigin } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { MoveInReport } from '#modules/moving_in/decide/report.ts';
import { type Verdict, VERDICTS } from '#modules/moving_in/decide/ledger.ts';

/** Steps of a move that the console leads through; `collecting` waits for files or a key. */
export const MOVE_IN_STATUSES = ['collecting', 'reading', 'failed', 'read', 'applying', 'applied'] as const;

export type MoveInStatus = (typeof MOVE_IN_STATUSES)[number];

export interface MoveInSummary {
  readonly read: Readonly<Record<string, number>>;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  readonly minutes: number;
  readonly equal: number;
  /** Schedules with a proof. */
  readonly schedules: number;
  /** Schedules whose minutes are not all equal, worst first; the Markdown has all of them. */
  readonly different: readonly DifferentSchedule[];
}

export interface DifferentSchedule {
  readonly schedule: string;
  readonly against: string;
  readonly minutes: number;
  readonly equal: number;
  readonly causes: readonly string[];
}

/** Changes that applying would make, as far as the console shows it. */
export interface MoveInPlan {
  readonly fingerprint: string;
  readonly changes: number;
  readonly byKind: Readonly<Record<string, number>>;
  readonly meaning: readonly string[];
}

const DIFFERENT_MAX = 50;
const CAUSES_MAX = 3;

export function summaryOf({ read, items, proof }: MoveInReport): MoveInSummary {
  const count = (verdict: Verdict): number => items.filter((item) => item.verdict === verdict).length;
  const sum = (field: 'minutes' | 'equal'): number => proof.reduce((total, entry) => total + entry[field], 0);
  const different = proof
    .filter(({ minutes, equal }) => minutes !== equal)
    .toSorted((a, b) => b.minutes - b.equal - (a.minutes - a.equal))
    .slice(0, DIFFERENT_MAX)
    .map(({ schedule, against, minutes, equal, differences }) => {
      const causes = [...new Set(differences.map(({ cause }) => cause))].slice(0, CAUSES_MAX);
      return { schedule, against, minutes, equal, causes };
    });
  return {
    read,
    verdicts: Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(verdict)])) as Record<Verdict, number>,
    minutes: sum('minutes'),
    equal: sum('equal'),
    schedules: new Set(proof.map(({ schedule }) => schedule)).size,
    different,
  };
}

/** Time without a sign of the process that reads or applies, after which the step counts as broken off. */
export const SILENCE_MS = 60_000;

/** Returns the status as it is seen: what a process that ended has left is a step that failed. */
export function seenStatus(row: {
  readonly status: MoveInStatus;
  readonly fault: string | null;
  readonly file: string | null;
  readonly silentMs: number;
}): { readonly status: MoveInStatus; readonly fault: string | null } {
  const { status, fault, file, silentMs } = row;
  if ((status !== 'reading' && status !== 'applying') || silentMs < SILENCE_MS) return { status, fault };
  const isRead = status === 'applying' && file !== null;
  return {
    status: isRead ? 'read' : 'failed',
    fault: isRead
      ? 'The server was stopped while the changes were made. Those that were made stay; apply again, and the rest follows.'
      : 'The server was stopped while it was reading. Begin again: it goes on where it stopped.',
  };
}

export interface MoveInWork {
  readonly moveInId: Id<'movein'>;
  readonly tool: string;
  readonly proofFrom: number | null;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
}

/** Key of a tool and its address, which are in memory alone. */
export interface ToolAccess {
  readonly key: string;
  readonly baseUrl: string | null;
}

/** Means of working on moves beside the requests of a process. What becomes of each is in its row. */
export interface MoveInWorker {
  /** Throws `unavailable` while as many moves are worked on as may be, or one of this organization is. */
  requireRoom(orgId: Id<'org'>): void;
  /** Begins to read with a key, or with null the files that were uploaded. */
  read(work: MoveInWork, access: ToolAccess | null): void;
  /** Ends the reading of a move in this process; another process sees in the row that it was stopped. */
  stop(moveInId: Id<'movein'>): void;
  /** Begins to plan anew, since something may have changed. */
  plan(work: MoveInWork): void;
  /** Begins to make the changes of the plan with this fingerprint. */
  apply(work: MoveInWork, fingerprint: string): void;
  /** Resolves once nothing is worked on. */
  idle(): Promise<void>;
}
