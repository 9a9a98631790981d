import type { Client } from 'pg';

/** Returns the id of the backup whose restore has begun and not ended; null if there is none. */
export async function findRestoreMarker(client: Client): Promise<string | null> {
  const { rows: tables } = await client.query<{ table: string | null }>(
    `select to_regclass('public.restore_under_way')::text as table`,
  );
  if (tables[0]?.table == null) return null;
  const { rows } = await client.query<{ backup: string }>('select backup from public.restore_under_way');
  return rows[0]?.backup ?? '';
}

/** Sets the marker that keeps every process of the product from starting on this database. */
export async function setRestoreMarker(client: Client, backup: string): Promise<void> {
  await client.query(`
    begin;
    create table if not exists public.restore_under_way (backup text not null, begun_at timestamptz not null default now());
    truncate public.restore_under_way;
    commit`);
  await client.query('insert into public.restore_under_way (backup) values ($1)', [backup]);
}

export const CLEAR_RESTORE_MARKER = 'drop table public.restore_under_way';

/** Message shown when the marker is present. */
export const UNFINISHED_RESTORE =
  'a restore into this database has not ended: repeat "tocsin restore", which starts over, before you start anything';
