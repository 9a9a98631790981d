import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';

/** A move that is worked on. */
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
