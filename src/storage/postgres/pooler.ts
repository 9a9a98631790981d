import { Client } from 'pg';

/** Any that are not those of the server. */
const LIMITS = { statement: 29_999, lock: 29_998 };

const LIMITS_SQL = `select pg_backend_pid() as pid, (
    select json_object_agg(name, setting) from pg_settings where name in ('statement_timeout', 'lock_timeout')
  ) as limits`;

interface Found {
  readonly pid: number;
  readonly limits: { readonly statement_timeout: string; readonly lock_timeout: string };
}

/**
 * Returns, in words, why a pooler before PostgreSQL gives no session of one's own, without which locks and listening
 * are lost without an error; null for PostgreSQL itself. A pooler lends a session for a transaction, usually the one
 * that was given back last: to two connections in turn the same, or to one another each time.
 */
export async function findPoolerFault(url: string): Promise<string | null> {
  const hasOptions = new URL(url).searchParams.has('options');
  const clients = [open(url), open(url)] as const;
  const [first, second] = clients;
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const answer = await ask(first);
    const again = await ask(first);
    const other = await ask(second);
    const last = await ask(first);
    const isOwn = answer.pid === again.pid && answer.pid === last.pid && answer.pid !== other.pid;
    if (!isOwn) return 'gives connections no session of their own';
    const { statement_timeout: statement, lock_timeout: lock } = answer.limits;
    const areKept = Number(statement) === LIMITS.statement && (hasOptions || Number(lock) === LIMITS.lock);
    return areKept ? null : 'ignores settings of a session';
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/** Begins its session as the product does: with a setting by itself, and one among the options. */
function open(connectionString: string): Client {
  const client = new Client({
    connectionString,
    statement_timeout: LIMITS.statement,
    options: `-c lock_timeout=${LIMITS.lock}`,
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  return client;
}

async function ask(client: Client): Promise<Found> {
  const { rows } = await client.query<Found>(LIMITS_SQL);
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not tell its process');
  return row;
}
