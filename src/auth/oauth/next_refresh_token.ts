import { createHmac, hkdfSync } from 'node:crypto';

import { secretTextOf } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/secret_prefixes.ts';

/**
 * Derives the refresh token that replaces another from that one and a key that only we have, so that a connection never has
 * two valid refresh tokens.
 */
export function nextRefreshTokens(appSecret: string): (token: string) => string {
  const key = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'refresh-tokens', 32));
  return (token) => secretTextOf(SECRET_PREFIXES.refreshToken, createHmac('sha256', key).update(token).digest());
}
