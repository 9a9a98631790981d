import { randomBytes } from 'node:crypto';

import type { AnyOperation } from '#actions/action_context.ts';
import { ACTIONS } from '#actions/registry.ts';
import { issueApiKey } from '#auth/api_keys.ts';
import { startSession } from '#auth/sessions.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { EXAMPLE_IDS as IDS } from '#actions/fields.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { MonitorStore } from '#modules/monitors/store/monitor_store.ts';
import { inUnitOfWork, type Stores, storesOf } from '#modules/stores.ts';
import { columnsOf, seriesKey } from '#test/kit/metrics/points.ts';
import type { World } from '#test/kit/world.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';

type Made = Awaited<ReturnType<MonitorStore['lockOrCreate']>>;

function idOfMonitor(made: Made): Id<'monitor'> {
  if (typeof made === 'string') throw new Error(made);
  return made.id;
}

/** The ids of one of everything, by the names that bodies use. */
export type Fixture = Record<keyof typeof IDS, string>;

/** One of everything that an organization can have, made through its key where an action makes it. */
export async function buildFixture(w: World, owner: { orgId: Id<'org'>; orgKey: string } = w): Promise<Fixture> {
  const { orgId, orgKey: key } = owner;
  const make = (action: string, body: object) => w.expectOk(action, body, { key });
  const { serviceId } = await w.given.service({ key });
  const [anna, bram] = [await w.given.user({ orgId }), await w.given.user({ orgId, name: 'Bram' })];
  const { teamId } = await make('create_team', { name: 'Payments' });
  const { memberId } = await make('add_team_member', { teamId, userId: anna.userId, phone: '+31612345678' });
  const { scheduleId } = await make('create_schedule', {
    teamId,
    name: 'Primary',
    rotationConfig: { userIds: [anna.userId, bram.userId] },
  });
  const window = { startAt: '2027-02-06T09:00', endAt: '2027-02-07T09:00' };
  const { overrideId } = await make('create_schedule_override', { scheduleId, userId: bram.userId, ...window });
  const steps = [{ afterMinutes: 0, channels: ['sms'], useSchedule: true }];
  const { policyId } = await make('create_escalation_policy', { teamId, name: 'Wake somebody', steps });
  const { ruleId } = await make('create_alert_rule', {
    serviceId,
    name: 'Checkout is slow',
    kind: 'metric_threshold',
    config: { metricName: 'latency', comparator: '>', threshold: 800 },
    escalationPolicyId: policyId,
  });
  const { dashboardId } = await make('create_dashboard', { name: 'Checkout', serviceId, layout: [{ type: 'text' }] });
  await sendPoints(w, serviceId);
  return {
    ...IDS,
    ...(await buildAccess(w, orgId, anna.userId)),
    serviceId,
    dashboardId,
    groupId: await seeException(w, orgId, serviceId),
    teamId,
    memberId,
    userId: anna.userId,
    otherUserId: bram.userId,
    scheduleId,
    overrideId,
    policyId,
    ruleId,
    incidentId: await trigger(w, ruleId),
  };
}

const TRACKER = {
  kind: 'github',
  address: 'https://github.com',
  account: null,
  project: 'acme/shop',
  issueType: null,
  sealed: Buffer.from('sealed'),
} as const;

/** The same, with one of everything that only operations of the console name. */
export async function buildConsoleFixture(w: World, owner: { orgId: Id<'org'>; orgKey: string } = w): Promise<Fixture> {
  const { orgId } = owner;
  const fixture = await buildFixture(w, owner);
  const [serviceId, incidentId] = [asId('service', fixture.serviceId), asId('incident', fixture.incidentId)];
  const userId = asId('user', fixture.userId);
  const now = w.clock.now();
  const expiresAt = now.add({ hours: 24 });
  const made = await w.context.db.transaction(async (session) => {
    const stores = storesOf(session);
    const { places, placeDeliveries, chatAccounts } = stores;
    const { incidentNotes, proposals, monitors, alertSources, maintenance, notifications } = stores;
    const proposed = { kind: 'question', agentId: 'agent', agentName: 'Agent', action: null, input: null } as const;
    const asked = { orgId, incidentId, ...proposed, sentence: 'Shall I go on?', evidence: [], expiresAt };
    const name = { orgId, serviceId, slug: 'nightly', environment: 'production' };
    const when = { startsAt: expiresAt, endsAt: null, recurrence: null, timezone: 'UTC' };
    const what = { serviceId, ruleId: null, labelName: null, labelValue: null };
    const test = { orgId, incidentId: null, stepIndex: null, kind: 'test', userId, channel: 'email' } as const;
    const days = { url: null, dates: ['2027-12-25'], fetchedAt: null, triedAt: null, fault: null };
    const comment = {
      orgId,
      groupId: asId('group', fixture.groupId),
      actor: { userId, via: 'console' } as const,
      userId,
      body: 'Looking at it.',
      requestKey: 'fixture',
    };
    const search = { orgId, userId, name: 'Mine', search: {}, isShared: true };
    const note = { incidentId, userId, agentName: null, body: 'Looking at it.', requestKey: 'fixture' };
    const routes = [{ serviceId: null, teamId: null, atLeast: null }];
    const settings = { kind: 'slack', shown: {}, sealed: Buffer.from('sealed'), settingsRole: null, routes } as const;
    const place = await places.insert({ orgId, name: 'Fixture', ...settings }, now);
    const delivery = { orgId, placeId: place.id, incidentId, noteId: null, event: 'triggered', source: '1' } as const;
    await placeDeliveries.insert([delivery], now);
    const codeHash = randomBytes(32);
    const code = { orgId, userId, kind: 'slack', codeHash, codeExpiresAt: expiresAt } as const;
    await chatAccounts.insertCode(code, now);
    const typed = await chatAccounts.lockCode({ orgId, kind: 'slack', codeHash }, now);
    await chatAccounts.link(typed!, 'T1 U1', 'anna', now);
    const [sent] = await notifications.insert(
      [{ ...test, address: 'a@example.com', status: 'failed', reason: null }],
      now,
    );
    return {
      noteId: (await incidentNotes.insert(note, now)).id,
      activityId: (await stores.groupActivity.addComment(comment, now)).id,
      searchId: (await stores.savedSearches.save({ ...search, id: null }, now)).id,
      proposalId: (await proposals.insert(asked, now)).id,
      monitorId: idOfMonitor(
        await monitors.lockOrCreate(name, { byKey: true, schedule: null, onReplaced: async () => {} }, now),
      ),
      maintenanceId: (await maintenance.insert({ orgId, name: 'Move', ...what, ...when }, now)).id,
      placeId: place.id,
      deliveryId: (await placeDeliveries.list(place.id, { before: null, status: null, limit: 1 }))[0]!.id,
      chatAccountId: typed!.id,
      alertSourceId: (await alertSources.findOrCreate({ orgId, serviceId }, { protocol: 'events', name: '' }, now)).id,
      calendarId: (await stores.holidayCalendars.insert({ orgId, name: 'Holidays', ...days }, now)).id,
      trackerId: (await stores.issueTrackers.insert({ orgId, ...TRACKER, createdAt: now })).id,
      moveInId: await stores.moveIns.insert({ orgId, tool: 'ical', proofFrom: null, createdBy: null }, now),
      auditStreamId: (
        await stores.auditStreams.insert(
          { orgId, kind: 'file', shown: 'log.jsonl', sealed: null, sentNumber: 0, sentHash: null },
          now,
        )
      ).id,
      ...(await insertPublication(stores, { orgId, serviceId }, now)),
      provisionedGroupId: await insertProvisionedGroup(stores, orgId, now),
      notificationId: sent!,
    };
  });
  return { ...fixture, ...made, otherGroupId: await seeException(w, orgId, serviceId, { fingerprint: ['other'] }) };
}

async function insertProvisionedGroup({ scimGroups }: Stores, orgId: Id<'org'>, now: Temporal.Instant) {
  const id = newId('scimgroup');
  const group = { displayName: 'SRE', externalId: null, teamId: null, role: null, version: 1 };
  await scimGroups.insert({ id, orgId, ...group, createdAt: now, updatedAt: now });
  return id;
}

async function insertPublication(
  { statusPages, publications }: Stores,
  { orgId, serviceId }: { readonly orgId: Id<'org'>; readonly serviceId: Id<'service'> },
  now: Temporal.Instant,
) {
  const slug = newId('statuspage').slice(-26);
  const page = await statusPages.insert({ orgId, slug, title: 'Status', about: null, isPublic: true }, now);
  await statusPages.replaceComponents(page, [{ serviceId, groupName: '', name: 'Payments' }]);
  const what = { title: 'Slow', impact: 'degraded', serviceIds: [serviceId], beganAt: now } as const;
  // Of an incident that is gone: the fixture's own is still to be published.
  const publicationId = await publications.insert({ orgId, pageId: page.id, incidentId: null, ...what }, now);
  return { statusPageId: page.id, publicationId };
}

/** Builds the access of people to the console besides the actions. */
async function buildAccess(w: World, orgId: Id<'org'>, userId: Id<'user'>) {
  const now = w.clock.now();
  const expiresAt = now.add({ hours: 24 });
  return await w.context.db.transaction(async (session) => {
    const stores = storesOf(session);
    const { keyId } = await issueApiKey(
      stores,
      { orgId, userId, name: 'CI', createdBy: userId, permissions: null },
      now,
    );
    const invited = { orgId, email: 'nora@example.com', role: 'viewer', invitedBy: userId, expiresAt } as const;
    const connectionId = newId('connection');
    const client = { clientId: 'client_1', clientName: 'Agent', clientUri: null, access: 'read_only' } as const;
    await stores.connections.insert({ connectionId, orgId, userId, ...client, createdAt: now, lastUsedAt: null });
    const endpoint = `https://push.example.com/${newId('subscription')}`;
    const browser = { endpoint, p256dh: 'p256dh', auth: 'auth', label: 'Laptop' };
    return {
      apiKeyId: keyId,
      invitationId: await stores.invitations.insert(
        { ...invited, teamIds: [], tokenHash: randomBytes(32), mailedTokenHash: null },
        now,
      ),
      connectionId,
      sessionId: (await startSession(stores, userId, { address: null, userAgent: null }, now, null)).sessionId,
      subscriptionId: (await stores.pushSubscriptions.put(userId, browser, now)).id,
    };
  });
}

/** The example of the reference as a call that succeeds, its ids being those of the fixture. */
export function exampleBody(action: AnyOperation, fixture: Fixture): Record<string, unknown> {
  let text = JSON.stringify(action.example);
  for (const [name, id] of Object.entries(IDS)) text = text.replaceAll(id, fixture[name as keyof Fixture]);
  return JSON.parse(text);
}

/** The same with nothing but what is required. */
export function leastBody(action: AnyOperation, fixture: Fixture): Record<string, unknown> {
  const required: readonly string[] = action.input.required ?? [];
  return Object.fromEntries(Object.entries(exampleBody(action, fixture)).filter(([name]) => required.includes(name)));
}

export const EACH_ACTION = ACTIONS.map((action) => [action.name, action] as const);

const deletes = ([, { effect }]: (typeof EACH_ACTION)[number]): boolean => effect === 'delete';

/** The same in an order in which all find one fixture whole: those that delete come last, of a part before its whole. */
export const EACH_ACTION_IN_TURN = [
  ...EACH_ACTION.filter((entry) => !deletes(entry)),
  ...EACH_ACTION.filter(deletes).toReversed(),
];

async function sendPoints(w: World, serviceId: Id<'service'>): Promise<void> {
  const points = new PointBatch();
  const name = 'http_request_duration_ms';
  const labels = ['route', '/pay'];
  const series = points.addSeries({ name, labels, key: seriesKey(name, labels) });
  points.add(series, w.clock.now().epochMilliseconds - 90_000, 412.5, 'gauge');
  await new MetricWriter(w.context.clickhouse).insert([{ serviceId, points: columnsOf(points) }], newId('job'));
}

async function seeException(
  w: World,
  orgId: Id<'org'>,
  serviceId: Id<'service'>,
  sent: Partial<ExceptionEvent> = {},
): Promise<string> {
  const event = exceptionEvent(w.clock.now(), sent);
  const [group] = await w.context.db.transaction((session) =>
    storesOf(session).exceptionGroups.upsertSeen(
      [{ orgId, serviceId, grouping: groupEvent(event), occurrence: toOccurrence(event) }],
      w.clock.now(),
      Infinity,
    ),
  );
  const { groupId } = group!;
  await new ExceptionWriter(w.context.clickhouse).insert([{ serviceId, groupId, event }], newId('job'));
  return groupId;
}

/** Opens an incident as a breach of the rule would. */
export async function trigger(w: World, ruleId: string): Promise<string> {
  return await inUnitOfWork(w.context.actions, async (unit) => {
    const rule = (await unit.stores.activeRules.list('metric_threshold')).find((active) => active.ruleId === ruleId);
    const cause = {
      kind: 'metric_threshold',
      exceptionGroupId: null,
      severity: 'error',
      details: { value: 1 },
    } as const;
    const incidentId = await openIncident(unit, rule!, { ...cause, title: 'Slow', sentence: 'it was slow' });
    return incidentId!;
  });
}
