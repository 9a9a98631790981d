import type { DeviceCookie } from '#auth/devices.ts';
import type { AttemptCookie } from '#auth/openid/attempt_cookie.ts';
import type { SessionCookie } from '#auth/sessions.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import type { CallBudget } from '#entry/http/connections/call_budget.ts';

/** Context of every endpoint of the console. */
export interface Serving {
  readonly context: HttpContext;
  readonly cookie: SessionCookie;
  readonly devices: DeviceCookie;
  readonly attempts: AttemptCookie;
  readonly budget: CallBudget;
}

export const BODY_BYTES_MAX = 1024 * 1024;
