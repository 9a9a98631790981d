import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import type { AppContext } from '#entry/compose.ts';
import { openAuthorizationServer } from '#entry/http/authorization_server.ts';

/** What the HTTP surface runs on. */
export interface HttpContext extends AppContext {
  /** The authorization server to which apps connect; opened at the first call. */
  readonly authorizationServer: () => AuthorizationServer;
}

export function httpContextOf(context: AppContext): HttpContext {
  let server: AuthorizationServer | null = null;
  return { ...context, authorizationServer: () => (server ??= openAuthorizationServer(context)) };
}
