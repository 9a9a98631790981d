import { isSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/secret_prefixes.ts';

/** Prefix of access tokens, which a client sends with each request. */
const ACCESS_TOKEN_PREFIX = SECRET_PREFIXES.accessToken;

/** Whether the text has the form and checksum of an access token of a connection. */
export function isAccessToken(text: string): boolean {
  return isSecretText(ACCESS_TOKEN_PREFIX, text);
}

/** The access token of a connection in an `Authorization` header; null when it holds anything else. */
export function bearerTokenOf(authorization: string | undefined): string | null {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return token?.startsWith(`${ACCESS_TOKEN_PREFIX}_`) === true ? token : null;
}
