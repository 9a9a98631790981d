import { randomBytes } from 'node:crypto';

import type { Cipher } from '#auth/cipher.ts';
import { hashSecret, newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';
import type { StoredIngestKey } from '#modules/services/store/ingest_key_store.ts';

export const INGEST_KEY_PREFIX = SECRET_PREFIXES.ingestKey;

/** A service's two ways to send data. `dsnKey` is 32 lower hex digits, the only form every Sentry SDK takes. */
export interface IngestKeyPair {
  readonly ingestionKey: string;
  readonly dsnKey: string;
}

export function newIngestKeyPair(): IngestKeyPair {
  return { ingestionKey: newSecretText(INGEST_KEY_PREFIX), dsnKey: randomBytes(16).toString('hex') };
}

export function sealIngestKeyPair(pair: IngestKeyPair, cipher: Cipher): StoredIngestKey {
  return {
    keyHash: hashSecret(pair.ingestionKey),
    dsnKeyHash: hashSecret(pair.dsnKey),
    secrets: cipher.encrypt(`${pair.ingestionKey} ${pair.dsnKey}`),
  };
}

/** Seals a further DSN key of a service beside the ingestion key of its pair; nobody has the one that it is found by. */
export function sealFurtherKey(ingestionKey: string, dsnKey: string, cipher: Cipher): StoredIngestKey {
  return {
    ...sealIngestKeyPair({ ingestionKey, dsnKey }, cipher),
    keyHash: hashSecret(newSecretText(INGEST_KEY_PREFIX)),
  };
}

export function openIngestKeyPair(secrets: Buffer, cipher: Cipher): IngestKeyPair {
  const [ingestionKey = '', dsnKey = ''] = cipher.decrypt(secrets).split(' ');
  return { ingestionKey, dsnKey };
}

/** Mask that replaces the secret in either form. */
const MASK = '*'.repeat(8);

/** Pair for a caller who may not see the two: their form, and nothing of the secrets. */
export const MASKED_PAIR: IngestKeyPair = { ingestionKey: `${INGEST_KEY_PREFIX}_${MASK}`, dsnKey: MASK };

/** Returns the DSN `{scheme}://{key}@{host}[/prefix]/{project id}`, as Sentry SDKs read it; no slash at the end. */
export function dsnOf(baseUrl: string, dsnKey: string, projectId: number): string {
  const url = new URL(baseUrl);
  return `${url.protocol}//${dsnKey}@${url.host}${url.pathname.replace(/\/$/, '')}/${projectId}`;
}
