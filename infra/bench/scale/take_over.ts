import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';

import { count, duration } from '#infra/bench/figures.ts';
import { printTable } from '#infra/bench/harness.ts';
import { sendPoint } from '#infra/bench/paging/sender.ts';
import type { Fleet } from './fleet.ts';

const WORKERS = 4;
const RULES = 48;
const ROUNDS = 3;
/** Time until every worker has its share. */
const SETTLED_MS = 8_000;
const GIVEN_UP_AFTER_MS = 60_000;

/** Measures the time from the kill of a worker until new breaches of its rules have opened incidents. */
export async function measureTakeOver(fleet: Fleet): Promise<void> {
  await fleet.scaleTo('api', 1);
  await fleet.scaleTo('worker', WORKERS);
  const db = await openDatabase({ url: fleet.stores.databaseUrl, poolMax: 2 });
  try {
    const rows: Record<string, string>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const names = Array.from({ length: RULES }, (_, index) => `taken_over_${round}_${index}`);
      const ingestionKey = await watch(fleet, names);
      await fleet.scaleTo('worker', WORKERS);
      await delay(SETTLED_MS);
      const [victim] = fleet.of('worker');
      if (victim === undefined) throw new Error('no worker runs');
      const killedAt = performance.now();
      await fleet.kill(victim);
      const baseUrl = fleet.of('api')[0]?.url ?? '';
      await Promise.all(names.map((name) => sendPoint(baseUrl, ingestionKey, { name, value: 2 })));
      const [first, last] = [await untilOpened(db, round, 1), await untilOpened(db, round, RULES)];
      rows.push({
        'a worker killed': `${round + 1} of ${ROUNDS}`,
        rules: `${RULES}, of ${WORKERS} workers`,
        'the first incident after': duration(first - killedAt),
        'the last after': duration(last - killedAt),
        'opened twice': count((await countOpened(db, round)) - RULES),
      });
    }
    printTable(rows);
  } finally {
    await db.close();
  }
}

async function watch(fleet: Fleet, names: readonly string[]): Promise<string> {
  const client = connect({
    ...fleet.firstRun(),
    baseUrl: fleet.of('api')[0]?.url ?? '',
    phoneUrl: fleet.phone.url,
    stop: async () => {},
  });
  const service = await client.action<{ serviceId: string; ingestionKey: string }>('create_service', {
    name: 'taken over',
  });
  for (const capability of ['metrics', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  for (const name of names) {
    const config = { metricName: name, comparator: '>', threshold: 1, windowMinutes: 5 };
    await client.action('create_alert_rule', { serviceId: service.serviceId, name, kind: 'metric_threshold', config });
  }
  return service.ingestionKey;
}

/** Resolves once as many incidents were opened, to the time. */
async function untilOpened(db: Database, round: number, wanted: number): Promise<number> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while ((await countOpened(db, round)) < wanted) {
    if (performance.now() > deadline) throw new Error('rules of a dead worker were not evaluated');
    await delay(20);
  }
  return performance.now();
}

async function countOpened({ sql }: Database, round: number): Promise<number> {
  const row = await sql.row<{ opened: number }>(
    `select count(*)::int as opened from incidents i join alert_rules r on r.id = i.rule_id where r.name like $1`,
    [`taken\\_over\\_${round}\\_%`],
  );
  return row?.opened ?? 0;
}
