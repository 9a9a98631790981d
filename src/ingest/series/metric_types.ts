import { metricTypeOf } from '#modules/metrics/decide/metric_type.ts';

/** Limit on the metric families of one service; names beyond it are judged by their form. */
const FAMILIES_MAX = 20_000;
const NAME_LENGTH_MAX = 512;
/** Longest text that counts as a unit. */
const UNIT_LENGTH_MAX = 63;
/** Conflicts of one request whose metrics are named. */
const NAMED_MAX = 5;

/** Metric whose sender declared another type than before. */
interface TypeChange {
  readonly name: string;
  readonly before: number;
  readonly now: number;
}

interface Family {
  type: number;
  unit: string;
  /** Day on which it was last noted that a sender declares this type. */
  toldOn: number;
}

/**
 * The types and units that the senders of one service have said their metrics have, by the names of the metric families.
 * Types are in the numbers of Prometheus (`modules/metrics/decide/metric_type.ts`).
 */
export class MetricTypes {
  readonly #families = new Map<string, Family>();
  /** Names of families that are not written to the database yet. */
  readonly #unwritten = new Set<string>();
  /** Rises whenever a type becomes known or another one. */
  version = 0;
  /** The number of the day; what is said again on another day is noted again. */
  today = 0;

  readonly typeOf = (family: string): number | undefined => this.#families.get(family)?.type;

  /** Notes what a sender says; the change, if it is another type than before. A type of 0 says nothing. */
  tell(name: string, now: number, unit = ''): TypeChange | null {
    if (now === 0) return null;
    const family = this.#families.get(name);
    if (family === undefined) {
      if (!isStorable(name, NAME_LENGTH_MAX) || this.#families.size >= FAMILIES_MAX) return null;
      this.#families.set(name, { type: now, unit: unitOf(unit), toldOn: this.today });
      this.#unwritten.add(name);
      this.version += 1;
      return null;
    }
    const before = family.type;
    const said = unit === family.unit ? unit : unitOf(unit);
    const isSame = before === now && (said === '' || said === family.unit);
    if (isSame && family.toldOn === this.today) return null;
    family.type = now;
    if (said !== '') family.unit = said;
    family.toldOn = this.today;
    this.#unwritten.add(name);
    if (before === now) return null;
    this.version += 1;
    return { name, before, now };
  }

  /** Learns a type that is stored, possibly by another process. A type declared here since then is newer and stays. */
  learn(name: string, type: number, unit: string): void {
    const family = this.#families.get(name);
    if (this.#unwritten.has(name) || (family === undefined && this.#families.size >= FAMILIES_MAX)) return;
    if (family?.type !== type) this.version += 1;
    this.#families.set(name, { type, unit, toldOn: family?.toldOn ?? this.today });
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Returns the families to write; the caller passes those that it could not write to `leaveUnwritten`. */
  takeUnwritten(): { readonly name: string; readonly type: number; readonly unit: string }[] {
    const taken = [...this.#unwritten].flatMap((name) => {
      const family = this.#families.get(name);
      return family === undefined ? [] : [{ name, type: family.type, unit: family.unit }];
    });
    this.#unwritten.clear();
    return taken;
  }

  leaveUnwritten(names: readonly string[]): void {
    for (const name of names) this.#unwritten.add(name);
  }
}

function unitOf(text: string): string {
  return isStorable(text, UNIT_LENGTH_MAX) ? text : '';
}

/** PostgreSQL has no text with a NUL in it. */
function isStorable(text: string, lengthMax: number): boolean {
  return text !== '' && text.length <= lengthMax && !text.includes('\0');
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

/** Describes type changes, each as `jobs_count (gauge, before counter)`. */
export function describeTypeChanges({ count, named }: Pick<TypeChanges, 'count' | 'named'>): string {
  const shown = named.map(({ name, before, now }) => `${name} (${metricTypeOf(now)}, before ${metricTypeOf(before)})`);
  const more = count > named.length ? ', …' : '';
  return `${count} ${count === 1 ? 'metric has' : 'metrics have'} another type than before: ${shown.join(', ')}${more}`;
}
