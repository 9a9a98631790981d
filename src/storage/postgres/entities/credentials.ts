import { p } from '@mikro-orm/postgresql';

import type { Permission } from '#kernel/permissions.ts';
import { bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const ApiKeyEntity = table('api_keys', {
  id: id<'apikey'>().primary(),
  orgId: id<'org'>(),
  /** Null for the organization's own. */
  userId: id<'user'>().strictNullable(),
  name: p.text(),
  hash: bytes().hidden(),
  hint: p.text(),
  /** Null for as many as the role, or the organization, has. */
  permissions: p.array().$type<Permission[]>().strictNullable(),
  /** Null if made by the command line, or by somebody who is gone. */
  createdBy: id<'user'>().strictNullable(),
  createdAt: instant(),
  expiresAt: instant().strictNullable(),
  revokedAt: instant().strictNullable(),
  lastUsedAt: instant().strictNullable(),
  /** Whether it is the token of the identity provider, which opens nothing but provisioning. */
  isProvisioning: p.boolean().default(false),
});

export const IngestKeyEntity = table('ingest_keys', {
  id: id<'ingestkey'>().primary(),
  orgId: id<'org'>(),
  serviceId: id<'service'>(),
  keyHash: bytes(),
  dsnKeyHash: bytes(),
  /** Sealed, so that they can be shown again. */
  secrets: bytes(),
  /** Whether it is a key of a DSN beside that of the pair; its own ingestion key was given to nobody. */
  isFurther: p.boolean().default(false),
  createdAt: instant(),
  revokedAt: instant().strictNullable(),
});

/** Most that a connection may do: look, or all that the role of its user allows. */
export type ConnectionAccess = 'read_only' | 'changes';

/** One approval of one app by one person for one organization. */
export const ConnectionEntity = table('connections', {
  id: id<'connection'>().primary(),
  orgId: id<'org'>(),
  userId: id<'user'>(),
  clientId: p.text(),
  /** Name that the app gives itself. */
  clientName: p.text(),
  clientUri: p.text().strictNullable(),
  access: text<ConnectionAccess>(),
  createdAt: instant(),
  lastUsedAt: instant().strictNullable(),
});

export const OAuthRecordEntity = table('oauth_records', {
  kind: p.text().primary(),
  hash: bytes().primary(),
  payload: jsonColumn<object>(),
  /** The record ends with its connection. */
  connectionId: id<'connection'>().strictNullable(),
  expiresAt: instant(),
  consumedAt: instant().strictNullable(),
});
