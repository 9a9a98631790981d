import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile, type Validator } from 'typebox/compile';
import type { TObject } from 'typebox';

import type { DeviceCookie } from '#auth/devices.ts';
import { authenticateSession, isManager, memberCallerOf, mustStepUp, type SessionCookie } from '#auth/sessions.ts';
import { stepUpRequired } from '#actions/run_action.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { ANONYMOUS_BODY_BYTES_MAX } from '#entry/http/body_limits.ts';
import type { CallBudget } from '#entry/http/call_budget.ts';
import type { ConsoleCall, ConsoleRoute } from '#entry/http/console/route.ts';
import { noteSender } from '#entry/http/sender.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { findUnstorable } from '#kernel/unstorable.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** What every route of the console is served with. */
interface Serving {
  readonly house: HttpContext;
  readonly cookie: SessionCookie;
  readonly devices: DeviceCookie;
  readonly budget: CallBudget;
}

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Serves one route. The order of checks is that of the actions (decisions §1): who asks (401), whether they belong
 * there (404) and may (403), then what they send (400), then what it names.
 */
export function serveRoute(scope: FastifyInstance, serving: Serving, route: ConsoleRoute): void {
  const { budget } = serving;
  const calls = new WeakMap<FastifyRequest, ConsoleCall>();
  const checkBody = checkerOf(route.body);
  const checkQuery = checkerOf(route.query);

  scope.route({
    method: route.method,
    url: route.path,
    bodyLimit: route.access === 'anyone' ? ANONYMOUS_BODY_BYTES_MAX : BODY_BYTES_MAX,
    exposeHeadRoute: false,
    async onRequest(request, reply) {
      const call = await identify(serving, route, request, reply);
      if (call.session !== null) noteSender(request, call.session.userId);
      await auditRefusal(route, call, async () => {
        requireManager(route, call);
        if (route.stepUp === true && call.session !== null && mustStepUp(call.session, call.now)) {
          throw stepUpRequired(route.name);
        }
        await route.check?.(call);
      });
      calls.set(request, call);
    },
    async handler(request, reply) {
      const call = calls.get(request);
      if (call === undefined) throw new Error('nobody was asked who calls');
      const query = checkQuery(numbersIn(route.query, request.query));
      const body = checkBody(request.body);
      const work = () => auditRefusal(route, call, () => route.handle({ ...call, query, body }));
      const answer = await (call.session === null ? work() : budget.run(call.session.userId, work));
      if (route.result === null) return reply;
      return reply.code(route.status ?? 200).send({ result: answer });
    },
  });
}

async function identify(
  { house, cookie, devices }: Serving,
  route: ConsoleRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ConsoleCall> {
  const now = house.clock.now();
  const stores = storesOf(house.db.session());
  const params = request.params as Readonly<Record<string, string>>;
  const isAnyones = route.access === 'anyone';
  const session = isAnyones ? null : await authenticateSession(stores, cookie, request.headers.cookie, now);
  const inOrganization = route.access === 'member' || route.access === 'manager';
  const caller =
    session !== null && inOrganization ? await memberCallerOf(stores, session, params['org'] ?? '', now) : null;
  return {
    house,
    now,
    session,
    caller,
    params,
    body: undefined,
    query: undefined,
    origin: { requestId: request.id, address: request.ip },
    visitor: {
      address: request.ip,
      userAgent: request.headers['user-agent'] ?? null,
      knownDeviceOf: (email) => devices.read(request.headers.cookie, email),
    },
    cookie,
    devices,
    request,
    reply,
  };
}

function requireManager({ access, name }: ConsoleRoute, { caller }: ConsoleCall): void {
  if (access !== 'manager' || caller === null || isManager(caller)) return;
  throw new AppError('forbidden', `${name} is for owners and admins of the organization; you are ${caller.role}`);
}

/** A change that was refused is part of the audit log (decisions §6). What was asked for is not: it may hold a secret. */
async function auditRefusal<Result>(
  { method, name }: ConsoleRoute,
  { house, caller, origin, params }: ConsoleCall,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isRefused = error instanceof AppError && error.code === 'forbidden';
    if (isRefused && caller !== null && method !== 'GET' && params['action'] === undefined) {
      const { orgId, actor, via } = caller;
      const target = Object.entries(params).find(([param]) => param !== 'org')?.[1] ?? null;
      const what = { action: name, target, before: null, after: null, result: 'forbidden' } as const;
      await storesOf(house.db.session()).audit.append({ orgId, actor, via, ...what, origin }, house.clock.now());
    }
    throw error;
  }
}

/** Throws `invalid_input` for what does not fit; without a schema nothing is looked at and all of it handed on. */
function checkerOf(schema: TObject | undefined): (value: unknown) => unknown {
  if (schema === undefined) return (value) => value;
  const validator: Validator = Compile(schema);
  return (value) => {
    if (value === undefined) throw invalidInput([{ path: '', message: 'the body is missing; send a JSON object' }]);
    const faults: Fault[] = [...findUnstorable(value), ...(validator.Check(value) ? [] : findFaults(schema, value))];
    if (faults.length > 0) throw invalidInput(faults);
    return value;
  };
}

/** A query is all text: what the schema takes for an integer is made one where it is written in digits. */
function numbersIn(schema: TObject | undefined, query: unknown): unknown {
  const properties: Readonly<Record<string, { readonly type?: string }>> = schema?.properties ?? {};
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => {
      const isInteger = Object.hasOwn(properties, name) && properties[name]?.type === 'integer';
      return [name, isInteger && typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value];
    }),
  );
}
