import type { Id } from '#kernel/ids.ts';
import { NO_MEMORY, type RuleMemory } from '#modules/rules/decide/breach.ts';
import { anyOf, columns, PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';
import { RulePartMemoryEntity } from '#storage/postgres/entities/oncall.ts';

/** Memory of a rule, or of a part of it, to be stored. */
interface MemoryChange extends RuleMemory {
  readonly ruleId: Id<'rule'>;
  /** Empty text for the whole rule. */
  readonly part?: string;
}

/** Memory of a part of a rule by label. */
export type PartMemory = Row<typeof RulePartMemoryEntity>;

/** Memory that evaluations keep of metric rules and of their parts, beside the incidents. */
export class RuleMemoryStore extends PostgresStore {
  /** Finds the memory of a rule, or of a part of it. */
  async find(ruleId: Id<'rule'>, part = ''): Promise<RuleMemory> {
    if (part !== '') {
      const [memory] = await this.listParts([ruleId], part);
      return memory ?? NO_MEMORY;
    }
    const memory = await this.selectFrom('rule_memory')
      .select(['breached_since as breachedSince', 'silent_since as silentSince', 'missing_since as missingSince'])
      .where('rule_id', '=', ruleId)
      .executeTakeFirst();
    return memory ?? NO_MEMORY;
  }

  /** Lists the memory of the parts of these rules; of one part only if it is named. */
  async listParts(ruleIds: readonly Id<'rule'>[], part: string | null = null): Promise<PartMemory[]> {
    if (ruleIds.length === 0) return [];
    return await this.selectFrom('rule_part_memory as m')
      .select(columns(RulePartMemoryEntity, 'm'))
      .where('m.rule_id', '=', anyOf(ruleIds))
      .$if(part !== null, (query) => query.where('m.part', '=', part ?? ''))
      .execute();
  }

  /** Stores the memory of rules and of their parts, where the rule is not gone; a blank memory removes the row. */
  async set(changes: readonly MemoryChange[]): Promise<void> {
    const isBlank = ({ breachedSince, silentSince, missingSince }: RuleMemory): boolean =>
      breachedSince === null && silentSince === null && missingSince === null;
    await this.clear(changes.filter(isBlank));
    const kept = changes.filter((change) => !isBlank(change));
    const [whole, parts] = [true, false].map((isWhole) => kept.filter(({ part = '' }) => (part === '') === isWhole));
    await this.#insert(whole ?? []);
    await this.#insertParts(parts ?? []);
  }

  async #insert(kept: readonly MemoryChange[]): Promise<void> {
    if (kept.length === 0) return;
    await this.insertInto('rule_memory')
      .columns(['rule_id', 'breached_since', 'silent_since', 'missing_since'])
      .expression((eb) =>
        eb
          .selectFrom(rowsOf('m', memoryColumns(kept)))
          .innerJoin('alert_rules as r', 'r.id', 'm.rule_id')
          .select(['r.id', 'm.breached_since', 'm.silent_since', 'm.missing_since'])
          .orderBy('r.id')
          .forKeyShare('r'),
      )
      .onConflict((conflict) =>
        conflict
          .column('rule_id')
          .doUpdateSet(({ ref }) => ({
            breached_since: ref('excluded.breached_since'),
            silent_since: ref('excluded.silent_since'),
            missing_since: ref('excluded.missing_since'),
          })),
      )
      .execute();
  }

  async #insertParts(kept: readonly MemoryChange[]): Promise<void> {
    if (kept.length === 0) return;
    const rows = rowsOf('m', { ...memoryColumns(kept), part: ['text', kept.map(({ part = '' }) => part)] });
    await this.insertInto('rule_part_memory')
      .columns(['rule_id', 'part', 'breached_since', 'silent_since', 'missing_since'])
      .expression((eb) =>
        eb
          .selectFrom(rows)
          .innerJoin('alert_rules as r', 'r.id', 'm.rule_id')
          .select(['r.id', 'm.part', 'm.breached_since', 'm.silent_since', 'm.missing_since'])
          .orderBy('r.id')
          .forKeyShare('r'),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['rule_id', 'part'])
          .doUpdateSet(({ ref }) => ({
            breached_since: ref('excluded.breached_since'),
            silent_since: ref('excluded.silent_since'),
            missing_since: ref('excluded.missing_since'),
          })),
      )
      .execute();
  }

  /** Forgets what is remembered of rules or of their parts. */
  async clear(of: readonly Pick<MemoryChange, 'ruleId' | 'part'>[]): Promise<void> {
    const whole = of.filter(({ part = '' }) => part === '').map(({ ruleId }) => ruleId);
    if (whole.length > 0) {
      await this.deleteFrom('rule_memory').where('rule_id', '=', anyOf(whole)).execute();
    }
    for (const [part, ofPart] of Map.groupBy(of, ({ part = '' }) => part)) {
      if (part === '') continue;
      await this.deleteFrom('rule_part_memory')
        .where('rule_id', '=', anyOf(ofPart.map(({ ruleId }) => ruleId)))
        .where('part', '=', part)
        .execute();
    }
  }

  /** Forgets what is remembered of a rule and of all its parts. */
  async clearAll(ruleId: Id<'rule'>): Promise<void> {
    await this.clear([{ ruleId }]);
    await this.deleteFrom('rule_part_memory').where('rule_id', '=', ruleId).execute();
  }
}

function memoryColumns(kept: readonly MemoryChange[]) {
  return {
    rule_id: ['text', kept.map(({ ruleId }) => ruleId)],
    breached_since: ['timestamptz', kept.map(({ breachedSince }) => breachedSince)],
    silent_since: ['timestamptz', kept.map(({ silentSince }) => silentSince)],
    missing_since: ['timestamptz', kept.map(({ missingSince }) => missingSince)],
  } as const;
}
