import { getConsoleOperation } from '#actions/registry.ts';
import {
  type ActionRuntime,
  type BeforeCommit,
  recordRefusal,
  requirePermission,
  runAction,
} from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { type BasisOf, callOf, type IdOf, operationOf } from '#modules/configuration/decide/operation_calls.ts';
import { DEFAULT_RETENTION_DAYS } from '#modules/capabilities/decide/capability.ts';
import { isSame, type PlannedChange } from '#modules/configuration/decide/plan.ts';
import { type FileReading, type FileRequest, readPlan, type ReadPlan } from '#modules/configuration/read_plan.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';

export interface ApplyRequest extends FileRequest {
  /** Fingerprint of the plan that somebody has reviewed; undefined applies whatever the plan is now. */
  readonly expects?: string | undefined;
}

interface ApplyOptions {
  readonly files?: FileReading | undefined;
  /** Returns the caller with what they may now, and throws once they may nothing: asked before each change. */
  readonly callerNow?: () => Promise<Caller>;
  /** Called after each change that was made. */
  readonly onChange?: (change: PlannedChange, index: number) => void | Promise<void>;
}

export interface AppliedPlan extends ReadPlan {
  readonly applied: number;
}

/** Records that one call of `record_keys` takes. */
const KEYS_AT_ONCE = 500;

/**
 * Plans the file and makes every change of the plan by its operation: permitted, validated and audited, each in a
 * transaction with the record of its key. Whoever may not any more makes none of those that are left. Stopped anywhere,
 * the next call goes on where it stopped. Throws `conflict` when the plan is not the expected one, or when somebody has
 * changed what a change rests on.
 */
export async function applyConfiguration(
  runtime: ActionRuntime,
  caller: Caller,
  origin: RequestOrigin,
  request: ApplyRequest,
  { files, callerNow = async () => caller, onChange }: ApplyOptions = {},
): Promise<AppliedPlan> {
  const read = await readPlan(runtime, caller, request, files);
  const { plan, fingerprint } = read;
  if (request.expects !== undefined && request.expects !== fingerprint) {
    throw new AppError('conflict', 'something has changed since this was planned; plan again, and review the new plan');
  }
  const callerOfFile = async (): Promise<Caller> => ({ ...(await callerNow()), appliesFile: true });
  const by = await callerOfFile();
  const recording = plan.records.length + plan.gone.length > 0 ? ['record_keys'] : [];
  for (const name of new Set([...plan.changes.map(operationOf), ...recording])) {
    await requirePermission(runtime, getConsoleOperation(name), by, origin);
  }
  if (!by.permissions.has('services:delete') && plan.changes.some(deletesData)) {
    await recordRefusal(runtime, getConsoleOperation('set_retention'), by, origin);
    throw new AppError(
      'forbidden',
      'this file keeps data of a service for fewer days, which deletes what is older for good: that needs the permission services:delete',
    );
  }
  const ids = new Map<string, string>();
  const idOf: IdOf = (kind, key) => {
    const id = ids.get(`${kind} ${key}`) ?? plan.matches.findId(kind, key);
    if (id === null) throw new AppError('conflict', `the ${kind} ${key} is not there any more; plan again`);
    return id;
  };
  const stamps = new Map<string, string>();
  const basisOf: BasisOf = ({ kind, key }) => stamps.get(`${kind} ${key}`) ?? null;
  for (const [index, change] of plan.changes.entries()) {
    const { operation, input } = callOf(change, idOf, basisOf);
    try {
      const action = getConsoleOperation(operation);
      const result = await runAction(runtime, action, await callerOfFile(), input, origin, commitKey(change));
      const { updatedAt } = Object(result) as { readonly updatedAt?: unknown };
      if (typeof updatedAt === 'string') stamps.set(`${change.kind} ${change.key}`, updatedAt);
    } catch (error) {
      throw stoppedAt(error, change, index, plan.changes.length);
    }
    await onChange?.(change, index);
  }
  await recordKeys();
  return { ...read, applied: plan.changes.length };

  function commitKey(change: PlannedChange): BeforeCommit {
    const { kind, key, action, part } = change;
    return async ({ stores, now }, changes) => {
      const [made] = changes;
      requireUnchanged(change, made?.before ?? null, idOf);
      if (action === 'delete') return await stores.configuration.forget(by.orgId, [{ kind, key }]);
      if (action !== 'create' || part !== null) return undefined;
      if (made === undefined) throw new Error(`${kind} ${key} was created without a record of it`);
      const gone = plan.matches.goneIds.get(`${kind} ${key}`) ?? null;
      const resource = { kind, key, resourceId: made.target, file: request.fileName };
      if (!(await stores.configuration.recordMade(by.orgId, resource, gone, now))) {
        throw new AppError('conflict', `somebody else has just made the ${kind} ${key}; plan again`);
      }
      ids.set(`${kind} ${key}`, made.target);
      return undefined;
    };
  }

  async function recordKeys(): Promise<void> {
    const operation = getConsoleOperation('record_keys');
    const record = plan.records.map(({ kind, key, resourceId, isMade }) => ({ kind, key, id: resourceId, isMade }));
    const forget = plan.gone.map(({ kind, key }) => ({ kind, key }));
    for (let at = 0; at < Math.max(record.length, forget.length); at += KEYS_AT_ONCE) {
      const input = {
        file: request.fileName,
        record: record.slice(at, at + KEYS_AT_ONCE),
        forget: forget.slice(at, at + KEYS_AT_ONCE),
      };
      await runAction(runtime, operation, await callerOfFile(), input, origin);
    }
  }
}

/** Whether a change shortens how long data is kept. */
function deletesData({ part, fields: [field] }: PlannedChange): boolean {
  if (part?.part !== 'retention') return false;
  const before = typeof field?.before === 'number' ? field.before : DEFAULT_RETENTION_DAYS[part.capability];
  return part.days < before;
}

/** Throws `conflict` if the row is not what the plan rests on; `before` is what the operation has read under a lock. */
function requireUnchanged({ basis, kind, key, present }: PlannedChange, before: object | null, idOf: IdOf): void {
  if (before === null) return;
  const { updatedAt, alertRoutes } = before as { readonly updatedAt?: unknown; readonly alertRoutes?: unknown };
  const isOther = basis !== null && typeof updatedAt === 'string' && updatedAt !== basis;
  const planned =
    present?.kind === 'routes'
      ? present.fields.routes.map(({ policy, ...route }) => {
          return { ...route, policyId: policy === null ? null : idOf('policy', policy) };
        })
      : null;
  if (!isOther && (planned === null || isSame(alertRoutes, planned))) return;
  throw new AppError('conflict', `somebody has changed the ${kind} ${key} since it was planned; plan again`);
}

/** Returns the error of a change with its place in the plan; what was made before it stays, and is not made again. */
function stoppedAt(error: unknown, change: PlannedChange, index: number, total: number): unknown {
  if (!(error instanceof AppError)) return error;
  const { action, kind, key } = change;
  const place = `change ${index + 1} of ${total} (${action} ${kind} ${key})`;
  const { faults, retryAfterSeconds } = error;
  return new AppError(
    error.code,
    `${place}: ${error.message}. The ${index} before it are made; apply again to go on.`,
    { cause: error, faults, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  );
}
