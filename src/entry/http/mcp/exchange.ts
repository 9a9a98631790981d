import type { ActionRuntime } from '#actions/run_action.ts';
import type { CallBudget } from '#entry/http/connections/call_budget.ts';
import { CONTRACT_VERSION } from '#entry/http/openapi/document.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Log } from '#kernel/log.ts';

export interface Exchange {
  readonly runtime: ActionRuntime;
  readonly budget: CallBudget;
  readonly log: Log;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
}

/** Name and version of the server, as sent to clients. */
export const SERVER_INFO = { name: 'tocsin', title: 'Tocsin', version: CONTRACT_VERSION };
