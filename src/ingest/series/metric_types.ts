import type { Id } from '#kernel/ids.ts';

/** Of one service; names beyond it are judged by their form. */
const FAMILIES_MAX = 20_000;
const NAME_LENGTH_MAX = 512;
/** Conflicts of one request whose metrics are named. */
const NAMED_MAX = 5;

/** A metric that a sender has said another type of than before. */
interface TypeChange {
  readonly name: string;
  readonly before: number;
  readonly now: number;
}

/**
 * The types that the senders of one service have said their metrics have, by the names of the metric families, in the
 * numbers of Prometheus (`counter_names.ts`).
 */
export class MetricTypes {
  readonly #types = new Map<string, number>();
  /** Rises whenever a type becomes known or another one. */
  version = 0;

  readonly typeOf = (family: string): number | undefined => this.#types.get(family);

  /** Notes what a sender says; the change, if it is another type than before. A type of 0 says nothing. */
  tell(name: string, now: number): TypeChange | null {
    const before = this.#types.get(name);
    if (before === now || now === 0 || name.length > NAME_LENGTH_MAX) return null;
    if (before === undefined && this.#types.size >= FAMILIES_MAX) return null;
    this.#types.set(name, now);
    this.version += 1;
    return before === undefined ? null : { name, before, now };
  }
}

/** Metrics of one request that have another type than before: how many, and the first ones. */
export class TypeChanges {
  count = 0;
  readonly named: TypeChange[] = [];

  add(change: TypeChange | null): void {
    if (change === null) return;
    this.count += 1;
    if (this.named.length < NAMED_MAX) this.named.push(change);
  }
}

const NAMES = ['unknown', 'counter', 'gauge', 'histogram', 'gauge histogram', 'summary', 'info', 'state set'] as const;

/** `jobs_count (gauge, before counter)`. */
export function describeTypeChanges({ count, named }: Pick<TypeChanges, 'count' | 'named'>): string {
  const shown = named.map(({ name, before, now }) => `${name} (${nameOf(now)}, before ${nameOf(before)})`);
  const more = count > named.length ? ', …' : '';
  return `${count} ${count === 1 ? 'metric has' : 'metrics have'} another type than before: ${shown.join(', ')}${more}`;
}

function nameOf(type: number): string {
  return NAMES[type] ?? 'unknown';
}

/** About 100 MB of names at the very most. */
const SERVICES_MAX = 200;

/** What this process was told, by service: the ones that were not heard of for longest are forgotten. */
export class ServiceTypes {
  readonly #services = new Map<Id<'service'>, MetricTypes>();

  of(serviceId: Id<'service'>): MetricTypes {
    const types = this.#services.get(serviceId) ?? new MetricTypes();
    this.#services.delete(serviceId);
    this.#services.set(serviceId, types);
    const oldest = this.#services.size > SERVICES_MAX ? this.#services.keys().next().value : undefined;
    if (oldest !== undefined) this.#services.delete(oldest);
    return types;
  }
}
