import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy, AuditEntry } from '#modules/audit/store/audit_store.ts';

/** One change that an identity provider makes in its organization, whose memberships are locked. */
export interface ProvisioningUnit {
  readonly unit: UnitOfWork;
  readonly orgId: Id<'org'>;
  readonly by: AuditedBy;
  /** Role of people whom no mapped group gives one. */
  readonly fallback: ProvisionedRole;
  readonly room: ProvisioningRoom;
  /** Adds rows to the audit log, in the name of the token; they are written before the change commits. */
  record(changes: readonly ProvisioningChange[]): void;
}

interface Waiting {
  readonly by: AuditedBy;
  /** Makes the change; returns how its caller is told once it has committed. */
  readonly make: (provisioning: ProvisioningUnit) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

/**
 * Makes the changes of identity providers. Those of one organization come one after another; all that wait meanwhile are
 * one transaction, because to lock, to write the audit log and to commit take as long for one change as for many.
 */
export class ProvisioningChanges {
  readonly #runtime: UnitOfWorkRuntime;
  readonly #room: ProvisioningRoom;
  readonly #waiting = new Map<Id<'org'>, Waiting[]>();

  constructor(runtime: UnitOfWorkRuntime, room: ProvisioningRoom) {
    this.#runtime = runtime;
    this.#room = room;
  }

  /** Resolves once the change has committed. One that throws changes nothing, and no other. */
  async make<Result>(
    orgId: Id<'org'>,
    by: AuditedBy,
    work: (provisioning: ProvisioningUnit) => Promise<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const make = async (provisioning: ProvisioningUnit) => {
      const result = await work(provisioning);
      return () => resolve(result);
    };
    const change = { by, make, fail: reject };
    const waiting = this.#waiting.get(orgId);
    if (waiting === undefined) void this.#makeFrom(orgId, [change]);
    else waiting.push(change);
    return await promise;
  }

  async #makeFrom(orgId: Id<'org'>, first: readonly Waiting[]): Promise<void> {
    for (let changes = first; changes.length > 0; changes = this.#waiting.get(orgId) ?? []) {
      this.#waiting.set(orgId, []);
      await this.#makeAll(orgId, changes);
    }
    this.#waiting.delete(orgId);
  }

  /** Makes all changes or, if one of them fails and undoes the others, each by itself. */
  async #makeAll(orgId: Id<'org'>, changes: readonly Waiting[]): Promise<void> {
    let isUndone = false;
    try {
      const succeed = await inUnitOfWork(this.#runtime, async (unit) => {
        const fallback = await unit.stores.provisioning.lockProvisionedRole(orgId);
        const entries: AuditEntry[] = [];
        const made: (() => void)[] = [];
        isUndone = true;
        for (const { by, make } of changes) {
          const record: ProvisioningUnit['record'] = (rows) => {
            entries.push(...rows.map((row) => ({ orgId, ...by, result: 'done' as const, ...row })));
          };
          made.push(await make({ unit, orgId, by, fallback, room: this.#room, record }));
        }
        isUndone = false;
        await unit.stores.audit.appendAll(entries, unit.now);
        return made;
      });
      for (const tell of succeed) tell();
    } catch (error) {
      if (!isUndone || changes.length === 1) for (const { fail } of changes) fail(error);
      else for (const change of changes) await this.#makeAll(orgId, [change]);
    }
  }
}

/** Room below a limit, counted again before it can be used up: to count thousands of rows takes longer than to add one. */
export class Room {
  readonly #max: number;
  readonly #left = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether there is room for so many more; `count` tells how many there are without them. */
  async take(key: string, more: number, count: () => Promise<number>): Promise<boolean> {
    let left = this.#left.get(key) ?? 0;
    if (left < more) {
      const room = this.#max - (await count());
      if (room < more) return false;
      left = Math.max(more, Math.floor(room / PROCESSES_MAX));
    }
    if (this.#left.size >= KEYS_MAX) this.#left.clear();
    this.#left.set(key, left - more);
    return true;
  }
}

/** Rooms of one process, which others of the installation use up as well. */
interface ProvisioningRoom {
  readonly users: Room;
  readonly groupMembers: Room;
}

/** Processes that may take requests; each uses at most its part of the room that it has counted. */
const PROCESSES_MAX = 32;
const KEYS_MAX = 10_000;

export interface ProvisioningChange {
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
}
