import { isSecretText } from '#auth/secret_text.ts';

/** What a client sends with each request. */
export const ACCESS_TOKEN_PREFIX = 'tocsin_oat';
/** What a client obtains a new access token with. */
export const REFRESH_TOKEN_PREFIX = 'tocsin_ort';

/** Whether the text has the form and checksum of an access token of a connection. */
export function isAccessToken(text: string): boolean {
  return isSecretText(ACCESS_TOKEN_PREFIX, text);
}

/** The access token of a connection in an `Authorization` header; null when it holds anything else. */
export function bearerTokenOf(authorization: string | undefined): string | null {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return token?.startsWith(`${ACCESS_TOKEN_PREFIX}_`) === true ? token : null;
}
