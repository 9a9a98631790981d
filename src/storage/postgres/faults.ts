import { DriverException } from '@mikro-orm/core';

import { AppError, errorCodeOf, isUnreachable, messageOf } from '#kernel/errors.ts';

/** SQLSTATE classes, and the error of a Unix socket that is not there: the server is away rather than the statement wrong. */
const UNREACHABLE_CODE = /^(08|57P0|53|25P0[34])|^ENOENT$/;
const UNREACHABLE_TEXT =
  /Connection (terminated|ended)|connection error|is not queryable|timeout exceeded when trying to connect|the database system is/;

/** An `unavailable` where the server is away or its disk is full, also where the ORM has wrapped it; else the error. */
export function toFault(error: unknown): unknown {
  if (error instanceof DriverException && error.cause instanceof Error) return toFault(error.cause);
  const full = toDiskFull(error);
  if (full !== null) return full;
  if (errorCodeOf(error) === READ_ONLY) {
    const message = 'the database takes no changes at the moment; nothing was changed, try again shortly';
    return new AppError('unavailable', message, { cause: error, retryAfterSeconds: 5 });
  }
  if (isStalePlan(error)) {
    const message = 'the tables of the database have just been changed; nothing was changed, try again';
    return new AppError('unavailable', message, { cause: error, retryAfterSeconds: 1 });
  }
  return isDatabaseUnreachable(error) ? noAnswer(error) : error;
}

/**
 * An `unavailable` for whatever kept a connection from being made: a server that is full, starts up, or takes nobody for
 * this database or user at the moment has been asked nothing yet.
 */
export function toConnectFault(error: unknown): unknown {
  const fault = toFault(error);
  return fault instanceof AppError ? fault : noAnswer(error);
}

function noAnswer(cause: unknown): AppError {
  const message = 'the database does not answer; nothing was changed, try again shortly';
  return new AppError('unavailable', message, { cause, retryAfterSeconds: 5 });
}

/** Returns the caller's error for a refusal by PostgreSQL because its disk is full; null for any other error. */
export function toDiskFull(error: unknown): AppError | null {
  if (!isDiskFull(error)) return null;
  return new AppError('unavailable', DISK_FULL_TEXT, { cause: error, retryAfterSeconds: 30 });
}

/** SQLSTATE: a standby, or a primary that has become one, is asked for a change. */
export const READ_ONLY = '25006';
/** SQLSTATE. */
const DISK_FULL = '53100';
export const DISK_FULL_TEXT =
  'the disk of the database is full: nothing was changed; delete what is not needed there, or give it more room';

export function isDiskFull(error: unknown): boolean {
  return errorCodeOf(error) === DISK_FULL;
}

/** SQLSTATE: of a plan whose columns have changed, among others. */
const NOT_SUPPORTED = '0A000';

/** Whether tables have changed so that what was planned before returns other columns. */
export function isStalePlan(error: unknown): boolean {
  return errorCodeOf(error) === NOT_SUPPORTED && messageOf(error).includes('cached plan');
}

function isDatabaseUnreachable(error: unknown): boolean {
  if (error instanceof AppError) return false;
  return (
    isUnreachable(error) || UNREACHABLE_CODE.test(String(errorCodeOf(error))) || UNREACHABLE_TEXT.test(messageOf(error))
  );
}

/** True for a violation of the named unique constraint or index, or of any when no name is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const fault = error as { constraint?: unknown } | null;
  return errorCodeOf(error) === '23505' && (constraint === undefined || fault?.constraint === constraint);
}

/** SQLSTATE: two wait for each other, or one has waited for a lock for as long as it may. */
const LOCK_CONFLICTS = new Set<unknown>(['40P01', '55P03']);
/** SQLSTATE: a statement took longer than it may. */
const CANCELED = '57014';

/** Whether the statement, or one that this error was made of, did not get a lock: the same may succeed later. */
export function isLockConflict(error: unknown): boolean {
  if (LOCK_CONFLICTS.has(errorCodeOf(error))) return true;
  return error instanceof Error && error.cause !== undefined && isLockConflict(error.cause);
}

/** Whether others kept the statement, or one that this error was made of, from ending: the same may succeed later. */
export function isTransient(error: unknown): boolean {
  if (isLockConflict(error) || errorCodeOf(error) === CANCELED) return true;
  return error instanceof Error && error.cause !== undefined && isTransient(error.cause);
}
