import { isDeepStrictEqual } from 'node:util';

import type {
  ActionContext,
  AnyConsoleOperation,
  AnyOperation,
  Change,
  CheckedCall,
  Installation,
} from '#actions/action_context.ts';
import { checkInput } from '#actions/check_input.ts';
import { getAction } from '#actions/registry.ts';
import type { Cipher } from '#auth/cipher.ts';
import type { KeyReads } from '#auth/key_cache.ts';
import type { Actor, RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, limitBy } from '#kernel/time.ts';
import type { Caller, Via } from '#modules/accounts/decide/caller.ts';
import { admitAgentWrite } from '#modules/agents/operations/admit_agent_write.ts';
import type { LiveApiKey } from '#modules/api_keys/store.ts';
import { type AuditEntry, CREDENTIALS_SHOWN } from '#modules/audit/store/audit_store.ts';
import { requireUnmanaged } from '#modules/configuration/require_unmanaged.ts';
import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { PatternChecks } from '#modules/metrics/patterns/pattern_checks.ts';
import type { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import type { MoveInWorker } from '#modules/moving_in/decide/move_in_state.ts';
import { CHAT_PLACES } from '#modules/places/decide/chat_places.ts';
import type { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import type { ReleaseReader } from '#modules/releases/store/release_reader.ts';
import { inUnitOfWork, type Stores, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Dependencies of actions; wired once in `entry/compose.ts`. */
export interface ActionRuntime extends UnitOfWorkRuntime {
  readonly metrics: MetricReader;
  readonly exceptions: ExceptionReader;
  readonly releases: ReleaseReader;
  readonly patterns: Pick<PatternChecks, 'prepare'>;
  readonly sourceMaps: Pick<SourceMaps, 'mapEvents' | 'prepare'>;
  readonly cipher: Cipher;
  readonly apiKeys: KeyReads<LiveApiKey>;
  readonly configuredChannels: ReadonlySet<Channel>;
  readonly baseUrl: string;
  readonly installation: Installation;
  readonly moveIns: MoveInWorker;
}

/**
 * Ways that may invoke the console's own operations: the console itself, the command line, answers to messages, and
 * buttons in chats.
 */
const CONSOLE_VIAS: ReadonlySet<Via> = new Set(['console', 'cli', ...CHANNELS, ...CHAT_PLACES]);

/** Work that commits with a change, or is undone with it; `changes` are those that it has recorded. */
export type BeforeCommit = (unit: UnitOfWork, changes: readonly Change[]) => Promise<void>;

/**
 * Runs every invocation, whichever way it came: permission (403), input (400), transaction, handler, audit row and
 * outbox in the same transaction, result. The caller is authenticated already (401) and the action found (404).
 * Operations on an account have `run_account_operation.ts`, which does the same.
 */
export async function runAction(
  runtime: ActionRuntime,
  action: AnyOperation,
  caller: Caller,
  input: unknown,
  origin: RequestOrigin,
  beforeCommit?: BeforeCommit,
): Promise<unknown> {
  await requirePermission(runtime, action, caller, origin);
  await runtime.patterns.prepare(caller.orgId, input);
  checkInput(action, input);
  if (action.effect === 'read') return await read(runtime, action, caller, input, origin);
  try {
    return await change(runtime, action, caller, input, { origin, beforeCommit });
  } catch (error) {
    if (error instanceof AppError && error.code === 'forbidden') await recordRefusal(runtime, action, caller, origin);
    throw error;
  }
}

/**
 * Throws `forbidden`, naming the permission that is missing, or `insufficient_scope` where it was not granted. A
 * refused change is part of the audit log; `inTurn` counts writing it down among the calls of the caller, and throws
 * `rate_limited` in place of the refusal once there are too many.
 */
export async function requirePermission(
  runtime: Pick<ActionRuntime, 'db' | 'clock'>,
  action: AnyOperation,
  caller: Caller,
  origin: RequestOrigin,
  inTurn: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Promise<void> {
  if (action.consoleOnly === true) requireOfferedTo(action, caller);
  if (caller.permissions.has(action.permission)) {
    if (action.stepUp === true && caller.mustStepUp) throw stepUpRequired(action.name);
    return;
  }
  if (action.effect !== 'read') await inTurn(() => recordRefusal(runtime, action, caller, origin));
  throw caller.withheld?.has(action.permission) === true
    ? new AppError(
        'insufficient_scope',
        `${action.name} changes data, and this connection was approved for reading only`,
      )
    : new AppError(
        'forbidden',
        action.permission === 'organization:manage'
          ? `${action.name} is for owners and admins of the organization`
          : `${action.name} needs the permission ${action.permission}, which ${holderOf(caller)} does not have`,
      );
}

function requireOfferedTo({ name, isForResponders }: AnyConsoleOperation, caller: Caller): void {
  if (isForResponders === true) {
    if (caller.responder !== undefined) return;
    throw new AppError('forbidden', `${name} is for agents at the endpoint of responders`);
  }
  if (caller.appliesFile !== true && !CONSOLE_VIAS.has(caller.via))
    throw new AppError('forbidden', `${name} is an operation of the console`);
}

/** Writes the audit row of a change that was refused. */
export async function recordRefusal(
  runtime: Pick<ActionRuntime, 'db' | 'clock'>,
  action: Pick<AnyOperation, 'name'>,
  { orgId, actor, via }: Pick<Caller, 'orgId' | 'actor' | 'via'>,
  origin: RequestOrigin,
): Promise<void> {
  const refused = { action: action.name, target: null, before: null, after: null, result: 'forbidden' } as const;
  await storesOf(runtime.db.session()).audit.append({ orgId, actor, via, ...refused, origin }, runtime.clock.now());
}

/** Returns the refusal until the second factor is shown again. */
export function stepUpRequired(name: string): AppError {
  return new AppError('step_up_required', `${name} requires your second factor again; enter it and repeat the call`);
}

function holderOf({ actor }: Caller): string {
  return actor.kind === 'user' && actor.apiKeyId === null ? 'your role' : 'this key';
}

async function read(
  runtime: ActionRuntime,
  action: AnyOperation,
  caller: Caller,
  input: unknown,
  origin: RequestOrigin,
): Promise<unknown> {
  const now = runtime.clock.now();
  const reading = readContextOf(runtime, runtime.db.pipelined(), { caller, origin }, now);
  const shown = new Map<string, Promise<boolean>>();
  const context: ActionContext = {
    ...reading,
    recordCredentialRead: (target) => {
      const isLogged = isReadLogged(reading.stores, caller, target, now);
      // The handler may fail before anybody waits for it.
      isLogged.catch(() => {});
      shown.set(target, isLogged);
    },
  };
  const prepared: unknown = await action.prepare?.(input, context);
  const result: unknown = await action.handle(input, context, prepared);
  await recordCredentialReads(runtime, caller, { action: action.name, shown, origin });
  return result;
}

async function change(
  runtime: ActionRuntime,
  action: AnyOperation,
  caller: Caller,
  input: unknown,
  { origin, beforeCommit }: { readonly origin: RequestOrigin; readonly beforeCommit: BeforeCommit | undefined },
): Promise<unknown> {
  const before = () => readContextOf(runtime, runtime.db.pipelined(), { caller, origin }, runtime.clock.now());
  const prepared: unknown = await action.prepare?.(input, before());
  return await inUnitOfWork(runtime, async (unit, session) => {
    if (caller.via === 'mcp') await admitAgentWrite(unit, caller, action, runtime.installation.limits);
    const changes: (Change & { readonly action: string; readonly actor: Actor })[] = [];
    const contextOf = (name: string, actor: Actor): ActionContext => ({
      ...readContextOf(runtime, session, { caller, origin }, unit.now),
      ...unit,
      record: (made) => {
        if (!isDeepStrictEqual(made.before, made.after)) changes.push({ ...made, action: name, actor });
      },
      async runApproved(name, input, proposal) {
        const approved = getAction(name);
        const { actor } = caller;
        if (actor.kind !== 'user') throw new AppError('forbidden', 'only a person approves what an agent proposes');
        if (!caller.permissions.has(approved.permission)) {
          throw new AppError(
            'forbidden',
            `${name} needs the permission ${approved.permission}, which your role does not have`,
          );
        }
        if (approved.stepUp === true && caller.mustStepUp) throw stepUpRequired(name);
        checkInput(approved, input);
        const context = contextOf(name, { ...actor, proposal });
        const prepared: unknown = await approved.prepare?.(input, context);
        return await approved.handle(input, context, prepared);
      },
    });
    const result: unknown = await action.handle(input, contextOf(action.name, caller.actor), prepared);
    await requireUnmanaged(unit.stores, caller, changes);
    await beforeCommit?.(unit, changes);
    for (const made of changes) {
      const who = { orgId: caller.orgId, via: caller.via };
      await unit.stores.audit.append({ ...who, ...made, result: 'done', origin }, unit.now);
    }
    return result;
  });
}

/** Checks a call that an agent could propose: the faults of one that would be refused, before a person is asked. */
function checkCall(name: string, input: unknown): CheckedCall {
  const action = getAction(name);
  checkInput(action, input);
  return { effect: action.effect, permission: action.permission };
}

const TELEMETRY_MS_MAX = 3_000;

function readContextOf(
  runtime: ActionRuntime,
  session: Session,
  { caller, origin }: { readonly caller: Caller; readonly origin: RequestOrigin },
  now: Temporal.Instant,
): ActionContext {
  const {
    metrics,
    exceptions,
    releases,
    sourceMaps,
    cipher,
    configuredChannels,
    baseUrl,
    installation,
    reachedLimits,
    moveIns,
  } = runtime;
  return {
    caller,
    origin,
    moveIns,
    address: origin.address,
    now,
    stores: storesOf(session),
    metrics,
    exceptions,
    releases,
    telemetryMsMax: limitBy(runtime.clock, TELEMETRY_MS_MAX),
    sourceMaps,
    cipher,
    configuredChannels,
    baseUrl,
    installation,
    limitReached: (limit, who) => reachedLimits?.record(limit, who),
    record: () => {
      throw new Error('a read action changes nothing');
    },
    // The audit row of a change also covers the credentials that it makes and shows.
    recordCredentialRead: () => {},
    enqueue: () => {
      throw new Error('a read action enqueues nothing');
    },
    checkCall,
    runApproved: () => {
      throw new Error('a read action carries nothing out');
    },
  };
}

/**
 * Window of one row for a program that reads the same credentials again and again; a person who asks to see them leaves
 * a row each time.
 */
const PROGRAM_WINDOW_SECONDS = 3_600;

/**
 * Records in the audit log who was shown which credentials, before the answer: nobody sees them without a trace.
 *
 * @param read.shown targets of the credentials, and whether the log has a row that covers this read
 */
async function recordCredentialReads(
  runtime: UnitOfWorkRuntime,
  caller: Caller,
  read: {
    readonly action: string;
    readonly shown: ReadonlyMap<string, Promise<boolean>>;
    readonly origin: RequestOrigin;
  },
): Promise<void> {
  const { action, shown, origin } = read;
  const now = runtime.clock.now();
  for (const [target, isLogged] of shown) {
    if (await isLogged) continue;
    const key = windowKeyOf(caller, target);
    await inUnitOfWork(runtime, async ({ stores }) => {
      if (key !== null) {
        const { tries } = await stores.signInLimits.count(key, windowAt(now), now);
        if (tries > 1) return;
      }
      const what = { action, target, before: null, after: CREDENTIALS_SHOWN, result: 'done' } as const;
      await stores.audit.append({ ...whoOf(caller), ...what, origin }, now);
    });
  }
}

/** Whether the log has a row that covers the read, which answers most of a busy program without a write. */
async function isReadLogged(stores: Stores, caller: Caller, target: string, now: Temporal.Instant): Promise<boolean> {
  const key = windowKeyOf(caller, target);
  return key !== null && (await stores.signInLimits.findSince(key, windowAt(now))) !== null;
}

/** Returns the name of the window of this reader; null for a person, whose every read leaves a row. */
function windowKeyOf(caller: Caller, target: string): string | null {
  return caller.via === 'console' ? null : `credentials:${target}:${readerOf(caller)}`;
}

function windowAt(now: Temporal.Instant): Temporal.Instant {
  return now.subtract({ seconds: PROGRAM_WINDOW_SECONDS });
}

function whoOf({ orgId, actor, via }: Caller): Pick<AuditEntry, 'orgId' | 'actor' | 'via'> {
  return { orgId, actor, via };
}

function readerOf({ actor }: Caller): string {
  switch (actor.kind) {
    case 'user':
      return actor.connection?.connectionId ?? actor.apiKeyId ?? actor.userId;
    case 'api_key':
      return actor.apiKeyId;
    case 'system':
      return 'system';
  }
}
