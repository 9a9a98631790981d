import type { TObject, TSchema } from 'typebox';

import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Cipher } from '#auth/cipher.ts';
import type { Channel } from '#core/oncall/channel.ts';
import type { Action, ConsoleOperation } from '#kernel/action.ts';
import type { Caller } from '#kernel/caller.ts';
import type { ExceptionReader } from '#storage/clickhouse/exception_reader.ts';
import type { MetricReader } from '#storage/clickhouse/metric_reader.ts';

/** What an action changed, for the audit log: no secrets in either side. `null` means "was not" or "is no more". */
export interface Change {
  /** The id of what was changed. */
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** All that a handler may use. It never sees HTTP or MCP, checks no permission and begins no transaction. */
export interface ActionContext extends UnitOfWork {
  readonly caller: Caller;
  readonly metrics: MetricReader;
  readonly exceptions: ExceptionReader;
  readonly cipher: Cipher;
  /** The channels that the operator has set up. */
  readonly configuredChannels: ReadonlySet<Channel>;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** Notes a change for the audit log. A call whose two sides are equal is no change. */
  record(change: Change): void;
  /** Notes for the audit log that credentials of `target` are in the result. */
  recordCredentialRead(target: string): void;
}

/** Declares an action, or with `consoleOnly` an operation of the console; see `kernel/action.ts`. */
export function defineAction<Input extends TObject, Result extends TSchema>(
  action: Action<ActionContext, Input, Result>,
): Action<ActionContext, Input, Result>;
export function defineAction<Input extends TObject, Result extends TSchema>(
  operation: ConsoleOperation<ActionContext, Input, Result>,
): ConsoleOperation<ActionContext, Input, Result>;
export function defineAction(declared: unknown): unknown {
  return declared;
}

/** An action of any shape, as the registry holds it. Its handler is only called with input that was checked. */
// eslint-disable-next-line typescript/no-explicit-any -- a handler's input is contravariant: no narrower type holds them all
export type AnyAction = Action<ActionContext, any, any>;

// eslint-disable-next-line typescript/no-explicit-any -- as above
export type AnyConsoleOperation = ConsoleOperation<ActionContext, any, any>;

/** Whatever `run_action.ts` runs. */
export type AnyOperation = AnyAction | AnyConsoleOperation;

/** Contract bodies have no paging: a list is cut here and `total` tells how many there are (decisions §2). */
export const LIST_LIMIT = 1_000;
