import { randomBytes } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import path from 'node:path';

import pg from 'pg';
import { inject } from 'vitest';

import {
  clickhouseSchema,
  postgresState,
  TEMPLATE,
  type Templates,
  withClickHouse,
  withDatabase,
  withPostgres,
} from '#test/kit/templates.ts';

declare module 'vitest' {
  interface ProvidedContext {
    templates: Templates;
    /** A folder of files that are named after databases, of either kind, that a test has released. */
    releasedDatabases: string;
  }
}

/** A database of PostgreSQL and one of ClickHouse, with only what migrations write. */
export interface Databases {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  /** Empties them for who has them; resolves to false when others are to be taken instead. */
  empty(): Promise<boolean>;
  /** Lets another test have them, emptied. */
  release(): Promise<void>;
}

/**
 * Takes the databases of a test that is over, emptied in a tenth of the time that copying the templates takes, or else
 * copies.
 */
export async function takeDatabases(): Promise<Databases> {
  const name = (await takeReleased()) ?? (await copyTemplates());
  let kept: pg.Client | null = null;
  // A connection of its own has planned the statements already, and knows the tables.
  const connection = async (): Promise<pg.Client> => {
    if (kept !== null) return kept;
    const client = new pg.Client({ connectionString: withDatabase(inject('postgresUrl'), name) });
    client.on('error', () => (kept = null));
    await client.connect();
    return (kept = client);
  };
  // No single statement empties the tables of a cluster.
  let mayRelease = inject('clickhouseCluster') === null;
  return {
    databaseUrl: withDatabase(inject('postgresUrl'), name),
    clickhouseUrl: withDatabase(inject('clickhouseUrl'), name),
    async empty() {
      if (!mayRelease) return false;
      const [postgres, isClickHouseEmpty] = await Promise.all([
        connection().then((client) => emptyPostgres(client, 'mine')),
        usedInClickHouse.delete(name) ? emptyClickHouse(name) : true,
      ]);
      return postgres === 'emptied' && isClickHouseEmpty;
    },
    async release() {
      await kept?.end();
      if (mayRelease) writeFileSync(path.join(inject('releasedDatabases'), name), '');
      mayRelease = false;
    },
  };
}

async function copyTemplates(): Promise<string> {
  const name = `w_${randomBytes(6).toString('hex')}`;
  const { clickhouseStatements } = inject('templates');
  const rename = (statement: string): string =>
    statement.replaceAll(` ${TEMPLATE}.`, ` ${name}.`).replaceAll(`'${TEMPLATE}'`, `'${name}'`);
  await Promise.all([
    withPostgres(inject('postgresUrl'), (admin) => admin.query(`create database ${name} template ${TEMPLATE}`)),
    withClickHouse({ clickhouseUrl: inject('clickhouseUrl') }, async (client) => {
      await client.command({ query: `CREATE DATABASE ${name}` });
      for (const statement of clickhouseStatements) await client.command({ query: rename(statement) });
      await client.command({ query: `INSERT INTO ${name}.migrations SELECT * FROM ${TEMPLATE}.migrations` });
    }),
  ]);
  return name;
}

/** Whoever uses a database that was released longer ago may be using it for ever. */
const TRIED_MAX = 4;

/** The one that was released first, so that whoever used it is gone; null when none can be used. */
async function takeReleased(): Promise<string | null> {
  const folder = inject('releasedDatabases');
  const released = readdirSync(folder).map((name) => ({ name, at: releasedAt(path.join(folder, name)) }));
  for (const { name } of released.toSorted((a, b) => a.at - b.at).slice(0, TRIED_MAX)) {
    try {
      rmSync(path.join(folder, name));
    } catch {
      continue; // Another test was quicker.
    }
    const [postgres, isClickHouseEmpty] = await Promise.all([
      withPostgres(withDatabase(inject('postgresUrl'), name), (client) => emptyPostgres(client)),
      emptyClickHouse(name),
    ]);
    if (postgres === 'emptied' && isClickHouseEmpty) return name;
    if (postgres === 'in use') writeFileSync(path.join(folder, name), '');
  }
  return null;
}

function releasedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function emptyPostgres(
  client: pg.Client,
  users: 'none' | 'mine' = 'none',
): Promise<'emptied' | 'in use' | 'changed'> {
  const { postgresSchema, postgresMigratedAt, postgresRows } = inject('templates');
  const { schema, sessions, tables, large, restarts } = await postgresState(client, postgresMigratedAt);
  if (users === 'none' && sessions > 0) return 'in use';
  if (schema !== postgresSchema) return 'changed';
  const deletions = tables.map((table) => `delete from ${table}`);
  // Neither triggers nor foreign keys have a say: everything goes.
  const statements = ['set session_replication_role = replica', ...deletions, ...restarts, postgresRows];
  await client.query(statements.join(';'));
  // Every later test would read the room of the deleted rows.
  for (const table of large) await client.query(`vacuum ${table}`);
  return 'emptied';
}

/** Databases of ClickHouse that this process has asked for anything since it last emptied them. */
const usedInClickHouse = new Set<string>();

subscribe('http.client.request.start', (message) => {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what Node publishes on this channel
  const { request } = message as { request: ClientRequest };
  const name = /[?&]database=(\w+)/.exec(request.path)?.[1];
  if (name !== undefined) usedInClickHouse.add(name);
});

async function emptyClickHouse(name: string): Promise<boolean> {
  return await withClickHouse({ clickhouseUrl: inject('clickhouseUrl') }, async (client) => {
    if ((await clickhouseSchema(client, name)) !== inject('templates').clickhouseSchema) return false;
    await client.command({ query: `TRUNCATE ALL TABLES FROM ${name} NOT LIKE 'migrations'` });
    return true;
  });
}
