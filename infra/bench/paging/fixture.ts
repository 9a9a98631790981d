import { loadConfig, runningConfig } from '#entry/config.ts';
import type { Client } from '#infra/demo/client.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { type Database, openDatabase } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/** A connection to the database of the installation that runs on this data folder. */
export async function openRunningDatabase(dataDir: string): Promise<Database> {
  const { databaseUrl } = await runningConfig(loadConfig({ DATA_DIR: dataDir }));
  if (databaseUrl === undefined) throw new Error(`no database runs on ${dataDir}`);
  return await openDatabase({ url: databaseUrl, poolMax: 2 });
}

export interface Team {
  readonly teamId: string;
  readonly userIds: readonly string[];
}

/** A team of this many people, each with a phone. `firstPhone` keeps the numbers of several teams distinct. */
export async function createTeam(
  db: Database,
  client: Client,
  organizationId: string,
  people: number,
  firstPhone = 0,
): Promise<Team> {
  const { teamId } = await client.action<{ teamId: string }>('create_team', { name: 'Platform' });
  const userIds = await insertPeople(db, organizationId, people);
  for (const [index, userId] of userIds.entries()) {
    await client.action('add_team_member', { teamId, userId, phone: phoneOf(firstPhone + index) });
  }
  return { teamId, userIds };
}

const phoneOf = (index: number): string => `+316${String(10_000_000 + index)}`;

async function insertPeople(db: Database, organizationId: string, count: number): Promise<string[]> {
  const now = systemClock.now();
  return await db.transaction(async (session) => {
    const { people } = storesOf(session);
    const userIds: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const name = `Responder ${index}`;
      const user = await people.insertUser(
        { email: `${newId('user')}@example.com`, name, passwordHash: null, isAddressProven: true },
        now,
      );
      await people.setMembership(organizationId as Id<'org'>, user.id, 'responder', now);
      userIds.push(user.id);
    }
    return userIds;
  });
}

/** A service with all capabilities, and the escalation policy of its rules. */
export interface PagedService {
  readonly serviceId: string;
  readonly dsn: string;
  readonly ingestionKey: string;
  readonly policyId: string;
}

interface Step {
  readonly afterMinutes: number;
  readonly channels: readonly string[];
  readonly targetUserIds: readonly string[];
}

export async function createPagedService(
  client: Client,
  teamId: string,
  name: string,
  steps: readonly Step[],
): Promise<PagedService> {
  const service = await client.action<Omit<PagedService, 'policyId'>>('create_service', { name });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  const { policyId } = await client.action<{ policyId: string }>('create_escalation_policy', { teamId, name, steps });
  return { ...service, policyId };
}

/** Every new exception of the service opens an incident. */
export async function alertOnExceptions(client: Client, { serviceId, policyId }: PagedService): Promise<void> {
  const rule = { serviceId, escalationPolicyId: policyId, name: 'New exceptions', kind: 'exception', config: {} };
  await client.action('create_alert_rule', rule);
}

/** A point over 100 opens an incident. */
export async function alertOnMetric(
  client: Client,
  { serviceId, policyId }: PagedService,
  metricName: string,
): Promise<void> {
  const config = { metricName, comparator: '>', threshold: 100, windowMinutes: 1 };
  const rule = { serviceId, escalationPolicyId: policyId, name: metricName, kind: 'metric_threshold', config };
  await client.action('create_alert_rule', rule);
}
