import type { AuthorizationServer } from '#auth/oauth/authorization_server.ts';
import type { AppContext } from '#entry/compose.ts';
import { once } from '#kernel/promises.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';

export interface HttpContext extends AppContext {
  readonly limits: SharedLimits;
  /** Returns the authorization server to which apps connect; loaded and opened at the first call. */
  readonly authorizationServer: () => Promise<AuthorizationServer>;
}

export function httpContextOf(context: AppContext, limits: SharedLimits): HttpContext {
  const authorizationServer = once(async () => {
    const { openAuthorizationServer } = await import('#entry/http/authorization_server.ts');
    return openAuthorizationServer(context, limits);
  });
  return { ...context, limits, authorizationServer };
}
