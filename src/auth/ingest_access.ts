import { randomBytes } from 'node:crypto';

import { API_KEY_PREFIX } from './api_keys.ts';
import type { Cipher } from '#auth/cipher.ts';
import { KeyCache } from '#auth/key_cache.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import {
  type IngestKeyColumn,
  IngestKeyStore,
  type IngestTarget,
  type StoredIngestKey,
} from '#modules/services/store/ingest_key_store.ts';

const INGEST_KEY_PREFIX = SECRET_PREFIXES.ingestKey;

/** Mask that replaces the secret in either form. */
const MASK = '*'.repeat(8);

/** Pair for a caller who may not see the two: their form, and nothing of the secrets. */
export const MASKED_PAIR: IngestKeyPair = { ingestionKey: `${INGEST_KEY_PREFIX}_${MASK}`, dsnKey: MASK };

/** Header names in lower case, as Node gives them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The way into ingestion. Each method throws `unauthenticated` for a key that opens nothing, `forbidden` for a
 * capability that is not enabled, and `unavailable` when the database is away and the key is not known from before.
 */
export interface IngestAccess {
  /** The service of the ingestion key in the headers: Bearer, X-Api-Key, or the password of Basic. */
  openService(headers: Headers): Promise<IngestTarget>;
  /** Opens the service like `openService`, for metrics. */
  openMetrics(headers: Headers): Promise<IngestTarget>;
  /** Opens the service like `openService`, for exceptions of the project in the address. */
  openProject(headers: Headers, projectId: string): Promise<IngestTarget>;
  /** The service of a DSN; `projectId` is the one of the address. A null key is no key at all. */
  openExceptions(dsnKey: string | null, projectId: string): Promise<IngestTarget>;
}

/** A rotated key, a disabled capability or a deleted service is refused within a second of the change, everywhere. */
export function createIngestAccess(db: Database, clock: Clock, log: Log): IngestAccess {
  const cacheOf = (column: IngestKeyColumn): KeyCache<IngestTarget> =>
    new KeyCache<IngestTarget>({
      findMany: (hashes) => new IngestKeyStore(db.session()).findTargets(column, hashes),
      clock,
      log,
    });
  const keys = cacheOf('key_hash');
  const dsns = cacheOf('dsn_key_hash');
  const openService = async (headers: Headers): Promise<IngestTarget> => {
    const key = ingestionKeyOf(headers);
    const target = isSecretText(INGEST_KEY_PREFIX, key) ? await keys.find(hashSecret(key)) : null;
    if (target === null) throw new AppError('unauthenticated', refusalOf(key));
    return target;
  };
  return {
    openService,
    async openMetrics(headers) {
      return requireCapability(await openService(headers), 'metrics');
    },
    async openProject(headers, projectId) {
      const target = await openService(headers);
      if (!hasProject(target, projectId)) {
        throw new AppError(
          'unauthenticated',
          'this ingestion key and the project in the address do not belong together',
        );
      }
      return requireCapability(target, 'exceptions');
    },
    async openExceptions(dsnKey, projectId) {
      if (dsnKey === null) throw new AppError('unauthenticated', 'the request carries no DSN key (sentry_key)');
      const target = await dsns.find(hashSecret(dsnKey));
      if (target === null) throw new AppError('unauthenticated', "this DSN's key is unknown or was rotated");
      if (!hasProject(target, projectId)) {
        throw new AppError('unauthenticated', "this DSN's key and project id do not belong together");
      }
      return requireCapability(target, 'exceptions');
    },
  };
}

/** Whether the project of an address is that of the service, or the one of a DSN that it keeps. */
function hasProject({ projectId, keptProjectNumber }: IngestTarget, project: string): boolean {
  return String(projectId) === project || (keptProjectNumber !== null && String(keptProjectNumber) === project);
}

function ingestionKeyOf(headers: Headers): string {
  const authorization = single(headers['authorization']);
  const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  const basic = /^Basic +([A-Za-z0-9+/_=-]+)$/i.exec(authorization)?.[1];
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString('utf8');
    return pair.slice(pair.indexOf(':') + 1);
  }
  const apiKey = single(headers['x-api-key']).trim();
  if (apiKey !== '') return apiKey;
  throw new AppError('unauthenticated', "send the service's ingestion key: Authorization: Bearer <INGESTION_KEY>");
}

function refusalOf(key: string): string {
  return isSecretText(API_KEY_PREFIX, key)
    ? "an API key never opens ingestion; send the service's ingestion key"
    : 'this ingestion key is unknown or was rotated';
}

function requireCapability(target: IngestTarget, capability: IngestTarget['capabilities'][number]): IngestTarget {
  if (target.capabilities.includes(capability)) return target;
  throw new AppError('forbidden', `the capability ${capability} is not enabled for this service; enable it first`);
}

function single(header: string | readonly string[] | undefined): string {
  return (typeof header === 'object' ? header[0] : header) ?? '';
}

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

/** Returns the DSN `{scheme}://{key}@{host}[/prefix]/{project id}`, as Sentry SDKs read it; no slash at the end. */
export function dsnOf(baseUrl: string, dsnKey: string, projectId: number): string {
  const url = new URL(baseUrl);
  return `${url.protocol}//${dsnKey}@${url.host}${url.pathname.replace(/\/$/, '')}/${projectId}`;
}
