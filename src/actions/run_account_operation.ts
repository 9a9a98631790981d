import type { AccountChange, AccountContext, AnyAccountOperation, Browser } from '#actions/action_context.ts';
import { checkInput } from '#actions/check_input.ts';
import { requireWholeSession } from '#modules/accounts/require_whole_session.ts';
import { recordAccountChange } from '#modules/accounts/operations/record_account_change.ts';
import { type ActionRuntime, recordRefusal, stepUpRequired } from '#actions/run_action.ts';
import { mustStepUp } from '#auth/sessions.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork } from '#modules/stores.ts';

export interface AccountRequester {
  /** Session of the person; null: nobody is signed in, or nobody needs to be. */
  readonly session: SessionOfPerson | null;
  readonly browser: Browser;
  readonly origin: RequestOrigin;
}

/**
 * The pipeline of `run_action.ts` for operations on an account, which belongs to no organization: session (401), second
 * factor (403), input (400), transaction, handler, audit rows and outbox in the same transaction, result. A change that a
 * session of a provider may not make is in the audit log of its organization.
 */
export async function runAccountOperation(
  runtime: ActionRuntime,
  operation: AnyAccountOperation,
  requester: AccountRequester,
  input: unknown,
): Promise<unknown> {
  requireSession(operation, requester.session, runtime.clock.now());
  checkInput(operation, input);
  const outside = contextOf(runtime, requester, {
    now: runtime.clock.now(),
    stores: storesOf(runtime.db.session()),
    limitReached: (limit, who) => runtime.reachedLimits?.record(limit, who),
    enqueue: () => {
      throw new Error(`${operation.name} enqueues nothing outside its transaction`);
    },
  });
  const prepared = await prepare(operation, requester.session, input, outside);
  if (operation.effect === 'read') return await handle(operation, requester.session, input, outside, prepared);
  try {
    return await change(runtime, operation, requester, input, prepared);
  } catch (error) {
    const { session, origin } = requester;
    if (session !== null && session.providerOrgId !== null && error instanceof AppError && error.code === 'forbidden') {
      const { userId, providerOrgId: orgId } = session;
      const who = { orgId, actor: { kind: 'user', userId, apiKeyId: null }, via: 'console' } as const;
      await recordRefusal(runtime, operation, who, origin);
    }
    throw error;
  }
}

async function change(
  runtime: ActionRuntime,
  operation: AnyAccountOperation,
  requester: AccountRequester,
  input: unknown,
  prepared: unknown,
): Promise<unknown> {
  return await inUnitOfWork(runtime, async (unit) => {
    const changes: AccountChange[] = [];
    const context = {
      ...contextOf(runtime, requester, unit),
      record: (made: AccountChange) => void changes.push(made),
    };
    if (operation.countsEverywhere === true && requester.session !== null) {
      const { userId, providerOrgId } = requester.session;
      await requireWholeSession(unit.stores, userId, providerOrgId);
    }
    const result = await handle(operation, requester.session, input, context, prepared);
    for (const made of changes) {
      await recordAccountChange(unit, { action: operation.name, ...made, origin: requester.origin });
    }
    return result;
  });
}

/** Throws `unauthenticated` when somebody has to be signed in, `step_up_required` when the second factor is wanted. */
export function requireSession(
  operation: AnyAccountOperation,
  session: SessionOfPerson | null,
  now: Temporal.Instant,
): void {
  if (operation.scope === 'anyone') return;
  if (session === null) throw nobodySignedIn();
  if (operation.stepUp === true && mustStepUp(session, now)) throw stepUpRequired(operation.name);
}

function nobodySignedIn(): AppError {
  return new AppError('unauthenticated', 'nobody is signed in; sign in first');
}

async function prepare(
  operation: AnyAccountOperation,
  session: SessionOfPerson | null,
  input: unknown,
  context: AccountContext,
): Promise<unknown> {
  if (operation.scope === 'anyone') return await operation.prepare?.(input, context);
  if (session === null) throw nobodySignedIn();
  return await operation.prepare?.(input, { ...context, session });
}

async function handle(
  operation: AnyAccountOperation,
  session: SessionOfPerson | null,
  input: unknown,
  context: AccountContext,
  prepared: unknown,
): Promise<unknown> {
  if (operation.scope === 'anyone') return await operation.handle(input, context, prepared);
  if (session === null) throw nobodySignedIn();
  return await operation.handle(input, { ...context, session }, prepared);
}

function contextOf(runtime: ActionRuntime, { browser, origin }: AccountRequester, unit: UnitOfWork): AccountContext {
  const { baseUrl, installation } = runtime;
  return {
    ...unit,
    baseUrl,
    installation,
    browser,
    origin,
    runtime,
    record: () => {
      throw new Error('an operation must not change data outside its transaction');
    },
  };
}
