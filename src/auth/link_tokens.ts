import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/secret_prefixes.ts';

/** Purpose of a link in a mail. */
export type LinkPurpose = 'reset' | 'invitation';

/** A new token for a link, and the hash, which alone is kept. */
export function newLinkToken(purpose: LinkPurpose): { token: string; tokenHash: Buffer } {
  const token = newSecretText(SECRET_PREFIXES[purpose]);
  return { token, tokenHash: hashSecret(token) };
}

/** Returns the hash by which a token of the right form is found; null for any other text. */
export function linkTokenHash(purpose: LinkPurpose, token: string): Buffer | null {
  return isSecretText(SECRET_PREFIXES[purpose], token) ? hashSecret(token) : null;
}

/** The page of the console that the link opens. */
export function linkUrl(baseUrl: string, purpose: LinkPurpose, token: string): string {
  return `${baseUrl}/${purpose}/${token}`;
}
