import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import type { AppContext } from '#entry/compose.ts';
import { openAuthorizationServer } from '#entry/http/authorization_server.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';

/** What the HTTP surface runs on. */
export interface HttpContext extends AppContext {
  readonly limits: SharedLimits;
  /** The authorization server to which apps connect; opened at the first call. */
  readonly authorizationServer: () => AuthorizationServer;
}

export function httpContextOf(context: AppContext, limits: SharedLimits): HttpContext {
  let server: AuthorizationServer | null = null;
  return { ...context, limits, authorizationServer: () => (server ??= openAuthorizationServer(context, limits)) };
}
