/** Scopes that a connection may be granted: to read, and also to change. */
export const SCOPES = ['mcp:read', 'mcp:write'] as const;

/** Both scopes, as text for a challenge and a registration. */
export const ALL_SCOPES = SCOPES.join(' ');

/** Scope that may also be requested; a refresh token is issued with or without it. */
export const OFFLINE_SCOPE = 'offline_access';

/**
 * Returns the known scopes of an authorization request. Clients that leave the scope out, or ask for none that is
 * known, mean all there are: the person decides on the page.
 */
export function requestedScope(text: unknown): string {
  const asked = typeof text === 'string' ? text.split(' ') : [];
  const named = SCOPES.filter((scope) => asked.includes(scope));
  const scopes = named.length === 0 ? SCOPES : named;
  return [...scopes, ...(asked.includes(OFFLINE_SCOPE) ? [OFFLINE_SCOPE] : [])].join(' ');
}

export function mayChange(scope: string): boolean {
  return scope.split(' ').includes('mcp:write');
}
