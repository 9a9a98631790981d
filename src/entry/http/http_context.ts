import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import type { House } from '#entry/compose.ts';
import { openAuthorizationServer } from '#entry/http/authorization_server.ts';

/** What the HTTP surface runs on. */
export interface HttpContext extends House {
  /** The authorization server to which apps connect; opened at the first call. */
  readonly authorizationServer: () => AuthorizationServer;
}

export function httpContextOf(house: House): HttpContext {
  let server: AuthorizationServer | null = null;
  return { ...house, authorizationServer: () => (server ??= openAuthorizationServer(house)) };
}
