#!/usr/bin/env bash
# MikroORM: a generated migration drops every table and schema of the database that belongs to no entity.
#
# A job queue or another program often keeps its tables in a schema of its own in the same database. One expects the first
# migration to create the table of the entity; it also holds `drop table … cascade` for the waiting jobs, and `drop schema`,
# although no entity names that schema. What others own has to be listed in `schemaGenerator.ignoreSchema`.
set -euo pipefail
cd "$(mktemp -d)"
chmod 755 "$PWD"
is_up=no
as_owner() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
trap '[ "$is_up" = no ] || as_owner "$bin/pg_ctl" -D "$PWD/data" -m fast stop >/dev/null; rm -rf "$PWD"' EXIT
ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || apt-get install -y -qq postgresql >/dev/null
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
npm init -y >/dev/null
npm install --no-audit --no-fund --silent --save-exact @mikro-orm/core@7.2.1 @mikro-orm/postgresql@7.2.1 \
  @mikro-orm/migrations@7.2.1 pg@8.22.0 >/dev/null
mkdir data
[ "$(id -u)" != 0 ] || chown postgres data
as_owner "$bin/initdb" -D "$PWD/data" -A trust -U owner >/dev/null
as_owner "$bin/pg_ctl" -D "$PWD/data" -o "-k $PWD/data -h ''" -l "$PWD/data/log" -w start >/dev/null
is_up=yes
cat >try.mjs <<'JS'
import { Migrator } from '@mikro-orm/migrations';
import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import pg from 'pg';

const connection = { host: `${process.cwd()}/data`, user: 'owner' };
const other = new pg.Client({ ...connection, database: 'postgres' });
await other.connect();
await other.query('CREATE SCHEMA jobs; CREATE TABLE jobs.waiting (id serial PRIMARY KEY, name text NOT NULL)');
await other.end();

const User = defineEntity({ name: 'User', properties: { id: p.integer().primary(), name: p.string() } });
async function firstMigration(schemaGenerator) {
  const migrations = { path: './migrations', snapshot: false, emit: 'js' };
  const options = { ...connection, dbName: 'postgres', entities: [User], extensions: [Migrator], migrations, schemaGenerator };
  const orm = await MikroORM.init(options);
  const { diff } = await orm.migrator.create();
  await orm.close();
  return diff.up.filter((line) => line !== '');
}

const plain = await firstMigration({});
const ignoring = await firstMigration({ ignoreSchema: ['jobs'] });
console.log(`by default:\n  ${plain.join('\n  ')}\nwith ignoreSchema:\n  ${ignoring.join('\n  ')}`);
const drops = (lines) => lines.filter((line) => line.startsWith('drop')).length;
process.exit(drops(plain) === 2 && drops(ignoring) === 0 ? 0 : 1);
JS
echo "MikroORM $(node -p "require('./package.json').dependencies['@mikro-orm/core']")"
node try.mjs
