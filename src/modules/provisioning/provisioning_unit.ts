import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';

/** One change that an identity provider makes in its organization, whose memberships are locked. */
export interface ProvisioningUnit {
  readonly unit: UnitOfWork;
  readonly orgId: Id<'org'>;
  readonly by: AuditedBy;
  /** Role of people whom no mapped group gives one. */
  readonly fallback: ProvisionedRole;
  readonly room: ProvisioningRoom;
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

/** A change for the audit log. */
export interface ProvisioningChange {
  readonly action: string;
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** Writes the audit rows of changes, in the name of the token. */
export async function recordProvisioning(
  { unit: { stores, now }, orgId, by }: ProvisioningUnit,
  changes: readonly ProvisioningChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await stores.audit.appendAll(
    changes.map((change) => ({ orgId, ...by, result: 'done' as const, ...change })),
    now,
  );
}
