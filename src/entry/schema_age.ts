import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Client } from 'pg';

export const MIGRATIONS_DIR = path.join(import.meta.dirname, '../../infra/migrations');

type Store = 'postgres' | 'clickhouse';

/** Returns the names of this program's migrations, oldest first. */
export function migrationNames(store: Store): string[] {
  return readdirSync(path.join(MIGRATIONS_DIR, store))
    .filter((name) => /^\d{4}_.*\.ts$/.test(name))
    .map((name) => name.slice(0, -'.ts'.length))
    .toSorted();
}

/**
 * Returns the oldest program that works on the schema made by this program's migrations, as the newest migration of
 * each store that it has to know. A migration that removes what older programs need raises it.
 */
export function worksWith(): Readonly<Record<Store, string>> {
  return JSON.parse(readFileSync(path.join(MIGRATIONS_DIR, 'works_with.json'), 'utf8')) as Record<Store, string>;
}

interface Marks {
  readonly works_with_postgres?: string | null;
  readonly works_with_clickhouse?: string | null;
}

/** Returns why this program cannot work on the schema, and what to do; null if it can, or has to migrate. */
export async function findSchemaFault(client: Pick<Client, 'query'>): Promise<string | null> {
  if (!(await hasTable(client, 'migrated_by'))) return null;
  // The columns are those of the release that has run the migrations.
  const { rows } = await client.query<{ marks: Marks }>('select to_jsonb(m) as marks from migrated_by m');
  const marks = rows[0]?.marks ?? {};
  const needed: readonly [Store, string | null | undefined][] = [
    ['postgres', marks.works_with_postgres],
    ['clickhouse', marks.works_with_clickhouse],
  ];
  const unknown = needed.flatMap(([store, name]) => (name != null && name > newest(store) ? [name] : []));
  if (unknown.length === 0) return null;
  return `a newer release has migrated the stores, and this one does not work with them (${unknown.join(', ')} is missing here); start that release, or a newer one, or restore the backup from before`;
}

/** Whether the schema has migrations unknown to this program. */
export async function isSchemaNewer(client: Pick<Client, 'query'>): Promise<boolean> {
  if (!(await hasTable(client, 'migrations'))) return false;
  const { rows } = await client.query<{ name: string }>('select name from migrations');
  const migrations = new Set(migrationNames('postgres'));
  return rows.some(({ name }) => !migrations.has(name.replace(/\.(ts|js)$/, '')));
}

async function hasTable(client: Pick<Client, 'query'>, name: string): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [name]);
  return rows[0]?.is_there === true;
}

function newest(store: Store): string {
  return migrationNames(store).at(-1) ?? '';
}
