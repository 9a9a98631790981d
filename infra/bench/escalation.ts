import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import type { Database } from '#storage/postgres/database.ts';

import { count, duration, percent, spreadCells, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { createTeam, openRunningDatabase, type Team } from './paging/fixture.ts';
import { PageWatch, type TakenPages } from './paging/pages.ts';
import { processorBelow } from './paging/processes.ts';

const INCIDENTS = 10_000;
/** Number of incidents with a step that comes due during the measurement; the others come due later. */
const DUE = 1_000;
const WINDOW_MS = 60_000;
/** Nobody gets more than three messages: a fourth within a minute would go into a digest. */
const PEOPLE = Math.ceil(DUE / 3);
/** Time to queue the jobs of the steps, and to measure the processor before the first step is due. */
const HEAD_START_MS = 60_000;
const IDLE_MS = 25_000;
/** Late enough that none of the others comes due while a busy machine fires the first ones. */
const LATER_MS = { from: 60 * 60 * 1_000, range: 12 * 60 * 60 * 1_000 };

export const escalation: Bench = {
  name: 'escalation',
  about: 'lateness of steps with 10,000 open incidents (goal: p99 1 s), and the processor while they wait (2 %)',
  run: () =>
    withInstallation(async (installation) => {
      printInputs({
        'open incidents': count(INCIDENTS),
        'steps due': `${count(DUE)}, at random within ${duration(WINDOW_MS)}`,
        people: count(PEOPLE),
        stores: 'embedded, as durable as in production',
      });
      const db = await openRunningDatabase(installation.dataDir);
      try {
        await measure(installation, db);
      } finally {
        await db.close();
      }
    }),
};

interface Timer {
  readonly incidentId: Id<'incident'>;
  readonly dueAtMs: number;
}

async function measure(installation: BenchInstallation, db: Database): Promise<void> {
  const client = connect({ ...installation, stop: async () => {} });
  const team = await createTeam(db, client, installation.organizationId, PEOPLE);
  const { serviceId } = await client.action<{ serviceId: string }>('create_service', { name: 'service' });
  const beganMs = Date.now() + HEAD_START_MS;
  const timers = await openIncidents(db, installation, serviceId, team, beganMs);
  const setMs = await untilSet(db);
  const idle = await processorShare(Math.min(IDLE_MS, beganMs - Date.now() - 1_000));
  await delay(beganMs - Date.now());
  const busy = await processorShare(WINDOW_MS);
  while (!(await isAllSent(db))) await delay(200);
  const watch = new PageWatch(installation.phoneUrl);
  const late = await lateness(db, await watch.look(), timers);
  printTable([
    { 'from due time': 'step fired', ...spreadCells(spreadOf(late.fired)) },
    { 'from due time': 'request at the provider', ...spreadCells(spreadOf(late.paged)) },
  ]);
  printTable([
    { processor: 'while all wait', ...idle },
    { processor: `while ${count(DUE)} steps fire`, ...busy },
  ]);
  console.log(`  ${count(INCIDENTS)} alarm clocks were set within ${duration(setMs)}\n`);
}

/** Inserts what opening by a rule inserts, in one statement: incidents, timers, and their jobs in the outbox. */
async function openIncidents(
  db: Database,
  { organizationId }: BenchInstallation,
  serviceId: string,
  { teamId, userIds }: Team,
  beganMs: number,
): Promise<Timer[]> {
  const timers = Array.from({ length: INCIDENTS }, (_, index) => ({
    incidentId: newId('incident'),
    dueAtMs: Math.round(
      beganMs + (index < DUE ? Math.random() * WINDOW_MS : LATER_MS.from + Math.random() * LATER_MS.range),
    ),
  }));
  const rows = timers.map(({ incidentId, dueAtMs }, index) => ({
    incidentId,
    dueAt: new Date(dueAtMs).toISOString(),
    steps: [{ afterMinutes: 60, channels: ['sms'], targetUserIds: [userIds[index % PEOPLE]], useSchedule: false }],
  }));
  await db.transaction(async ({ sql }) => {
    await sql.run(
      `insert into incidents (id, org_id, service_id, team_id, kind, dedup_key, title, severity, details, steps,
         triggered_at, counted_at, created_at, updated_at)
       select r->>'incidentId', $2, $3, $4, 'exception', r->>'incidentId', 'a bench', 'error', '{}', r->'steps',
         now(), now(), now(), now()
       from json_array_elements($1::json) r`,
      [JSON.stringify(rows), organizationId, serviceId, teamId],
    );
    await sql.run(
      `insert into incident_steps (incident_id, step_index, due_at)
       select r->>'incidentId', 0, (r->>'dueAt')::timestamptz from json_array_elements($1::json) r`,
      [JSON.stringify(rows)],
    );
    await sql.run(
      `insert into outbox (job_name, payload, run_at, created_at)
       select $2, json_build_object('incidentId', r->>'incidentId', 'stepIndex', 0), (r->>'dueAt')::timestamptz, now()
       from json_array_elements($1::json) r`,
      [JSON.stringify(rows), runEscalationStep.name],
    );
  });
  await db.sql.run('analyze incidents');
  return timers;
}

async function isAllSent({ sql }: Database): Promise<boolean> {
  const row = await sql.row<{ count: number }>(
    "select count(*)::int as count from notifications where status in ('sent', 'delivered')",
  );
  return row?.count === DUE;
}

/** Milliseconds until every job was in the queue. */
async function untilSet({ sql }: Database): Promise<number> {
  const began = performance.now();
  for (;;) {
    const row = await sql.row<{ count: number }>('select count(*)::int as count from outbox');
    if (row?.count === 0) return performance.now() - began;
    await delay(50);
  }
}

async function processorShare(forMs: number): Promise<Record<string, string>> {
  const shares = [...(await processorBelow(process.pid, forMs))].filter(([name]) => !name.startsWith('Supervisor'));
  return {
    ...Object.fromEntries(shares.map(([name, share]) => [name, percent(share)])),
    together: percent(shares.reduce((sum, [, share]) => sum + share, 0)),
  };
}

async function lateness(db: Database, taken: TakenPages, timers: readonly Timer[]) {
  const dueAtMs = new Map<string, number>(timers.map((timer) => [timer.incidentId, timer.dueAtMs]));
  const rows = await db.sql.rows<{ incidentId: string; id: string; firedMs: number }>(
    `select n.incident_id as "incidentId", n.id, extract(epoch from s.settled_at)::float8 * 1000 as "firedMs"
     from notifications n join incident_steps s on s.incident_id = n.incident_id and s.step_index = n.step_index`,
  );
  if (rows.length !== DUE) throw new Error(`${rows.length} of ${DUE} steps have fired`);
  const dueOf = (incidentId: string): number => dueAtMs.get(incidentId) ?? Number.NaN;
  return {
    fired: rows.map(({ incidentId, firedMs }) => firedMs - dueOf(incidentId)),
    paged: rows.map(({ incidentId, id }) => (taken.get(id)?.[0]?.receivedAtMs ?? Number.NaN) - dueOf(incidentId)),
  };
}
