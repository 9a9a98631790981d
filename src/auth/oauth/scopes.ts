/** What a connection may be granted: to look, and also to change. */
export const SCOPES = ['mcp:read', 'mcp:write'] as const;

/** Both, as a challenge and a registration say them. */
export const ALL_SCOPES = SCOPES.join(' ');

/** What else may be asked for; a refresh token is issued with or without it. */
export const OFFLINE_SCOPE = 'offline_access';

/**
 * What an authorization request asks for, as far as it is known here. Clients that leave the scope out, or ask for
 * none that is known, mean whatever there is: the person decides on the page.
 */
export function requestedScope(text: unknown): string {
  const asked = typeof text === 'string' ? text.split(' ') : [];
  const known = SCOPES.filter((scope) => asked.includes(scope));
  const scopes = known.length === 0 ? SCOPES : known;
  return [...scopes, ...(asked.includes(OFFLINE_SCOPE) ? [OFFLINE_SCOPE] : [])].join(' ');
}

export function mayChange(scope: string): boolean {
  return scope.split(' ').includes('mcp:write');
}
