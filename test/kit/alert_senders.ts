import { showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import { setAlertRoutes } from '#modules/alerts/operations/set_alert_routes.ts';
import type { Id } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import type { Answer, World } from '#test/kit/world.ts';

/** A service whose alerts page Anna by SMS at once, and again after 15 minutes, with its alert key. */
export interface AlertedService {
  readonly w: StaffedWorld;
  readonly serviceId: Id<'service'>;
  readonly policyId: string;
  readonly key: string;
  readonly anna: Responder;
  /** Sends to an address below `/api/alerts`; a body that is no text goes as JSON. */
  send(path: string, body?: unknown, options?: SendOptions): Promise<Answer>;
  /** The incidents of the service, newest first. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
  incidents(): Promise<any[]>;
}

export interface SendOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Bearer by default; null for none. */
  readonly authorization?: string | null;
}

export async function alertedService(options: Parameters<typeof staffedWorld>[0] = {}): Promise<AlertedService> {
  return await alertedServiceIn(await staffedWorld(options));
}

export async function alertedServiceIn(w: StaffedWorld): Promise<AlertedService> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const step = { channels: ['sms'], targetUserIds: [anna.userId] } as const;
  const steps = [
    { afterMinutes: 0, ...step },
    { afterMinutes: 15, ...step },
  ];
  const policyId = await w.staff.policy(teamId, steps, 'Wake');
  const { serviceId } = await w.given.service({ name: 'shop' });
  const key = await alertKeyOf(w, serviceId, policyId);
  return { w, serviceId, policyId, key, anna, ...waysOf(w, serviceId, key) };
}

/** Makes another service, of whose alerts nobody is paged without a policy. */
export async function anotherService(alerted: AlertedService, policyId?: string): Promise<AlertedService> {
  const { w } = alerted;
  const { serviceId } = await w.given.service({ name: 'shop' });
  const key = await alertKeyOf(w, serviceId, policyId);
  return { ...alerted, serviceId, key, ...waysOf(w, serviceId, key) };
}

function waysOf(w: StaffedWorld, serviceId: Id<'service'>, key: string): Pick<AlertedService, 'send' | 'incidents'> {
  return {
    send: (path, body, sendOptions) => sendAlert(w, key, path, body, sendOptions),
    incidents: async () => (await w.expectOk('list_incidents', { serviceId })).incidents,
  };
}

export async function alertKeyOf(w: World, serviceId: string, policyId?: string): Promise<string> {
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  const input = { serviceId, ...(policyId !== undefined && { policyId }) };
  return (await runOperation(w, showAlertKey, owner, input)).alertKey;
}

export async function sendAlert(
  w: Pick<World, 'app'>,
  key: string,
  path: string,
  body?: unknown,
  { method = 'POST', headers = {}, authorization = `Bearer ${key}` }: SendOptions = {},
): Promise<Answer> {
  const response = await w.app.inject({
    method,
    url: `/api/alerts${path}`,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(authorization !== null && { authorization }),
      ...headers,
    },
    ...(body !== undefined && {
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  });
  return { status: response.statusCode, body: response.json(), headers: response.headers };
}

/** Three alerts: one that nobody has answered, one that was acknowledged here, and one that is over. Returns the first. */
export async function sendThree({ w, anna, send, serviceId, policyId }: AlertedService): Promise<string> {
  const severe = { conditions: [{ kind: 'severity', atLeast: 'error' }], outcome: 'page', policyId, pagesOnRise: true };
  const last = { conditions: [], outcome: 'open', policyId: null, pagesOnRise: false };
  await runOperation(w, setAlertRoutes, memberCaller(w.orgId, w.owner.userId, 'owner'), {
    serviceId,
    routes: [severe, last],
  });
  const sent = (dedupKey: string) => send('/events', { dedupKey, title: dedupKey, severity: 'error', tool: 'Watcher' });
  const { incidentId } = (await sent('disk')).body;
  const acknowledged = (await sent('queue')).body;
  await sent('over');
  await w.runUntilIdle();
  await w.expectOk('acknowledge_incident', { incidentId: acknowledged.incidentId }, { key: anna.key });
  await send('/events', { dedupKey: 'over', action: 'resolve' });
  await w.advance({ minutes: 2 });
  return incidentId;
}
